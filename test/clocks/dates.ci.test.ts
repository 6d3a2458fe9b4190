/** A recorded run in which one host's wall clock shows a date of fifty years ago, all the time or until it is set. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { record } from '../support/jobs/loopback.js';
import { drawSkews, skewRun } from '../support/clocks/skewed_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

const FIFTY_YEARS = 50 * 365 * 86_400e9;

it.each([
  ['all the time', Infinity, 'realtime-impossible'],
  ['until it is set', 0.5e9, 'realtime-stepped'],
])('its transfers align it all the same: %s', async (name, until, flag) => {
  const place = join(folder, name.replaceAll(' ', '-'));
  mkdirSync(place);
  const { folder: recorded } = await record(
    place,
    '--ranks 3 --iterations 250 --ops allreduce:256K,sleep:5ms',
  );
  const skews = drawSkews(5, 3, 1e6).map((skew, host) => ({
    ...skew,
    wallError: (ns: number) => (host === 1 && ns <= until ? -FIFTY_YEARS : 0),
  }));
  const skewed = join(place, 'skewed');
  skewRun(recorded, skewed, skews);
  const report = await merge({ inputs: [skewed], output: join(place, 'run.pftrace'), jobs: 1 });
  expect(report.problems).toEqual([]);
  expect(report.clocks.map(({ source }) => source)).toEqual(['traffic', 'traffic', 'traffic']);
  expect(report.clocks.map(({ flags }) => flags.includes(flag))).toEqual([false, true, false]);
  expect(report.durationNs).toBeLessThan(60e9);
  expect(report.trace.flows).toBeGreaterThan(100);
  const now = Date.now() * 1e6;
  expect(Math.abs(Number(report.traceStart) - now)).toBeLessThan(3600e9);
});
