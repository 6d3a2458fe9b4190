/** Recorded jobs with slow links: both ends are named, and no link that only has more to send. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { record } from '../support/jobs/loopback.js';
import { examine } from '../../src/report/examine.js';
import { diagnose } from '../../src/report/diagnosis.js';
import { verdictText } from '../../src/report/verdict_text.js';

const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-slow-link-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('a slow link is named with its two ends', async () => {
  const { folder: recording } = await record(
    path.join(folder, 'slow'),
    '--ranks 4 --iterations 8 --ops allreduce:1M --slow link:1:8',
  );
  const diagnosis = await diagnose([recording], { jobs: 1 });
  expect(diagnosis.verdict).toMatchObject({
    kind: 'slow',
    slow: { file: 1, link: { file: 1, peerFile: 2 } },
  });
  expect(verdictText(diagnosis)[0]).toMatch(
    /^SLOW {2}rank 1 \(.*\): its sends to rank 2 take \d+ times the others' time$/,
  );
});

it('no link is slow if its sender has sends to two ranks at once, as in a tree beside rings', async () => {
  const { folder: recording } = await record(
    path.join(folder, 'tree'),
    '--ranks 5 --channels 1 --iterations 6 --rate-limit 4 --ops allreduce:128K*2,allreduce:128K/tree',
  );
  const { report } = await examine([recording], { jobs: 1 });
  const shared = report.links.filter(({ source, destination }) => source === 2 && destination !== 3);
  expect(shared.map(({ transfers }) => transfers >= 16)).toEqual([true, true]);
  expect(report.slowLinks).toEqual([]);
});
