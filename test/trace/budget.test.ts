/**
 * The estimate of a trace's size, compared with what is then written: tracks exactly, slices to 1 %, bytes to a factor. Beyond the budget
 * less is drawn, in a stated order.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { merge, type MergeOptions } from '../../src/merge.js';
import { COMFORTABLE, fits, type Size } from '../../src/trace/budget.js';
import { diagnose } from '../../src/report/diagnosis.js';
import type { MergeReport } from '../../src/report/report.js';
import { suspects } from '../../src/verdict/evidence/suspects.js';
import { countWithin, TimeCounter } from '../../src/scan/time_counts.js';
import { parseRanks } from '../../src/trace/asked_times.js';
import type { Verdict } from '../../src/verdict/types.js';
import { record } from '../support/loopback.js';
import { writeLargeStreamFile } from '../support/large_stream_file.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { coll, recording } from '../support/recording.js';
import { viewTrace } from '../support/trace_view.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const samples = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const { folder, remove } = temporaryFolder();
afterAll(remove);

let traces = 0;

async function drawn(options: Partial<MergeOptions> & { inputs: readonly string[] }) {
  const output = path.join(folder, `${traces++}.pftrace`);
  return { output, report: await merge({ output, jobs: 1, hungAfter: 1, ...options }) };
}

/** What the estimate counts: slices that are no instants. */
const slicesIn = ({ trace }: MergeReport): number => trace.slices - trace.instants;

/** The estimate may be wrong by this factor, either way. */
function expectWithin(estimated: number, found: number, factor: number): void {
  expect(estimated / found).toBeGreaterThan(1 / factor);
  expect(estimated / found).toBeLessThan(factor);
}

describe('the estimate', () => {
  it.each(samples)('of %s', async (sample) => {
    const { report } = await drawn({ inputs: [path.join(root, sample)] });
    const { estimate } = report.selection;
    expectWithin(estimate.slices, slicesIn(report), 1.01);
    expectWithin(estimate.bytes, report.bytes, 1.4);
    expect(estimate.tracks).toBe(report.trace.tracks);
  });

  it('of a large run, of a window and of a detail of it', async () => {
    const file = path.join(folder, 'rank00000.bin');
    writeLargeStreamFile(file, 200_000, 'raw');
    const whole = await drawn({ inputs: [file] });
    const middle = whole.report.durationNs / 2;
    const selections = [
      {},
      { last: whole.report.durationNs / 4 },
      { around: { at: { kind: 'since-start', ns: middle }, halfNs: middle / 7 } },
      { detail: 'coll' },
      { detail: 'op' },
    ] as const;
    for (const select of selections) {
      const { report } = await drawn({ inputs: [file], select });
      expectWithin(report.selection.estimate.slices, slicesIn(report), 1.1);
      expectWithin(report.selection.estimate.bytes, report.bytes, 1.5);
      expectWithin(report.selection.estimate.tracks, report.trace.tracks, 2);
    }
  });
});

/** `calls` collectives of so many channels, 1 ms apart. NCCL reports only the start of their operations: one per direction, both with isSend 0. */
function endless(name: string, calls: number, channels: number) {
  const input = path.join(folder, name);
  const { file, comm } = recording({ rank: 0, worldSize: 1, life: 'closed' });
  const host = file.ring('host', 1 << 13, { threadName: 'python', tid: 21 });
  const ops = file.ring('ops', 1 << 17, { threadName: 'NCCL Progress 0', tid: 22 });
  for (let i = 0; i < calls; i++) {
    const at = 1e6 * (i + 1);
    const parent = coll(host, comm, at, at + 20, i, { algo: 'COLLNET_DIRECT' });
    for (let channel = 0; channel < channels; channel++)
      for (let direction = 0; direction < 2; direction++)
        ops.startProxyOp(at + 30, { comm, parent, peer: 0, channel, ordinal: i, nSteps: 4 });
  }
  return { input, file, comm, host, ops };
}

describe('operations whose end NCCL never reports', () => {
  it.each([
    [300, 2],
    [1100, 16],
  ])('%i calls of %i channels: instants on one track per channel, and no slices', async (calls, channels) => {
    const { input, file } = endless(`endless${calls}.bin`, calls, channels);
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    const { estimate, estimateOfAll, isReduced, isWhole } = report.selection;
    expect(report.ranks[0]!.endlessOps).toBe(2 * calls * channels);
    expect([isWhole, isReduced]).toEqual([true, false]);
    expect(estimateOfAll).toEqual(estimate);
    expectWithin(estimate.slices, slicesIn(report), 1.01);
    expectWithin(estimate.bytes, report.bytes, 1.5);
    expect(estimate.tracks).toBe(report.trace.tracks);
    const half = { last: report.durationNs / 2 };
    const part = (await drawn({ inputs: [input], select: half })).report;
    expectWithin(part.selection.estimate.slices, slicesIn(part), 1.1);
  });

  it('are counted right beside point-to-point receives that move, and one that hangs', async () => {
    const { input, file, comm, host, ops } = endless('beside.bin', 40, 1);
    for (let i = 0; i < 30; i++) {
      const at = 1e6 * (i + 1) + 500;
      const parent = host.startP2p(at, { comm, func: 'Recv', peer: 0, ordinal: i });
      host.stop(at + 20, parent);
      const op = ops.startProxyOp(at + 30, { comm, parent, peer: 0, ordinal: i, nSteps: 1 });
      if (i < 29) ops.stop(at + 100, op);
    }
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    expect(report.ranks[0]!.endlessOps).toBe(80);
    expectWithin(report.selection.estimate.slices, slicesIn(report), 1.01);
    expect(report.selection.estimate.tracks).toBe(report.trace.tracks);
  });

  it('are drawn in lanes if they move after a long wait', async () => {
    const input = path.join(folder, 'late.bin');
    const { file, comm } = recording({ life: 'closed' });
    const ops = file.ring('ops', 1 << 9, { tid: 22 });
    const begun = Array.from({ length: 50 }, (_, i) =>
      ops.startProxyOp(100 + i, { comm, peer: 3, ordinal: i }),
    );
    begun.forEach((op, i) => ops.stop(5000 + i, op));
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    expect(report.selection.estimate.slices).toBe(slicesIn(report));
    expect(report.trace.tracks).toBeGreaterThanOrEqual(50);
    expect(report.selection.estimate.tracks).toBe(report.trace.tracks);
  });
});

describe('counts of time', () => {
  it('are exact for the whole time, and for each half and quarter', () => {
    const counter = new TimeCounter();
    for (let at = 1000; at < 1000 + (1 << 14); at++) counter.add(at);
    const counts = counter.finish();
    expect(counts.counts.length).toBeLessThanOrEqual(128);
    expect(countWithin(counts, -Infinity, Infinity)).toBe(1 << 14);
    expect(countWithin(counts, 1000, 1000 + (1 << 13))).toBe(1 << 13);
    expect(countWithin(counts, 1000 + (1 << 13), Infinity)).toBe(1 << 13);
    expect(countWithin(counts, -Infinity, 999)).toBe(0);
    expect(countWithin(counts, 1050, 1100)).toBeCloseTo(50, 6);
    expect(countWithin(counts, 2000, 1000)).toBe(0);
  });

  it('are right for no event, for one, and for times that go back', () => {
    expect(countWithin(new TimeCounter().finish(), -Infinity, Infinity)).toBe(0);
    const counter = new TimeCounter();
    counter.add(50);
    expect(countWithin(counter.finish(), 50, 50)).toBeLessThanOrEqual(1);
    expect(countWithin(counter.finish(), -Infinity, Infinity)).toBe(1);
    counter.add(40);
    expect(countWithin(counter.finish(), -Infinity, Infinity)).toBe(2);
  });
});

/** Which ranks are alive depends on when the files were read. */
const timeless = (verdict: Verdict): unknown =>
  JSON.parse(
    JSON.stringify(verdict, (key, value: unknown) =>
      key === 'isAlive' || key === 'silent' ? undefined : value,
    ),
  );

/** 32 ranks, of which rank 21 never enters the last collective of its dp group. */
describe('32 ranks', () => {
  let inputs: string[];
  let whole: Awaited<ReturnType<typeof drawn>>;

  beforeAll(async () => {
    const args =
      '--ranks 32 --channels 1 --iterations 2 --ops allreduce:64K,allreduce@dp:64K --groups-strided dp=8 ' +
      '--groups tp=8 --skip-rank 21 --skip-at 1 --hang-seconds 4 --timeout 100';
    const many = path.join(folder, 'many');
    mkdirSync(many);
    const { folder: files, code } = await record(many, args, {
      NCCL_TRACE_RING_MB: '0.5',
    });
    expect(code).toBe(4);
    inputs = [files];
    whole = await drawn({ inputs });
  }, 120_000);

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
      expect(counted(small) + coll + op + step).toBe(counted(whole.report));
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

const sum = (a: Size, b: Size): Size => ({
  slices: a.slices + b.slices,
  tracks: a.tracks + b.tracks,
  bytes: a.bytes + b.bytes,
});
