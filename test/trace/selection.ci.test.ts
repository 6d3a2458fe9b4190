/** Recorded in stream mode: of a file only the selected time is read, and drawn as the whole trace shows it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MergeReport } from '../../src/report/report.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { makeScan } from '../../src/shards/scan_step.js';
import { makeStudy } from '../../src/shards/study_step.js';
import { unpackRecording } from '../support/jobs/packed_recording.js';
import { drawSkews, skewRun } from '../support/clocks/skewed_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { type ViewSlice } from '../support/traces/trace_view.js';
import { asShown, between, clipped, drawnInto, limitsOf, recorded } from './windows.js';

const folder = folderOfFile();
const { drawn, drawnWhole } = drawnInto(folder);

/** Without what the GPU clock and the verdict decide, which depend on what was read. null: not of a rank, or not shown. */
function ofHost({ track }: ViewSlice, line: string | null): string | null {
  if (track.process === undefined || /kernel|collectives/.test(track.name)) return null;
  return line?.replaceAll(/ · (LATE|SLOW)/g, '') ?? null;
}

describe('a stream file of which only the selected time is read', () => {
  const run = unpackRecording('loopback/stream', folder);

  it.each([
    ['its middle', 0.4, 0.5],
    ['its end', 0.9, 1],
    ['its start', 0, 0.1],
  ])(
    '%s: as in the whole',
    async (_, from, to) => {
      const whole = await drawnWhole(run);
      const limits = limitsOf(whole.report, from, to);
      const part = await drawn(run, between(limits), { aroundNs: 20e6 });
      const all = (report: MergeReport): number =>
        report.ranks.reduce((sum, { records }) => sum + records, 0);
      expect(all(part.report)).toBeLessThan(0.5 * all(whole.report));
      expect(part.report.ranks.every(({ unread }) => unread > 0)).toBe(true);
      const wanted = recorded(whole.view).map((slice) =>
        ofHost(slice, clipped(slice, whole.view.start, limits)),
      );
      const shown = new Set(
        recorded(part.view).map((slice) => ofHost(slice, asShown(slice, part.view.start))),
      );
      const missing = wanted.filter((line) => line !== null && !shown.has(line));
      const more = [...shown].filter((line) => !wanted.includes(line));
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
  });
});

it('the selected time is read even if the wall clocks are too wrong to find it: then all is read', async () => {
  const recorded = unpackRecording('loopback/stream', path.join(folder, 'apart'));
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
  const apart = Math.round(0.45 * first.durationNs);
  const second = await mergeApart(apart, 50e6);
  expect(second.unread).toEqual([false, false]);
  expect(second.trace.equals((await mergeApart(apart, 1e15)).trace)).toBe(true);
});
