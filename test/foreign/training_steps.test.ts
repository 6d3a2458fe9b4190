/** Exposed communication per training step in each form of a report: the same numbers, and how they are counted. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type { DrawnReport } from '../../src/foreign/beside/beside.js';
import { merge } from '../../src/merge.js';
import type { PageData } from '../../src/page/page_data.js';
import { worstSteps } from '../../src/report/exposed_steps.js';
import type { RunReport } from '../../src/report/run_report.js';
import { collectivesOf, kinetoText } from '../support/made_up/kineto.js';
import { runHere } from '../support/program/command_line.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RUN = 'samples/torch-straggler';
const STEPS = 6;
const folder = folderOfFile();
const at = (name: string): string => path.join(folder, name);
const report = (...args: string[]) => runHere(root, 'report', RUN, '-q', ...args);

const dataOf = (html: string): PageData =>
  JSON.parse(/>(\{"report":.*?)<\/script>/s.exec(html)?.[1] ?? '') as PageData;

let drawn: DrawnReport;

/** Name of the step with the largest exposed share. */
function worstStep(): string {
  const share = (one: { exposed: number; duration: number }): number => one.exposed / one.duration;
  const steps = drawn.exposed.filter(({ step }) => step !== null);
  return steps.reduce((worst, step) => (share(step) > share(worst) ? step : worst)).step!;
}

beforeAll(async () => {
  const given = { inputs: [path.join(root, RUN)], output: at('run.pftrace'), force: true, jobs: 1 };
  await merge(given);
  const works = collectivesOf(viewTrace(readFileSync(at('run.pftrace')), { emptySlices: 'fine' }), 0);
  writeFileSync(at('rank0.json'), kinetoText(works, { rank: 0, worldSize: 2, steps: STEPS }));
  writeFileSync(at('broken.json'), '{"traceEvents": [');
  const { foreign } = await merge({ ...given, with: [{ path: at('rank0.json'), rank: null }] });
  drawn = foreign[0] as DrawnReport;
  await report('-o', at('page.html'), '--with', at('rank0.json'));
});

it('a step is covered as far as its kernel reaches', () => {
  const steps = drawn.exposed.filter(({ step }) => step !== null);
  expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: STEPS }, (_, i) => `ProfilerStep#${i}`));
  for (const { nccl, overlapped, exposed, duration } of steps) {
    expect(exposed).toBe(nccl - overlapped);
    expect(overlapped).toBeGreaterThan(0);
    expect(overlapped).toBeLessThanOrEqual(duration / 2 + 1);
    expect(exposed).toBeLessThanOrEqual(duration / 2 + 1);
  }
});

it('--json has all rows and no picture, and a file that cannot be used is said in one line', async () => {
  const { out, err, code } = await report('--json', '--with', at('rank0.json'), at('broken.json'));
  const made = JSON.parse(out) as RunReport;
  expect(made.trainingSteps).toEqual(drawn.exposed);
  expect([code, err.trimEnd().split('\n')]).toEqual([0, [expect.stringContaining('broken.json')]]);
  expect(made.unusable).toEqual([expect.stringContaining('cut off')]);
  expect(out).not.toContain('"lanes"');
  const without = await runHere(root, 'report', 'samples/abi-v4', '-q', '--json');
  expect((JSON.parse(without.out) as RunReport).trainingSteps).toEqual([]);
});

it('--markdown has the steps with the most exposed time, and what exposed means', async () => {
  const { out } = await report('--markdown', '--with', at('rank0.json'));
  const { worst } = worstSteps(drawn.exposed, 4);
  expect(out).toContain("Exposed: NCCL's time that no other kernel of its process covers.");
  for (const { step } of worst) expect(out).toContain(`| 0 | ${step} |`);
  expect(out).toContain(`and ${STEPS - 4} more`);
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

it('the page has them as a section, and its trace has what the profiler recorded', () => {
  const html = readFileSync(at('page.html'), 'utf8');
  const { report: made } = dataOf(html);
  expect(made.trainingSteps).toEqual(worstSteps(drawn.exposed, 100).worst);
  expect(html).toContain('<a href="#training-steps">');
  const trace = /id="trace">([^<]*)</.exec(html)?.[1] ?? '';
  const seen = viewTrace(Buffer.from(trace, 'base64'), { emptySlices: 'fine' });
  expect(seen.slices.some(({ name }) => name === 'ProfilerStep#0')).toBe(true);
});

it('the page has a picture of the step with the largest exposed share, with the network of that time', () => {
  const html = readFileSync(at('page.html'), 'utf8');
  const { pictures } = dataOf(html);
  expect(pictures).toHaveLength(1);
  const { lanes, names, step, exposed, duration, leftOut } = pictures[0]!;
  expect(step).toBe(worstStep());
  const kinds = lanes.map(({ kind }) => kind);
  expect(new Set(kinds)).toEqual(new Set(['exposed', 'compute', 'nccl', 'works', 'network']));
  const slicesOf = (kind: string) =>
    lanes.filter((lane) => lane.kind === kind).flatMap(({ slices }) => slices);
  const namesOf = (kind: string): string[] => slicesOf(kind).map(([, , , name]) => names[name]!);
  expect(slicesOf('exposed').reduce((sum, [, length]) => sum + length, 0)).toBeCloseTo(exposed, -1);
  expect(namesOf('compute')).toEqual(['sm90_gemm']);
  expect(namesOf('nccl')).toContain('AllReduce f32');
  expect(namesOf('works')).toContainEqual(expect.stringMatching(/^AllReduce seq \d+ on ranks 0-1$/));
  expect(lanes.filter(({ kind }) => kind === 'network').map(({ title }) => title)).toEqual([
    'to rank 1',
    'from rank 1',
  ]);
  expect(namesOf('network')).toContain('recv wait');
  for (const [from, length] of lanes.flatMap(({ slices }) => slices)) {
    expect(from).toBeGreaterThanOrEqual(0);
    expect(from + length).toBeLessThanOrEqual(duration + 1);
  }
  expect(leftOut).toEqual({ 'operations of NCCL below 4 rows': 25 });
});

it('each transfer of the step is in a lane of the network', async () => {
  const { start, duration, lanes } = dataOf(readFileSync(at('page.html'), 'utf8')).pictures[0]!;
  await runHere(root, 'export', RUN, '-q', '--csv', at('tables'));
  const [head = '', ...lines] = readFileSync(at('tables/steps/00000.csv'), 'utf8').trimEnd().split('\n');
  const column = (name: string): ((line: string) => string) => {
    const place = head.split(',').indexOf(name);
    return (line) => line.split(',')[place]!;
  };
  const [from, to, direction] = [column('start_ns'), column('end_ns'), column('direction')];
  const inside = lines.filter((line) => Number(from(line)) < start + duration && Number(to(line)) > start);
  for (const [way, title] of [
    ['send', 'to rank 1'],
    ['recv', 'from rank 1'],
  ]) {
    const expected = inside.filter((line) => direction(line) === way).length;
    expect(expected).toBeGreaterThan(0);
    expect(lanes.find((lane) => lane.title === title)!.total).toBe(expected);
  }
});

it('a step of 100,000 calls stays small, also without a trace in its page, and says what it joins and what it leaves out', async () => {
  const text = readFileSync(at('rank0.json'), 'utf8');
  const [, begin, long] = new RegExp(`"${worstStep()}".*?"ts": ([\\d.]+), "dur": ([\\d.]+)`)
    .exec(text)!
    .map(Number) as [number, number, number];
  const calls: string[] = [];
  for (let i = 0; i < 100_000; i++) {
    const depth = i % 10;
    const ts = begin + (long * (i - depth)) / 100_000 + depth / 100;
    const dur = long / 20_000 - depth / 10;
    calls.push(
      `{"ph": "X", "cat": "cpu_op", "name": "aten::op${i % 300}", "pid": 4711, "tid": 99, "ts": ${ts.toFixed(3)}, "dur": ${dur.toFixed(3)}}`,
    );
  }
  writeFileSync(at('many.json'), text.replace('"traceEvents": [', `"traceEvents": [${calls.join(',')},`));
  await report('-o', at('many.html'), '--with', at('many.json'), '--no-trace');
  const { pictures } = dataOf(readFileSync(at('many.html'), 'utf8'));
  const picture = pictures[0]!;
  expect(picture.step).toBe(worstStep());
  expect(JSON.stringify(picture).length).toBeLessThan(250_000);
  const drawnCalls = picture.lanes
    .filter(({ kind }) => kind === 'operators')
    .flatMap(({ slices }) => slices)
    .reduce((sum, [, , , , count]) => sum + count, 0);
  expect(picture.leftOut).toMatchObject({ 'calls below 6 rows': 100_000 - drawnCalls });
  expect(drawnCalls).toBeGreaterThan(50_000);
});

it('--with is refused where names are hidden, and beside a .study', async () => {
  const hidden = await report('--json', '--redact', '--with', at('rank0.json'));
  expect([hidden.code, hidden.err]).toEqual([2, expect.stringContaining('--redact')]);
  await runHere(root, 'scan', 'samples/abi-v4', '-qj1', '-o', at('run.scan'));
  await runHere(root, 'study', at('run.scan'), '-qo', at('run.study'));
  const study = await runHere(root, 'report', at('run.study'), '--json', '--with', at('rank0.json'));
  expect([study.code, study.err]).toEqual([2, expect.stringContaining('name rank files')]);
});

it('a whole file stands for itself only where no step has a name', () => {
  const row = (step: string | null, exposed: number) => ({
    ...{ rank: 0, step, start: 0, duration: 9, nccl: exposed, overlapped: 0, exposed },
  });
  const all = [row(null, 5), row('step 1', 2), row('step 2', 3), row(null, 4)];
  expect(worstSteps(all, 2)).toEqual({ worst: [row(null, 4), row('step 2', 3)], of: 3 });
});
