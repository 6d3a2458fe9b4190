/** Recorded in stream mode: of a file only the selected time is read, and drawn as the whole trace shows it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MergeReport } from '../../src/report/report.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { makeScan } from '../../src/shards/scan_step.js';
import { makeStudy } from '../../src/shards/study_step.js';
import { record } from '../support/jobs/loopback.js';
import { drawSkews, skewRun } from '../support/clocks/skewed_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { type ViewSlice } from '../support/traces/trace_view.js';
import { asShown, between, clipped, drawnInto, limitsOf, recorded } from './windows.js';

const { folder, remove } = temporaryFolder();
afterAll(remove);
const { drawn, drawnWhole } = drawnInto(folder);

/** Without what the GPU clock and the verdict decide, which depend on what was read. null: not of a rank, or not shown. */
function ofHost({ track }: ViewSlice, line: string | null): string | null {
  if (track.process === undefined || /kernel|collectives/.test(track.name)) return null;
  return line?.replaceAll(/ · (LATE|SLOW)/g, '') ?? null;
}

describe('a stream file of which only the selected time is read', () => {
  let run = '';
  beforeAll(async () => {
    const words = '--ranks 2 --channels 2 --timeout 300 --iterations 250 --ops allreduce:512K*2,sleep:4ms';
    const settings = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '0.25', NCCL_TRACE_MAX_MB: '0' };
    // On a busy machine these small rings may overflow. What lost records leave behind depends on what is read before them: an operation
    // without its stop holds its lane.
    for (let times = 0, lost = 1; lost > 0 && times < 6; times++) {
      run = (await record(path.join(folder, `stream-${times}`), words, settings)).folder;
      const { report } = await drawnWhole(run);
      lost = report.ranks.reduce((sum, one) => sum + one.lost.overwritten, 0);
    }
  }, 300_000);

  it.each([
    ['its middle', 0.4, 0.5],
    ['its end', 0.9, 1],
    ['its start', 0, 0.1],
  ])(
    '%s: as in the whole',
    async (_, from, to) => {
      const whole = await drawnWhole(run);
      const limits = limitsOf(whole.report, from, to);
      const part = await drawn(run, between(limits), { aroundNs: 50e6 });
      const all = (report: MergeReport): number =>
        report.ranks.reduce((sum, { records }) => sum + records, 0);
      // On a busy machine the ranks stand still now and then, so a tenth of the time may hold half of the records.
      expect(all(part.report)).toBeLessThan(0.8 * all(whole.report));
      expect(part.report.ranks.every(({ unread }) => unread > 0)).toBe(true);
      const wanted = recorded(whole.view).map((slice) =>
        ofHost(slice, clipped(slice, whole.view.start, limits)),
      );
      const shown = new Set(
        recorded(part.view).map((slice) => ofHost(slice, asShown(slice, part.view.start))),
      );
      const missing = wanted.filter((line) => line !== null && !shown.has(line));
      const more = [...shown].filter((line) => !wanted.includes(line));
      // On a busy machine little happens in the first tenth.
      expect(shown.size).toBeGreaterThan(50);
      expect({ missing, more }).toEqual({ missing: [], more: [] });
      const { durationNs, traceStart, ranks } = part.report;
      expect({ durationNs, traceStart, lost: ranks.map(({ lost }) => lost) }).toEqual({
        durationNs: whole.report.durationNs,
        traceStart: whole.report.traceStart,
        lost: whole.report.ranks.map(({ lost }) => lost),
      });
      expect(mergeReportText(part.report)).toMatch(
        /not read: +[\d.]+ (thousand )?older slots, outside of the selected time/,
      );
      expect(part.view.attributes['nccl_trace.slots_not_read']).toBeGreaterThan(0n);
    },
    60_000,
  );

  it('a scan of it is good for that time alone', async () => {
    const select = between(limitsOf((await drawnWhole(run)).report, 0.4, 0.5));
    const scan = path.join(folder, 'part.scan');
    await makeScan({ inputs: [run], output: scan, select, aroundNs: 50e6, jobs: 1 });
    const study = { inputs: [scan], output: path.join(folder, 'part.study') };
    await expect(makeStudy(study)).rejects.toThrow(
      /^the scan of .*\.bin and of 1 more has only a part of the file, and not all of the time that is selected; /,
    );
    expect((await makeStudy({ ...study, select }))?.run.members.length).toBe(2);
  }, 60_000);
});

// Where the recorder's thread gets no CPU for long, one chunk holds most of the time, and all of it is read.
it(
  'the selected time is read even if the wall clocks are too wrong to find it: then all is read',
  { retry: 2, timeout: 120_000 },
  async () => {
    const words = '--ranks 2 --channels 2 --timeout 300 --iterations 250 --ops allreduce:512K*2,sleep:4ms';
    const settings = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '2', NCCL_TRACE_MAX_MB: '0' };
    const { folder: recorded } = await record(path.join(folder, `apart-${Date.now()}`), words, settings);
    const mergeApart = async (apartNs: number, aroundNs: number) => {
      // Chunks of a stream file are packed, so their ticks stay: only what the wall clocks show differs.
      const skews = drawSkews(7, 2, 2e9).map((skew, host) => ({
        ...skew,
        ...{ offsetTicks: 0, ppm: 0, wallError: () => host * apartNs },
      }));
      const skewed = path.join(folder, `apart-${apartNs}`);
      skewRun(recorded, skewed, skews);
      const { durationNs } = (await drawn(skewed, { detail: 'coll' })).report;
      const select = between({ from: 0.4 * durationNs, to: 0.5 * durationNs });
      const { report } = await drawn(skewed, select, { aroundNs });
      const trace = readFileSync(path.join(folder, `${path.basename(skewed)}.pftrace`));
      return { trace, durationNs, unread: report.ranks.map(({ unread }) => unread > 0) };
    };
    const first = await mergeApart(0, 50e6);
    expect(first.unread).toEqual([true, true]);
    // On a busy machine the recording takes longer.
    const apart = Math.round(0.45 * first.durationNs);
    const second = await mergeApart(apart, 50e6);
    expect(second.unread).toEqual([false, false]);
    expect(second.trace.equals((await mergeApart(apart, 1e15)).trace)).toBe(true);
  },
);
