/** `metrics`: what a dashboard gets of a run, and that every metric is in schemas/metrics.md. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { projectFile } from '../../src/base/project.js';
import { startRecording } from '../support/jobs/loopback.js';
import { runHere } from '../support/program/command_line.js';
import { PROGRAM, runProgram } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

let folder: string;
let remove: () => void;
let child: ChildProcess | undefined;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
  remove();
});

/** 'name{labels}' → value, without the run, which all have. */
const seriesIn = (text: string): Map<string, number> =>
  new Map(
    [...text.matchAll(/^(nccl_trace_\w+)\{run="[^"]+"(?:,(.*))?\} ([\d.e+-]+)$/gm)].map(
      ([, name, labels, value]) => [name! + (labels === undefined ? '' : `{${labels}}`), Number(value)],
    ),
  );

it('of a hang: who lags, what is open since when, and who is suspect', async () => {
  const { out } = await runProgram(folder, 'metrics', projectFile('samples/hang'), '--once');
  const series = seriesIn(out.toString());
  const comm = 'comm="0xbccdfd9c96a18897"';
  for (const rank of [0, 2, 3]) {
    const of = `{rank="${rank}",${comm},function="AllReduce"}`;
    expect(series.get(`nccl_trace_collective_entered${of}`)).toBe(2);
    expect(series.get(`nccl_trace_collective_finished${of}`)).toBe(1);
    expect(series.get(`nccl_trace_open_operations{rank="${rank}",${comm}}`)).toBe(1);
    // 19:02:00.7 UTC
    expect(series.get(`nccl_trace_oldest_open_timestamp_seconds{rank="${rank}",${comm}}`)).toBeCloseTo(
      1795287720.7,
      1,
    );
    expect(series.get(`nccl_trace_last_record_timestamp_seconds{rank="${rank}"}`)).toBeCloseTo(
      1795287720.7,
      1,
    );
  }
  expect(
    series.get(`nccl_trace_verdict{kind="hung",role="culprit",rank="3",${comm},name="world bccd"}`),
  ).toBe(1);
  expect(series.get(`nccl_trace_verdict{kind="hung",role="victim",rank="0",${comm},name="world bccd"}`)).toBe(
    1,
  );
  expect(series.get(`nccl_trace_comm_info{${comm},name="world bccd",ranks="4"}`)).toBe(1);
  expect(series.get('nccl_trace_world_size')).toBe(4);
});

it('the work of a run is that of its report', async () => {
  const run = projectFile('samples/straggler');
  const series = seriesIn((await runProgram(folder, 'metrics', run, '--once')).out.toString());
  const report = JSON.parse((await runProgram(folder, 'report', run, '--json')).out.toString()) as {
    groups: { commId: string; func: string; sizeClass: number; count: number }[];
    pairs: (Record<'commId', string> &
      Record<'source' | 'destination' | 'transfers' | 'bytes' | 'meanNs', number> & {
        least: { latencyNs: number; rateGBs: number; r2: number };
      })[];
    ranks: { rank: number; lastIn: number; waits: Record<string, number> }[];
  };
  expect(report.groups.length + report.pairs.length).toBe(6);
  for (const { commId, func, sizeClass, count } of report.groups) {
    const labels = `comm="${commId}",function="${func}",size_class="${sizeClass}"`;
    expect(series.get(`nccl_trace_collectives_total{${labels},outcome="complete"}`)).toBe(count);
    expect(series.get(`nccl_trace_collective_duration_seconds_bucket{${labels},le="+Inf"}`)).toBe(count);
    expect(series.get(`nccl_trace_collective_busbw_bytes_per_second_count{${labels}}`)).toBe(count);
  }
  for (const { commId, source, destination, transfers, bytes, meanNs, least } of report.pairs) {
    const labels = `comm="${commId}",source="${source}",destination="${destination}"`;
    expect(series.get(`nccl_trace_pair_transfers{${labels}}`)).toBe(transfers);
    expect(series.get(`nccl_trace_pair_bytes{${labels}}`)).toBe(bytes);
    expect(series.get(`nccl_trace_pair_transfer_seconds{${labels}}`)).toBeCloseTo(meanNs / 1e9, 12);
    const fitted = `{${labels},fit="least"}`;
    expect(series.get(`nccl_trace_pair_latency_seconds${fitted}`)).toBeCloseTo(least.latencyNs / 1e9, 12);
    expect(series.get(`nccl_trace_pair_rate_bytes_per_second${fitted}`)).toBeCloseTo(least.rateGBs * 1e9);
    expect(series.get(`nccl_trace_pair_fit_r2${fitted}`)).toBe(least.r2);
  }
  const comm = report.pairs[0]!.commId;
  for (const { rank, waits } of report.ranks) {
    const waited = series.get(`nccl_trace_wait_seconds{rank="${rank}",function="AllReduce",kind="gpu"}`);
    expect(waited).toBeCloseTo(waits.gpu! / 1e9, 9);
  }
  expect(series.get(`nccl_trace_collectives_last_total{comm="${comm}",function="AllReduce",rank="2"}`)).toBe(
    7,
  );
});

it('schemas/metrics.md has every metric, with its labels and its type', async () => {
  const samples = ['hang', 'straggler', 'healthy'].map((name) => projectFile(`samples/${name}`));
  const texts = samples.map(async (sample) => (await runProgram(folder, 'metrics', sample, '--once')).out);
  const text = (await Promise.all(texts)).join('\n');
  const rows = [
    ...readFileSync(projectFile('schemas/metrics.md'), 'utf8').matchAll(
      /^\| `(nccl_trace_\w+)` \| ?(.*?) ?\| (gauge|counter|histogram) \|/gm,
    ),
  ];
  const documented = rows.map(
    ([, name, labels, type]) => `${name} ${type} ${labels!.replaceAll(/[`,]/g, '').trim()}`,
  );
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  const exported = [...types].map(([name, type]) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text)!;
    return `${name} ${type} ${[...labels.matchAll(/(\w+)="/g)]
      .map(([, label]) => label)
      .filter((label) => label !== 'run')
      .join(' ')}`.trim();
  });
  expect(documented.map((row) => row.trim()).sort()).toEqual(exported.sort());
});

async function startMetrics(...args: string[]): Promise<string> {
  child = spawn(process.execPath, [PROGRAM, 'metrics', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [text] = (await once(child.stderr!, 'data')) as [Buffer];
  return text.toString();
}

it('of a running job, over HTTP: they are those of now, in the format that is asked for', async () => {
  const recording = path.join(folder, 'recording');
  const said = await startMetrics(recording, '--listen', '127.0.0.1:0', '--every', '1');
  const url = /http:\S+/.exec(said)![0];
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const get = async (accept?: string): Promise<[string, string | null]> => {
    const answer = await fetch(url, accept === undefined ? {} : { headers: { accept } });
    return [await answer.text(), answer.headers.get('content-type')];
  };
  expect((await get())[0]).toContain('\nnccl_trace_processes 0\n');
  const job = startRecording(
    folder,
    '--ranks 2 --iterations 100000 --ops allreduce:64K,sleep:20ms --timeout 100',
  );
  const entered = async (): Promise<number> => {
    for (;;) {
      const series = seriesIn((await get())[0]);
      const found = [...series].find(([name]) => name.startsWith('nccl_trace_collective_entered{rank="1"'));
      if (found) return found[1];
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  expect(await entered()).toBeGreaterThanOrEqual(0);
  const [open, type] = await get('application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
  expect(type).toMatch(/^application\/openmetrics-text/);
  expect(open).toMatch(/# EOF\n$/);
  expect(seriesIn(open).get('nccl_trace_process_state{rank="0",state="runs"}')).toBe(1);
  expect((await fetch(url.replace('/metrics', '/'))).status).toBe(404);
  job.end();
  await job.ended;
  const gone = async (): Promise<boolean> =>
    seriesIn((await get())[0]).has('nccl_trace_process_state{rank="0",state="gone"}');
  while (!(await gone())) await new Promise((resolve) => setTimeout(resolve, 50));
  child!.kill('SIGTERM');
  expect((await once(child!, 'exit'))[0]).toBe(143);
});

it('--textfile is replaced whole, and no other file is; it goes when the command ends', async () => {
  const file = path.join(folder, 'nccl_trace.prom');
  writeFileSync(file, 'mine');
  expect(await runHere(folder, 'metrics', '.', '--textfile', file)).toMatchObject({ code: 4 });
  const made = path.join(folder, 'other.prom');
  await startMetrics(projectFile('samples/hang'), '--textfile', made, '--every', '1');
  while (!existsSync(made)) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(readFileSync(made, 'utf8')).toMatch(/^nccl_trace_processes\{.*\} 3$/m);
  child!.kill('SIGTERM');
  expect((await once(child!, 'exit'))[0]).toBe(143);
  expect(existsSync(made)).toBe(false);
});

it.each([
  [['--listen', '9477'], 2],
  [['--listen', '127.0.0.1:99999'], 2],
  [['--once', '--textfile', 'x.prom'], 2],
  [['--allow-host', 'a/b'], 2],
  [['--once', '--allow-host', 'node1'], 2],
  [['--once'], 3],
])('%j ends with %i', async (args, code) => {
  expect((await runHere(folder, 'metrics', '.', ...args)).code).toBe(code);
});
