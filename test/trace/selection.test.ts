/**
 * A selection compared with the whole trace. A part is drawn as the whole trace shows it, cut and marked at the window's edges.
 * Nothing else changes, and the counts of drawn and left-out slices add up.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';
import type { SelectionRequest } from '../../src/trace/selection.js';
import { parseTime } from '../../src/trace/asked_times.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { countsOf, type TraceView, type ViewSlice } from '../support/traces/trace_view.js';
import { asShown, between, clipped, drawnInto, limitsOf, recorded, root } from './windows.js';

const folder = folderOfFile();
const { drawn, drawnWhole } = drawnInto(folder);

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
    expect(view.attributes['nccl_trace.slices']).toBe(BigInt(view.slices.length));
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
