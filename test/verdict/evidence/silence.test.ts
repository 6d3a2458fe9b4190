/** From files to the trace: which rank fell silent before the run ended. Ticks are ns. */

import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../../src/merge.js';
import { RankFileBuilder, type FileOptions } from '../../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';
import { viewTrace } from '../../support/traces/trace_view.js';

const folder = folderOfFile();

const S = 1e9;
const START = 1_760_000_000_000_000_000n;

/** Two ranks with a record each at 1 s; heartbeats at these seconds. Returns who is silent, and from when on. */
async function silent(name: string, beats: readonly [number, number], options: FileOptions = {}) {
  const run = path.join(folder, name);
  mkdirSync(run);
  beats.forEach((beat, rank) => {
    const given = rank === 0 ? options : {};
    const file = new RankFileBuilder({
      rank,
      worldSize: 2,
      life: 'recording',
      startRealtime: START,
      ...given,
    });
    const comm = file.communicator({ name: 'world', commId: 0xabcn, rank, nRanks: 2 });
    const host = file.ring('host', 64, { tid: 1 });
    host.stop(S + 1000, host.startColl(S, { comm, func: 'AllReduce', seqNumber: 0 }));
    file
      .clockSample(0)
      .heartbeat(beat * S)
      .write(path.join(run, `rank0000${rank}.bin`));
  });
  const output = path.join(run, 'trace.pftrace');
  const report = await merge({ inputs: [run], output, jobs: 1 });
  const view = viewTrace(readFileSync(output));
  expect(view.problems).toEqual([]);
  expect(report.trace.instants).toBe(view.slices.filter(({ isInstant }) => isInstant).length);
  return view.slices
    .filter(({ name: slice }) => slice === 'no sign of life')
    .map(({ track, ts, dur }) => [track.process?.pid, Number(ts - view.start) / S, Number(dur)]);
}

it('a rank is silent if its last sign is older than a heartbeat can be late', async () => {
  expect(await silent('killed', [3, 4.6])).toEqual([[1_000_000, 3, -1]]);
});

it('its silence begins with the newest record if that is newer than the heartbeat', async () => {
  expect(await silent('beat-before', [0.2, 4.6])).toEqual([[1_000_000, expect.closeTo(1, 5), -1]]);
});

it('no rank is silent if all have signs of life to the end, or ended in order', async () => {
  expect(await silent('late', [3, 4.4])).toEqual([]);
  expect(await silent('closed', [3, 4.6], { life: 'closed' })).toEqual([]);
});
