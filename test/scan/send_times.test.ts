/** How long a rank's way out was busy with a send: alone, beside others, and after others. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanFile } from '../../src/scan/scan.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';

const folder = folderOfFile();

const US = 1000;
let files = 0;

/** Own times of sends, in the order given. `[rank, from, to]`; each rank has one channel. A tick is a ns. */
function ownTimes(...sends: [rank: number, from: number, to: number][]): (number | undefined)[] {
  const file = new RankFileBuilder({ rank: 0, worldSize: 4, life: 'closed' });
  const comm = file.communicator({ name: 'world', commId: 1n, rank: 0, nRanks: 4, abi: 6 });
  const ops = file.ring('ops', 64, { tid: 1 });
  const steps = file.ring('steps', 256, { tid: 1 });
  const opOf = new Map<number, bigint>();
  for (const [peer] of sends)
    if (!opOf.has(peer))
      opOf.set(peer, ops.startProxyOp(1, { comm, peer, isSend: true, nSteps: sends.length }));
  const moments = sends.flatMap(([rank, from, to], step) => [
    { at: from, rank, step, ends: false },
    { at: to, rank, step, ends: true },
  ]);
  moments.sort((a, b) => a.at - b.at || Number(b.ends) - Number(a.ends));
  const handles = new Map<number, bigint>();
  for (const { at, rank, step, ends } of moments) {
    const tick = US + at;
    if (ends) {
      steps.stop(tick, handles.get(step)!);
      continue;
    }
    const handle = steps.startProxyStep(tick, { comm, parent: opOf.get(rank)!, step });
    handles.set(step, handle);
    // Each send has a size of its own, so that each has a time of its own.
    steps
      .state(tick, handle, 8)
      .state(tick, handle, 20)
      .state(tick, handle, 9, step + 1);
  }
  const path = join(folder, `sends${files++}.bin`);
  file.clockSample(0).heartbeat(1e6).write(path);
  const sizes = scanFile(path).transfers.ends.flatMap(({ sizes }) => sizes);
  return sends.map((_, step) => sizes.find(({ bytes }) => bytes === step + 1)?.own);
}

it('one send after the other: all of their time', () => {
  expect(ownTimes([1, 0, 10], [1, 12, 20], [2, 30, 35])).toEqual([10, 8, 5]);
});

it('three at the same rate to three ranks: a third each', () => {
  expect(ownTimes([1, 0, 30], [2, 0, 30], [3, 0, 30])[0]).toBe(10);
});

it('one rank is served after the other: since the other ended', () => {
  expect(ownTimes([1, 0, 10], [2, 0, 20])).toEqual([5, 10]);
});

it('sends of one connection in a row: since the one before ended', () => {
  expect(ownTimes([1, 0, 10], [1, 0, 20], [1, 0, 30])).toEqual([10, 10, 10]);
});

it('a slow link beside a quick one: nearly all of its time', () => {
  expect(ownTimes([1, 0, 1], [2, 0, 100])).toEqual([0.5, 99]);
});
