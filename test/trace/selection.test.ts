/**
 * A selection compared with the whole trace. A part is drawn as the whole trace shows it, cut and marked at the window's edges.
 * Nothing else changes, and the counts of drawn and left-out slices add up.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge, type MergeOptions } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import type { SelectionRequest } from '../../src/trace/selection.js';
import { parseTime } from '../../src/trace/asked_times.js';
import { mergeReportText } from '../../src/report/merge_report.js';
import { makeScan } from '../../src/shards/scan_step.js';
import { makeStudy } from '../../src/shards/study_step.js';
import { record } from '../support/loopback.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { drawSkews, skewRun } from '../support/skewed_run.js';
import {
  countsOf,
  viewTrace,
  type TraceView,
  type ViewSlice,
  type ViewTrack,
} from '../support/trace_view.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const { folder, remove } = temporaryFolder();
afterAll(remove);

async function drawn(sample: string, select?: SelectionRequest, more: Partial<MergeOptions> = {}) {
  const output = path.join(folder, `${path.basename(sample)}.pftrace`);
  const inputs = [path.resolve(root, sample)];
  const report = await merge({ inputs, output, jobs: 1, force: true, select, ...more });
  return { report, view: viewTrace(readFileSync(output), { emptySlices: 'fine' }) };
}

const wholes = new Map<string, ReturnType<typeof drawn>>();

function drawnWhole(sample: string): ReturnType<typeof drawn> {
  const whole = wholes.get(sample) ?? drawn(sample);
  wholes.set(sample, whole);
  return whole;
}

interface Limits {
  readonly from: number;
  readonly to: number;
}

const trackName = ({ process, path: names }: ViewTrack): string =>
  [process?.name ?? '', ...names].join(' / ');

/** "ts dur name" per slice, as the window shows it; null: not in it. */
function clipped(slice: ViewSlice, start: bigint, { from, to }: Limits): string | null {
  const begin = Number(slice.ts - start);
  const end = slice.dur < 0n ? Infinity : begin + Number(slice.dur);
  const isIn = begin >= from ? begin <= to : !slice.isInstant && end > from;
  if (!isIn) return null;
  const shownFrom = Math.max(begin, from);
  const dur = end === Infinity ? 'open' : Math.min(end, to) - shownFrom;
  const before = begin < from ? ` beforeWindowNs=${from - begin}` : '';
  const after = end !== Infinity && end > to ? ` afterWindowNs=${end - to}` : '';
  return `${trackName(slice.track)}: ${shownFrom} ${slice.isInstant ? 'now' : dur} ${slice.name}${before}${after}`;
}

function asShown(slice: ViewSlice, start: bigint): string {
  const { beforeWindowNs, afterWindowNs } = slice.args;
  const dur = slice.isInstant ? 'now' : slice.dur < 0n ? 'open' : slice.dur;
  const before = beforeWindowNs === undefined ? '' : ` beforeWindowNs=${beforeWindowNs}`;
  const after = afterWindowNs === undefined ? '' : ` afterWindowNs=${afterWindowNs}`;
  return `${trackName(slice.track)}: ${slice.ts - start} ${dur} ${slice.name}${before}${after}`;
}

const limitsOf = ({ durationNs }: MergeReport, from: number, to: number): Limits => ({
  from: Math.round(durationNs * from),
  to: Math.round(durationNs * to),
});

const between = ({ from, to }: Limits): SelectionRequest => ({
  from: { kind: 'since-start', ns: from },
  to: { kind: 'since-start', ns: to },
});

/** Without slices about the run as a whole: they are fitted to the window. */
const recorded = (view: TraceView): ViewSlice[] =>
  view.slices.filter(
    ({ name, track }) => track.name !== 'verdict' && name !== 'no file' && name !== 'look here',
  );

/** Slices that count for a selection: those about the recording itself do not. */
const counted = (view: TraceView): ViewSlice[] =>
  view.slices.filter(
    ({ isInstant, track }) =>
      !isInstant &&
      !track.path.includes('recorder') &&
      !track.name.endsWith(' · no file') &&
      track.process !== undefined,
  );

const sumOf = ({ selection: { leftOut } }: MergeReport): number =>
  leftOut.slices.coll + leftOut.slices.op + leftOut.slices.step;

it.each([
  ['straggler', 0.1, 0.4],
  ['straggler', 0.85, 0.95],
  ['hang', 0.3, 0.9],
  ['wrapped', 0.3, 0.9],
  ['graph', 0.4, 0.7],
  ['pxn', 0.1, 0.4],
  ['abi-v1', 0.1, 0.4],
  ['abi-v7', 0.3, 0.9],
  ['stream-killed', 0.3, 0.5],
])('a window of %s, from %f to %f of it', async (sample, from, to) => {
  const whole = await drawnWhole(sample);
  const limits = limitsOf(whole.report, from, to);
  const part = await drawn(sample, between(limits));
  const wanted = recorded(whole.view).map((slice) => clipped(slice, whole.view.start, limits));
  expect(
    recorded(part.view)
      .map((slice) => asShown(slice, part.view.start))
      .sort(),
  ).toEqual(wanted.filter((line) => line !== null).sort());
  expect(part.view.problems).toEqual([]);
  expect(part.view.start).toBe(whole.view.start);
});

describe.each(['hosts', 'wrapped', 'copy-engine'])('%s', (sample) => {
  const requests: readonly (readonly [string, SelectionRequest])[] = [
    ['two ranks', { ranks: [[0, 1]] }],
    ['one communicator', { comms: ['world'] }],
    ['its end', { last: 300e6 }],
    ['collectives', { detail: 'coll' }],
    ['operations', { detail: 'op' }],
    ['steps', { detail: 'step' }],
    ['a mixture', { ranks: [[1, 1]], comms: ['world'], last: 400e6, detail: 'op' }],
  ];
  it.each(requests)('%s: counts match the content, and add up', async (_, select) => {
    const whole = await drawnWhole(sample);
    const { report, view } = await drawn(sample, select);
    expect(view.problems).toEqual([]);
    expect(report.trace).toEqual(countsOf(view));
    expect(counted(view).length + sumOf(report)).toBe(counted(whole.view).length);
    if (report.selection.isWhole) expect(sumOf(report) + report.selection.leftOut.files).toBe(0);
    else
      expect(view.attributes).toMatchObject({
        'nccl_trace.selection': report.selection.asked,
        'nccl_trace.slices_left_out': BigInt(sumOf(report)),
      });
    // What the run was does not depend on what is looked at.
    const { verdict, clocks, traffic, durationNs, records, traceStart, missingRanks } = report;
    expect({ verdict, clocks, traffic, durationNs, records, traceStart, missingRanks }).toEqual({
      verdict: whole.report.verdict,
      clocks: whole.report.clocks,
      traffic: whole.report.traffic,
      durationNs: whole.report.durationNs,
      records: whole.report.records,
      traceStart: whole.report.traceStart,
      missingRanks: whole.report.missingRanks,
    });
  });
});

it('details: each draws everything down to its depth, unchanged', async () => {
  const whole = await drawnWhole('straggler');
  const names = (view: TraceView): Set<string> => new Set(view.slices.map(({ name }) => name ?? ''));
  const coll = await drawn('straggler', { detail: 'coll' });
  const op = await drawn('straggler', { detail: 'op' });
  expect(names(coll.view).has('proxy send')).toBe(false);
  expect(names(op.view).has('proxy send')).toBe(true);
  expect(names(op.view).has('step')).toBe(false);
  expect(op.view.counters.length).toBe(whole.view.counters.length);
  const shown = (view: TraceView): Set<string> =>
    new Set(view.slices.map((slice) => asShown(slice, view.start)));
  const [all, operations, collectives] = [shown(whole.view), shown(op.view), shown(coll.view)];
  expect([...operations].filter((line) => !all.has(line))).toEqual([]);
  expect([...collectives].filter((line) => !operations.has(line))).toEqual([]);
});

it('a rank or a communicator is drawn alone, the cluster above it with all', async () => {
  const { view, report } = await drawn('healthy', { ranks: [[2, 3]], comms: ['tp'] });
  expect(view.processes.map(({ pid }) => pid)).toEqual([1_000_002, 1_000_003]);
  const comms = view.tracks.map(({ name }) => /^comm (\w+)/.exec(name)?.[1]).filter(Boolean);
  expect(new Set(comms)).toEqual(new Set(['tp']));
  expect(report.selection.leftOut.files).toBe(6);
  const cluster = view.slices.filter(({ track }) => !track.process && track.name !== 'verdict');
  expect(cluster.length).toBeGreaterThan(0);
  for (const { args } of cluster) expect(Number(args.ranks)).toBeGreaterThan(1);
});

it('the trace begins and ends with its window', async () => {
  const whole = await drawnWhole('straggler');
  const limits = limitsOf(whole.report, 0.4, 0.5);
  const { view } = await drawn('straggler', between(limits));
  const times = [...view.slices, ...view.counters, ...view.states].map(({ ts }) => Number(ts - view.start));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(limits.from);
  expect(Math.max(...times)).toBeLessThanOrEqual(limits.to);
});

it('the same window by the clock and since the start', async () => {
  const { report, view } = await drawn('straggler', { last: 1e9 });
  const start = BigInt(report.traceStart) + BigInt(report.durationNs - 1e9);
  const word = `${new Date(Number(start / 1_000_000n)).toISOString().slice(0, 19)}.${String(start % 1_000_000_000n).padStart(9, '0')}Z`;
  const again = await drawn('straggler', { from: parseTime(word)! });
  expect(again.view.slices.length).toBe(view.slices.length);
});

it('with aliases for names, the request and the commands use aliases, too', async () => {
  const output = path.join(folder, 'redacted.pftrace');
  const inputs = [path.join(root, 'straggler')];
  const select = { comms: ['world'] };
  const report = await merge({ inputs, output, jobs: 1, redact: true, select });
  expect(report.selection.asked).toBe('communicator comm-1');
  expect(JSON.stringify([report.selection, report.suggestion])).not.toMatch(/world|straggler|\/tmp/);
  expect(report.suggestion?.command).toMatch(/^nccl-trace merge DIR --comm comm-1/);
  expect(readFileSync(output).includes('world (')).toBe(false);
});

it('commands keep the options for clocks and verdict', async () => {
  const { report } = await drawn(
    'straggler',
    { detail: 'coll' },
    { clock: 'realtime', alike: 0.5, wander: 1, hungAfter: 9 },
  );
  expect(report.suggestion?.command).toContain(
    ' --clock realtime --clock-alike 0.5 --clock-wander 1 --hung-after 9',
  );
});

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
      expect(all(part.report)).toBeLessThan(all(whole.report) / 2);
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

it('the selected time is read even if the wall clocks are too wrong to find it: then all is read', async () => {
  const words = '--ranks 2 --channels 2 --timeout 300 --iterations 250 --ops allreduce:512K*2,sleep:4ms';
  const settings = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_RING_MB: '2', NCCL_TRACE_MAX_MB: '0' };
  const { folder: recorded } = await record(path.join(folder, 'apart'), words, settings);
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
}, 120_000);
