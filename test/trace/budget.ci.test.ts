/** A recorded job of 32 ranks fits a browser; with a budget it does not fit, less is drawn, in a stated order. */

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { merge } from '../../src/merge.js';
import { COMFORTABLE, fits, type Size } from '../../src/trace/budget.js';
import { diagnose } from '../../src/report/diagnosis.js';
import type { MergeReport } from '../../src/report/report.js';
import type { Verdict } from '../../src/verdict/types.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { parseRanks } from '../../src/trace/asked_times.js';
import { record } from '../support/jobs/loopback.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';
import { drawnInto, expectWithin, slicesIn } from './drawn_sizes.js';

const folder = folderOfFile();
const drawn = drawnInto(folder);

/** Which ranks are alive depends on when the files were read. */
const timeless = (verdict: Verdict): unknown =>
  JSON.parse(
    JSON.stringify(verdict, (key, value: unknown) =>
      key === 'isAlive' || key === 'silent' ? undefined : value,
    ),
  );

const sum = (a: Size, b: Size): Size => ({
  slices: a.slices + b.slices,
  tracks: a.tracks + b.tracks,
  bytes: a.bytes + b.bytes,
});

/** 32 ranks, of which rank 21 never enters the last collective of its dp group. */
describe('32 ranks', () => {
  let inputs: string[];
  let whole: Awaited<ReturnType<typeof drawn>>;

  beforeAll(async () => {
    const args =
      '--ranks 32 --channels 1 --iterations 2 --ops allreduce:64K,allreduce@dp:64K --groups-strided dp=8 ' +
      '--groups tp=8 --fault skip:21@1 --hang-seconds 4 --timeout 100';
    const many = path.join(folder, 'many');
    mkdirSync(many);
    const { folder: files, code } = await record(many, args, {
      NCCL_TRACE_RING_MB: '0.5',
    });
    expect(code).toBe(4);
    inputs = [files];
    whole = await drawn({ inputs });
  });

  it('fit a browser by default, with everything', () => {
    const { report, output } = whole;
    expect(report.ranks).toHaveLength(32);
    expect(report.selection).toMatchObject({ isWhole: true, isReduced: false, rest: null, asked: '' });
    expect(fits(report.selection.estimate, COMFORTABLE)).toBe(true);
    expect(fits({ ...report.trace, bytes: report.bytes }, COMFORTABLE)).toBe(true);
    expect(viewTrace(readFileSync(output), { emptySlices: 'fine' }).problems).toEqual([]);
  });

  it('the verdict has a command that draws its suspects, of about the size it says', async () => {
    const { suggestion, verdict } = await diagnose(inputs, { hungAfter: 1 });
    if (verdict.kind !== 'hung') throw new Error(`the verdict is ${verdict.kind}`);
    const missing = verdict.hang.neverEntered.map(({ file }) => file);
    expect(missing).toEqual([21]);
    const args = suggestion?.command.split(' ') ?? [];
    expect(args.slice(0, 3)).toEqual(['nccl-trace', 'merge', inputs[0]]);
    const ranks = parseRanks(args[args.indexOf('--ranks') + 1]!)!;
    expect(ranks.some(([from, to]) => from <= 21 && 21 <= to)).toBe(true);
    const comm = args[args.indexOf('--comm') + 1]!;
    const select = { comms: [comm], ranks };
    const { report } = await drawn({ inputs, select });
    expectWithin(suggestion!.size.bytes, report.bytes, 2);
  });

  describe('with a budget they do not fit', () => {
    const rankOf = (file: number): number | null => whole.report.ranks[file]!.rank;
    let small: MergeReport;
    let output: string;

    /** Collectives of all, and a little more than the suspects take. */
    beforeAll(async () => {
      const coll = await drawn({ inputs, select: { detail: 'coll' } });
      const { verdict } = whole.report;
      const ranks = suspects(verdict).map((file) => [rankOf(file)!, rankOf(file)!] as const);
      const full = await drawn({ inputs, select: { ranks, detail: 'step' } });
      const budget = sum(coll.report.selection.estimate, full.report.selection.estimate);
      ({ report: small, output } = await drawn({ inputs, budget }));
    });

    it('collectives stay for all, suspects are drawn in full', () => {
      const { selection } = small;
      expect(selection.isReduced).toBe(true);
      const full = selection.drawn.filter(({ windows }) => windows.step !== null);
      expect(full.flatMap(({ files }) => files)).toContain(21);
      expect(full.flatMap(({ files }) => files).length).toBeLessThan(16);
      for (const { windows } of full) expect(windows.step).toEqual([null, null]);
      const rest = selection.drawn.filter(({ windows }) => windows.step === null);
      for (const { windows } of rest) expect(windows).toEqual({ coll: [null, null], op: null, step: null });
      expect(selection.drawn.flatMap(({ files }) => files)).toHaveLength(32);
    });

    it('counts add up with the whole, and the trace imports', () => {
      const counted = (report: MergeReport): number => slicesIn(report);
      const { coll, op, step } = small.selection.leftOut.slices;
      // One slice says what is not drawn.
      expect(counted(small) + coll + op + step).toBe(counted(whole.report) + 1);
      expect(coll).toBe(0);
      const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
      expect(view.problems).toEqual([]);
      expect(small.trace.flows).toBe(view.flows.length);
      expect(view.attributes['nccl_trace.reduced']).toBe('yes');
      expectWithin(small.selection.estimate.slices, slicesIn(small), 1.1);
    });

    it('the report says so, with a command for the rest', () => {
      const { rest, estimateOfAll } = small.selection;
      expect(rest?.command).toBe(
        `nccl-trace merge ${inputs[0]} --detail step --hung-after 1 -o ${output.replace('.pftrace', '-full.pftrace')}`,
      );
      expect(rest?.size).toEqual(estimateOfAll);
      const text = mergeReportText(small);
      expect(text).toMatch(
        /^drawn: calls; rank [\d,-]+: operations and steps; left out: .* of .* slices, more than opens in 15 s; all \(about .*\): .*$/m,
      );
      expect(text).toContain(`): ${rest?.command}`);
      expect(timeless(small.verdict)).toEqual(timeless(whole.report.verdict));
    });
  });

  it('without any budget only collectives are drawn', async () => {
    const { report } = await drawn({ inputs, budget: { slices: 0, tracks: 0, bytes: 0 } });
    const [group, ...others] = report.selection.drawn;
    expect(others).toEqual([]);
    expect(group?.files).toHaveLength(32);
    expect(group?.windows).toMatchObject({ op: null, step: null });
    expect(report.trace.openSlices).toBeGreaterThan(0);
  });

  it('a detail that is too large is refused, and a smaller one suggested', async () => {
    const { estimate } = whole.report.selection;
    const output = path.join(folder, 'refused.pftrace');
    const utmost = { ...estimate, slices: Math.floor(estimate.slices / 2) };
    const refused = merge({ inputs, output, jobs: 1, utmost, select: { detail: 'step' } });
    await expect(refused).rejects.toThrow(/^--detail step would draw .* slices on .* no browser opens more/);
    await expect(refused).rejects.toBeInstanceOf(UsageError);
    expect(existsSync(output)).toBe(false);
    const fitting = await drawn({ inputs, utmost, select: { detail: 'op' } });
    expect(fitting.report.selection.isReduced).toBe(false);
  });

  it('a detail that was asked for is not lowered', async () => {
    const budget = { slices: 0, tracks: 0, bytes: 0 };
    const { report } = await drawn({ inputs, budget, select: { detail: 'step' } });
    expect(report.selection).toMatchObject({ isReduced: false, rest: null });
    expect(slicesIn(report)).toBe(slicesIn(whole.report));
  });
});
