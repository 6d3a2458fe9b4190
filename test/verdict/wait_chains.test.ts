/** Where chains of waits end. A ring of four ranks, one channel: rank r sends to r + 1 and receives from r - 1. */

import type { PendingOp } from '../../src/model/pending.js';
import { describe, expect, it } from 'vitest';
import { Wait } from '../../src/model/waits.js';
import { endOfWaits, type FileWork, type Places } from '../../src/verdict/wait_chains.js';
import { s } from './evidence.js';

const N = 4;
const wait = (step: number, name: Wait) => ({ step, name, since: s(step) });
const next = (rank: number): number => (rank + 1) % N;
const before = (rank: number): number => (rank + N - 1) % N;

function op(more: Partial<PendingOp>): PendingOp {
  const plain = { channel: 0, peer: 0, isSend: false, nSteps: 12, done: 0, wait: null, executor: null };
  return { ...plain, ...more };
}

/** By rank: the step and wait of its receive and of its send; null: it has none any more. */
type Ends = readonly [recv: readonly [number, Wait] | null, send: readonly [number, Wait] | null];

function ring(ranks: readonly (Ends | null)[]): FileWork[] {
  return ranks.flatMap((ends, file): FileWork[] => {
    if (ends === null) return [];
    const ops = ends.flatMap((end, i): PendingOp[] => {
      if (end === null) return [];
      const [step, name] = end;
      const peer = i === 0 ? before(file) : next(file);
      return [op({ peer, isSend: i === 1, done: step, wait: wait(step, name) })];
    });
    const work = {
      comm: 0,
      func: 'AllReduce',
      seq: 1,
      peer: null,
      ordinal: 0,
      plan: 'RING/SIMPLE',
      start: s(0),
      group: null,
      record: '0:7',
      ops,
      blocks: null,
      unhanded: null,
      hasMoved: true,
      lostSince: 0,
    };
    return [{ file, work }];
  });
}

const placed = (fileOf: (rank: number) => number | null): Places => ({
  fileOf,
  rankOf: (file) => file,
  nodeOf: (file) => ({ name: 'a', files: [file] }),
});
const here = placed((rank) => rank);
const WAITS: Ends = [
  [3, Wait.Recv],
  [3, Wait.Gpu],
];

describe('the chain of waits ends', () => {
  it('at the link on which nothing arrives: the send that is on the wire', () => {
    const front = endOfWaits(
      ring([
        WAITS,
        WAITS,
        [
          [3, Wait.Recv],
          [3, Wait.Send],
        ],
        WAITS,
      ]),
      here,
    );
    expect(front).toMatchObject({ file: 2, peerFile: 3, isSend: true, peerIsPast: false, waiters: 8, of: 8 });
  });

  it('at a receive whose data was sent: its own rank does not go on', () => {
    const sent: Ends = [
      [5, Wait.Recv],
      [6, Wait.Peer],
    ];
    const stuck: Ends = [
      [4, Wait.Recv],
      [3, Wait.Gpu],
    ];
    const front = endOfWaits(ring([WAITS, sent, stuck, WAITS]), here);
    expect(front).toMatchObject({ file: 2, peerFile: 1, isSend: false, peerIsPast: true });
  });

  it('at the rank that never came, even if another rank made the least progress', () => {
    const front = endOfWaits(
      ring([
        WAITS,
        null,
        [
          [3, Wait.Recv],
          [2, Wait.Gpu],
        ],
        WAITS,
      ]),
      here,
      new Set([1]),
    );
    expect(front).toMatchObject({ file: 2, peerFile: 1, isSend: false, waiters: 6, of: 6 });
  });

  it('at the rank without a file', () => {
    const front = endOfWaits(
      ring([WAITS, null, WAITS, WAITS]),
      placed((rank) => (rank === 1 ? null : rank)),
    );
    expect(front).toMatchObject({ file: 2, peerFile: null, peerInComm: 1 });
  });

  it('at a rank that posts nothing though data is ready for it, and not at the ranks that wait for what it passes on', () => {
    const atFirst: Ends = [
      [0, Wait.Recv],
      [0, Wait.Gpu],
    ];
    const waiting = ring([atFirst, atFirst, atFirst, atFirst]);
    const notBegun = (file: number, which: readonly boolean[]): FileWork => {
      const { work } = waiting[file]!;
      const ops = work.ops.map((one) => (which.includes(one.isSend) ? { ...one, done: 0, wait: null } : one));
      return { file, work: { ...work, ops } };
    };
    const [first] = ring([
      [
        [0, Wait.Recv],
        [0, Wait.Peer],
      ],
    ]);
    const all = [first!, notBegun(1, [true, false]), notBegun(2, [true, false]), notBegun(3, [false])];
    expect(endOfWaits(all, here)).toMatchObject({ file: 1, peerFile: 0, isSend: false, waiters: 8, of: 8 });
  });

  it('in two trees, at the rank whose GPU did nothing, not at the leaf that waits for it', () => {
    // As recorded under NCCL: the GPU of rank 2 began and did nothing.
    const recv = (channel: number, peer: number, name: Wait = Wait.Recv) =>
      op({ channel, peer, wait: wait(0, name) });
    const send = (channel: number, peer: number) =>
      op({ channel, peer, isSend: true, wait: wait(0, Wait.Gpu) });
    const ops = [
      [recv(0, 2), send(0, 2), recv(1, 1)],
      [recv(0, 2), recv(1, 0, Wait.Gpu), recv(1, 2), recv(1, 3), send(1, 0), send(1, 2), send(1, 3)],
      [
        recv(0, 0),
        recv(0, 1, Wait.Gpu),
        recv(0, 3, Wait.Gpu),
        send(0, 0),
        send(0, 1),
        send(0, 3),
        recv(1, 1),
        send(1, 1),
      ],
      [recv(0, 2), recv(1, 1), send(1, 1)],
    ];
    const all = ring([WAITS, WAITS, WAITS, WAITS]).map(({ file, work }) => ({
      file,
      work: { ...work, ops: ops[file]!, hasMoved: file !== 2 },
    }));
    expect(endOfWaits(all, here)).toMatchObject({ file: 2, wait: { name: Wait.Gpu }, waiters: 21, of: 21 });
  });

  it('somewhere, where all wait in a circle', () => {
    const front = endOfWaits(ring([WAITS, WAITS, WAITS, WAITS]), here);
    expect(front).toMatchObject({ waiters: 8, of: 8 });
  });

  it('nowhere, where no operation is under way', () => {
    expect(endOfWaits([], here)).toBeNull();
  });
});
