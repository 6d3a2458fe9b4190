/** A rank is not accused of missing calls if its recorder was asked in mid-run not to record them. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EventType } from '../../../src/rankfile/format/nccl.js';
import { diagnose } from '../../../src/report/diagnosis.js';
import { madeUpRank, SMALL_RUN } from '../../support/made_up/made_up_run.js';
import type { FileOptions } from '../../support/rank_files/rank_file_builder.js';
import { coll } from '../../support/made_up/recording.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

const ALL = 0x7f; // Group to KernelCh
const OLD = 10_000_000_000;

/** Ranks 0 to 2 wait in the fourth collective; rank 3 lives, and is not there. */
async function whoIsMissing(name: string, changes: readonly number[], options: FileOptions = {}) {
  const files = [0, 1, 2, 3].map((rank) => {
    const more = rank === 3 ? options : {};
    const file = madeUpRank(rank, SMALL_RUN, { eventMask: ALL, life: 'recording', ...more });
    const comm = 0;
    const host = file.ring('host', 64, { threadName: 'python', tid: 300 + rank });
    const ops = file.ring('ops', 64, { threadName: 'NCCL Progress 0', tid: 400 + rank });
    if (rank < 3) {
      const parent = coll(host, comm, 400_000 + rank, 400_100, 3, { count: 4096 });
      ops.startProxyOp(400_200, { comm, parent, peer: rank + 1, isSend: true, ordinal: 3, nSteps: 6 });
    } else if (changes.length > 0) {
      file.changes(
        changes.map((events, i) => ({ tick: 1000 * i + 10, done: 1000 * i + 20, events, sampleEvery: 1 })),
      );
    }
    file.heartbeat(OLD);
    const path = join(folder, `${name}-${rank}.bin`);
    writeFileSync(path, file.build());
    return path;
  });
  const { verdict } = await diagnose(files, { hungAfter: 1 });
  return {
    neverEntered: verdict.kind === 'hung' ? verdict.hang.neverEntered.map(({ file }) => file) : [],
    notRecorded: verdict.notRecorded,
    partial: verdict.partial,
  };
}

it('without a change, the rank never entered', async () => {
  expect(await whoIsMissing('unchanged', [])).toEqual({ neverEntered: [3], notRecorded: [], partial: [] });
});

it('if its steps were not recorded for a while, the rank never entered: its calls are all recorded', async () => {
  const steps = [ALL & ~EventType.ProxyStep, ALL];
  expect(await whoIsMissing('steps', steps)).toEqual({
    neverEntered: [3],
    notRecorded: [{ event: 'ProxyStep', files: [3] }],
    partial: [],
  });
});

it('if its calls were not recorded for a while, it is not known whether the rank entered', async () => {
  expect(await whoIsMissing('calls', [ALL & ~EventType.Coll, ALL])).toEqual({
    neverEntered: [],
    notRecorded: [{ event: 'Coll', files: [3] }],
    partial: [3],
  });
});

it('if its file has only the newest change, as older files have, the earlier state is not known', async () => {
  const changed = { tick: 500, events: ALL, sampleEvery: 1 };
  const { neverEntered, partial } = await whoIsMissing('old', [], { changed });
  expect({ neverEntered, partial }).toEqual({ neverEntered: [], partial: [3] });
});

it('calls are not compared if the sampling changed, because each process changes it at another call', async () => {
  // Ranks 0 and 1 recorded the calls 3 and 4, rank 2 only 4, rank 3 none of them.
  const left: readonly (readonly number[])[] = [[], [], [3], [3, 4]];
  const files = left.map((unrecorded, rank) => {
    const file = madeUpRank(rank, SMALL_RUN, { eventMask: ALL });
    const comm = file.communicator({ name: 'dp', commId: 0xd9n, rank, nRanks: left.length });
    const host = file.ring('host', 64, { threadName: 'python', tid: 300 + rank });
    for (const call of [3, 4, 5, 6].filter((one) => !unrecorded.includes(one)))
      coll(host, comm, 400_000 + call * 1000 + rank, 400_100 + call * 1000 + rank, call >> 1, {
        func: call % 2 === 0 ? 'AllReduce' : 'AllGather',
      });
    file.changes([
      { tick: 350_000, done: 350_010, events: ALL, sampleEvery: 10 },
      { tick: 404_500, done: 404_600, events: ALL, sampleEvery: 1 },
    ]);
    file.heartbeat(OLD);
    const path = join(folder, `sampling-${rank}.bin`);
    writeFileSync(path, file.build());
    return path;
  });
  expect((await diagnose(files, {})).verdict.kind).toBe('healthy');
});
