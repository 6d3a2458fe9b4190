/** Which GPU fills slowly what it sends. Made-up connections; test/end_to_end/causes.ci.test.ts records jobs. */

import { expect, it } from 'vitest';
import type { Connection } from '../../src/cluster/connections.js';
import { slowGpus } from '../../src/cluster/long_waits.js';

const RANKS = [0, 1, 2, 3, 4];
const labels = { ofFile: (file: number) => file, inComm: (_id: bigint, rank: number) => rank };

/** A ring, 100 transfers per connection: per rank the waits for its GPU, for data, and until its receiver has posted, in ms each. */
const ring = (gpu: readonly number[], data: readonly number[], room: readonly number[]): Connection[] =>
  RANKS.flatMap((file) => {
    const [next, before] = [(file + 1) % 5, (file + 4) % 5];
    const end = { commId: 7n, file, transfers: 100, nsPerTick: 1 };
    const waits = { gpuWait: gpu[file]! * 1e8, peerWait: room[file]! * 1e8 };
    return [
      { ...end, isSend: true, peer: next, source: file, destination: next, ...waits },
      { ...end, isSend: false, peer: before, source: before, destination: file, recvWait: data[file]! * 1e8 },
    ];
  }) as unknown as Connection[];

const NONE = [0, 0, 0, 0, 0];
const found = (gpu: readonly number[], data = NONE, room = NONE, slowComms: readonly bigint[] = []) =>
  slowGpus(ring(gpu, data, room), labels, new Set(slowComms), 1e9);

it('a GPU whose sends wait ten times as long as those of the others', () => {
  expect(found([1, 1, 10, 1, 1])).toEqual([
    { rank: 2, file: 2, commId: 7n, transfers: 100, like: 4, waitNs: 1e7, usualNs: 1e6, costNs: 112_500_000 },
  ]);
});

it.each<[string, ReturnType<typeof found>]>([
  ['it waits for data itself', found([1, 1, 10, 1, 1], [0, 0, 5, 0, 0])],
  [
    'its receiver is late, so the next send waits for the last one',
    found([1, 1, 10, 1, 1], NONE, [0, 0, 1, 0, 0]),
  ],
  ['all take as long', found([10, 10, 10, 10, 10])],
  ['a link of the communicator is slow', found([1, 1, 10, 1, 1], NONE, NONE, [7n])],
])('none: %s', (_, gpus) => {
  expect(gpus).toEqual([]);
});
