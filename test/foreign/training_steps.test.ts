/** Exposed communication per training step in each form of a report: the same numbers, and how they are counted. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type { DrawnReport } from '../../src/foreign/beside/beside.js';
import { merge } from '../../src/merge.js';
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

let drawn: DrawnReport;

beforeAll(async () => {
  const given = { inputs: [path.join(root, RUN)], output: at('run.pftrace'), force: true, jobs: 1 };
  await merge(given);
  const works = collectivesOf(viewTrace(readFileSync(at('run.pftrace')), { emptySlices: 'fine' }), 0);
  writeFileSync(at('rank0.json'), kinetoText(works, { rank: 0, worldSize: 2, steps: STEPS }));
  writeFileSync(at('broken.json'), '{"traceEvents": [');
  const { foreign } = await merge({ ...given, with: [{ path: at('rank0.json'), rank: null }] });
  drawn = foreign[0] as DrawnReport;
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

it('--json has all rows, and a file that cannot be used is said in one line', async () => {
  const { out, err, code } = await report('--json', '--with', at('rank0.json'), at('broken.json'));
  const made = JSON.parse(out) as RunReport;
  expect(made.trainingSteps).toEqual(drawn.exposed);
  expect([code, err.trimEnd().split('\n')]).toEqual([0, [expect.stringContaining('broken.json')]]);
  expect(made.unusable).toEqual([expect.stringContaining('cut off')]);
  expect((JSON.parse((await report('--json')).out) as RunReport).trainingSteps).toEqual([]);
});

it('--markdown has the steps with the most exposed time, and what exposed means', async () => {
  const { out } = await report('--markdown', '--with', at('rank0.json'));
  const { worst } = worstSteps(drawn.exposed, 4);
  expect(out).toContain("Exposed: NCCL's time that no other kernel of its process covers.");
  for (const { step } of worst) expect(out).toContain(`| 0 | ${step} |`);
  expect(out).toContain(`and ${STEPS - 4} more`);
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

it('the page has them as a section, and its trace has what the profiler recorded', async () => {
  const page = at('page.html');
  await report('-o', page, '--with', at('rank0.json'));
  const html = readFileSync(page, 'utf8');
  const data = />(\{"report":.*?)<\/script>/s.exec(html)?.[1] ?? '';
  const { report: made } = JSON.parse(data) as { report: RunReport };
  expect(made.trainingSteps).toEqual(worstSteps(drawn.exposed, 100).worst);
  expect(html).toContain('<a href="#training-steps">');
  const trace = /id="trace">([^<]*)</.exec(html)?.[1] ?? '';
  const seen = viewTrace(Buffer.from(trace, 'base64'), { emptySlices: 'fine' });
  expect(seen.slices.some(({ name }) => name === 'ProfilerStep#0')).toBe(true);
});

it('--with is refused where names are hidden, and beside a .study', async () => {
  const hidden = await report('--json', '--redact', '--with', at('rank0.json'));
  expect([hidden.code, hidden.err]).toEqual([2, expect.stringContaining('--redact')]);
  await runHere(root, 'scan', RUN, '-qo', at('run.scan'));
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
