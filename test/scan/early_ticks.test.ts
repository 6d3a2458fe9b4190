/** Ticks before the start of their file: damage, or a writer's error. They are counted, and drawn at the start. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

it('ticks of communicators and records: no time of the trace is before its beginning', async () => {
  const file = new RankFileBuilder({ rank: 0, worldSize: 1 });
  const comm = file.communicator({ initTick: -500_000, finalizeTick: -400_000 });
  const host = file.ring('host', 64);
  const coll = host.startColl(-300_000, { comm });
  host.stop(-200_000, coll);
  host.stop(1000, host.startColl(500, { comm, seqNumber: 2 }));
  const input = join(folder, 'rank00000.bin');
  writeFileSync(input, file.build());
  const output = join(folder, 'run.pftrace');
  const report = await merge({ inputs: [input], output });
  expect(report.ranks[0]!.problems).toEqual([expect.stringContaining('records older than the start')]);
  const view = viewTrace(readFileSync(output));
  expect(view.problems).toEqual([]);
  const begins = view.slices.map(({ ts }) => Number(ts - view.start));
  expect(begins.length).toBeGreaterThan(1);
  expect(Math.min(...begins)).toBe(0);
});
