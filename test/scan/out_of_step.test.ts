/** Arrows where the two ends of a connection belong to different work: two made-up ranks of one counter, one connection. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

interface Call {
  readonly func: string;
  readonly seqNumber: number;
  /** The work of its operation is lost. */
  readonly isLost?: true;
  /** ns: so much later on this rank. */
  readonly later?: number;
  /** Of a send: its last poll comes so long after its first step began, and nothing later is recorded. */
  readonly pollsUntil?: number;
}

const STEPS = 2;

/** Rank 0 sends to rank 1, one operation per call. */
function writeRank(rank: number, calls: readonly Call[]): void {
  const file = new RankFileBuilder({ rank, worldSize: 2, life: 'closed' });
  const comm = file.communicator({ name: 'world', commId: 0xabcdn, rank, nRanks: 2 });
  const host = file.ring('host', 256, { tid: 100 + rank });
  const ops = file.ring('ops', 256, { tid: 200 + rank });
  const steps = file.ring('steps', 1024, { tid: 200 + rank, foldCapacity: 8 });
  const isSend = rank === 0;
  calls.forEach(({ func, seqNumber, isLost, later = 0, pollsUntil }, ordinal) => {
    const t = 1000 + ordinal * 10_000 + later;
    const coll = host.startColl(t, { comm, func, seqNumber, count: 4096, algo: 'RING', proto: 'SIMPLE' });
    host.stop(t + 100, coll);
    const of = isLost ? {} : { parent: coll };
    const op = ops.startProxyOp(t + 200, { ...of, comm, ordinal, nSteps: STEPS, peer: 1 - rank, isSend });
    for (let step = 0; step < STEPS; step++) {
      const at = t + 1000 + step * 1000;
      const one = steps.startProxyStep(at, { comm, parent: op, step });
      if (isSend && pollsUntil !== undefined) {
        steps
          .state(at + 20, one, 8)
          .state(at + 100, one, 20)
          .state(at + pollsUntil, one, 20);
        continue;
      }
      if (isSend)
        steps
          .state(at + 20, one, 8)
          .state(at + 100, one, 20)
          .state(at + 150, one, 9, 2048);
      else
        steps
          .state(at + 10, one, 10)
          .state(at + 400, one, 11, 2048)
          .state(at + 410, one, 12);
      steps.stop(at + 600, one);
    }
    if (pollsUntil === undefined) ops.stop(t + 5000, op);
  });
  file
    .clockSample(0)
    .heartbeat(100_000)
    .write(join(folder, `rank${rank}.bin`));
}

async function merged(sender: readonly Call[], receiver: readonly Call[]): Promise<MergeReport> {
  writeRank(0, sender);
  writeRank(1, receiver);
  return merge({ inputs: [folder], output: join(folder, 'out.pftrace'), jobs: 1 });
}

const reduce = (seqNumber: number, more: Partial<Call> = {}): Call => ({
  func: 'AllReduce',
  seqNumber,
  ...more,
});
const alike = [reduce(0), reduce(1), reduce(2)];

it('arrows are drawn if both ends agree', async () => {
  const report = await merged(alike, alike);
  expect(report.trace.flows).toBe(3 * STEPS);
  expect(report.outOfStep).toEqual([]);
  expect(mergeReportText(report)).not.toContain('arrows: none');
});

it('arrows end at the first operation whose ends differ, even if later ones are alike again', async () => {
  const other = { func: 'ReduceScatter', seqNumber: 0 };
  const report = await merged([...alike, reduce(3)], [reduce(0), other, reduce(2), reduce(3)]);
  expect(report.trace.flows).toBe(STEPS);
  expect(report.outOfStep).toEqual([
    {
      ...{ commId: '0x000000000000abcd', comm: 'world', channel: 0, source: 0, destination: 1 },
      ...{ ordinal: 1, operations: 3 },
    },
  ]);
  expect(mergeReportText(report)).toContain(
    'arrows: none for 3 operations on 1 connections of world: their ends differ\n',
  );
});

it('arrows are kept if one end does not know the work of its operation', async () => {
  const report = await merged(alike, [reduce(0), reduce(1, { isLost: true }), reduce(2)]);
  expect(report.trace.flows).toBe(3 * STEPS);
  expect(report.outOfStep).toEqual([]);
});

it('arrows end where one would point backwards on one counter', async () => {
  const report = await merged([reduce(0), reduce(1, { later: 900 }), reduce(2)], alike);
  expect(report.trace.flows).toBe(STEPS);
  expect(report.outOfStep).toMatchObject([{ ordinal: 1, operations: 2 }]);
});

it('arrows of sends that never ended are checked: one points backwards if its send still waited when the data had arrived', async () => {
  const hung = (pollsUntil: number): Promise<MergeReport> =>
    merged([reduce(0), reduce(1), reduce(2, { pollsUntil })], alike);
  const early = await hung(300);
  expect(early.outOfStep).toEqual([]);
  rmSync(join(folder, 'out.pftrace'));
  const late = await hung(700);
  expect(late.outOfStep).toMatchObject([{ ordinal: 2, operations: 1 }]);
  expect(late.trace.flows).toBe(early.trace.flows - STEPS);
});
