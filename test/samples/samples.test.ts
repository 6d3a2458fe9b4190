/**
 * Every recorded sample, as a user would merge it: a clean trace, a summary that equals it, the same bytes in any order, and
 * a report that stands in test/goldens/. `UPDATE_GOLDENS=1 npm test` rewrites the goldens; read the difference.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mergeReportText } from '../../src/cli/merge_report.js';
import { merge } from '../../src/merge.js';
import type { MergeReport } from '../../src/merge/report.js';
import { temporaryFolder } from '../support/made_up_run.js';
import { viewTrace, type TraceView } from '../support/trace_view.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const samples = readdirSync(path.join(root, 'samples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const { folder, remove } = temporaryFolder();
afterAll(remove);

function golden(name: string, text: string): void {
  const file = path.join(root, 'test/goldens', name);
  if (process.env.UPDATE_GOLDENS === '1') writeFileSync(file, text);
  expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : `${file} is not there`);
}

it('each has its provenance, and all together stay small', () => {
  let bytes = 0;
  for (const name of samples) {
    const files = readdirSync(path.join(root, 'samples', name));
    expect(files).toContain('README.md');
    for (const file of files) bytes += readFileSync(path.join(root, 'samples', name, file)).length;
  }
  expect(samples.length).toBeGreaterThanOrEqual(4);
  expect(bytes).toBeLessThan(8e6);
});

describe.each(samples)('%s', (name) => {
  const input = path.join(root, 'samples', name);
  const output = path.join(folder, `${name}.pftrace`);
  let report: MergeReport;
  let view: TraceView;

  beforeAll(async () => {
    report = await merge({ inputs: [input], output, jobs: 1 });
    view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  });

  it('imports without a problem, and the summary counts what is there', () => {
    expect(view.problems).toEqual([]);
    expect(report.trace).toEqual({
      slices: view.slices.length,
      openSlices: view.slices.filter(({ dur }) => dur === -1n).length,
      instants: view.slices.filter(({ isInstant }) => isInstant).length,
      counterSamples: view.counters.length,
      states: view.states.length,
      flows: view.flows.length,
      tracks: new Set([...view.slices, ...view.counters, ...view.states].map(({ track }) => track)).size,
      processes: view.processes.length,
    });
  });

  it('never points backwards', () => {
    for (const { from, to } of view.flows) expect(from.ts + from.dur).toBeLessThanOrEqual(to.ts);
  });

  it('gives the same bytes whatever the order of its files', async () => {
    const files = readdirSync(input)
      .filter((file) => file.endsWith('.bin'))
      .map((file) => path.join(input, file));
    const again = path.join(folder, `${name}-again.pftrace`);
    await merge({ inputs: files.reverse(), output: again, jobs: 1 });
    expect(readFileSync(again).equals(readFileSync(output))).toBe(true);
  });

  it('is reported as in its golden', () => {
    const shown = { ...report, output: 'trace.pftrace' };
    golden(`${name}.txt`, mergeReportText(shown));
  });
});

describe('what they show', () => {
  const sliced = async (name: string): Promise<TraceView> => {
    const output = path.join(folder, `${name}-shown.pftrace`);
    await merge({ inputs: [path.join(root, 'samples', name)], output, jobs: 1 });
    return viewTrace(readFileSync(output), { emptySlices: 'fine' });
  };
  const rankOf = (slice: { track: { process: { pid: number } | undefined } }): number =>
    (slice.track.process?.pid ?? 0) - 1_000_000;

  it('healthy: nothing is open, two kinds of communicators', async () => {
    const { slices, tracks } = await sliced('healthy');
    expect(slices.filter(({ dur }) => dur === -1n)).toEqual([]);
    const comms = tracks.map(({ name }) => /^comm (\w+) /.exec(name)?.[1]).filter((comm) => comm !== undefined);
    expect([...new Set(comms)].sort()).toEqual(['tp', 'world']);
  });

  it('straggler: rank 2 enters last, and the others wait for it', async () => {
    const { slices } = await sliced('straggler');
    const first = slices.filter(({ name, args }) => name === 'AllReduce' && args.seq === 2 && args.algo === 'RING');
    const late = first.reduce((a, b) => (b.ts > a.ts ? b : a));
    expect(rankOf(late)).toBe(2);
    const second = first.filter((slice) => slice !== late).reduce((a, b) => (b.ts > a.ts ? b : a));
    expect(Number(late.ts - second.ts)).toBeGreaterThan(10e6);
  });

  it('hang: the same collective is open on every rank whose file is here', async () => {
    const { slices, processes } = await sliced('hang');
    const hung = slices.filter(({ name, dur }) => name === 'AllReduce' && dur === -1n);
    const open = hung.filter(({ track }) => track.process !== undefined);
    const [together, ...more] = hung.filter(({ track }) => track.process === undefined);
    expect(more).toEqual([]);
    expect(together?.args).toMatchObject({ seq: 2, ranks: 3, open: '0,2,3' });
    expect(open.map(({ args }) => args.seq)).toEqual([2, 2, 2]);
    expect(open.map(rankOf).sort()).toEqual([0, 2, 3]);
    expect(processes).toHaveLength(3);
    const heartbeats = slices.filter(({ name }) => name === 'last heartbeat');
    expect(Math.max(...heartbeats.map(({ ts }) => Number(ts - open[0]!.ts)))).toBeGreaterThan(1e9);
  });

  it('wrapped: what was overwritten is drawn, and what is left is clean', async () => {
    const { slices } = await sliced('wrapped');
    const lost = slices.filter(({ name }) => name === 'overwritten');
    expect(lost.length).toBeGreaterThan(0);
    for (const { args } of lost) expect(Number(args.slots)).toBeGreaterThan(0);
  });
});
