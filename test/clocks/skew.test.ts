/** The skew that makes recordings of one machine look like several hosts moves every tick in a rank file, and nothing else. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { ringLines } from '../rankfile/read.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { skewFile, type Skew } from '../support/clocks/skew.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

const HZ = 1e9;
const OFFSET = 7_000_000_000n;
const own: Skew = { hostName: 'other', bootId: 'ab'.repeat(16), offsetTicks: Number(OFFSET), ppm: 0 };

it('by its own clock a skewed file has the same content as before', () => {
  const file = new RankFileBuilder({ tickHz: HZ, changed: { tick: 600, events: 3, sampleEvery: 2 } });
  const ring = file.ring('host', 16, { tid: 9 });
  const group = ring.startGroupApi(100);
  ring.state(110, group, 23).fold(150, group, 23, 140, 3).openFold(group, 23, 5, 190).stop(200, group);
  file.communicator({ initTick: 10, finalizeTick: 900 });
  file.clockSample(300).heartbeat(400);
  file.changes([{ tick: 500, done: 550, events: 3, sampleEvery: 2 }]);
  const [plain, skewed] = [join(folder, 'plain.bin'), join(folder, 'skewed.bin')];
  file.write(plain);
  skewFile(plain, skewed, own, file.startTick);
  const [before, after] = [openRankFile(plain), openRankFile(skewed)];

  expect(after.problems).toEqual([]);
  expect(after.header).toEqual({
    ...before.header,
    tickBase: before.header.tickBase + OFFSET,
    hostName: own.hostName,
    process: { ...before.header.process, bootId: own.bootId },
  });
  for (const same of ['communicators', 'leases', 'clockSamples', 'heartbeat', 'changes', 'folds'] as const)
    expect(after[same], same).toEqual(before[same]);
  expect(before.changes).toHaveLength(1);
  expect(before.folds).toHaveLength(1);
  expect(ringLines(after, after.rings[0]!)).toEqual(ringLines(before, before.rings[0]!));
});
