/**
 * Every query of the documents, the rules and the dashboard, as a user runs them: on a real Prometheus that scrapes two jobs, each on two
 * nodes with an exporter. One job works. In the other one, whose communicator has the same id, rank 3 never comes.
 */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectFile } from '../../src/base/project.js';
import { startRecording, type Running } from '../support/jobs/loopback.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { folder, remove } = temporaryFolder();
const noServer = spawnSync('prometheus', ['--version']).error !== undefined;
const RULES = projectFile('examples/prometheus/nccl-trace.rules.yaml');
const children: ChildProcess[] = [];
const jobs: Running[] = [];
let server = '';

interface Rule {
  readonly expr: string;
  readonly record?: string;
  readonly alert?: string;
}
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

beforeAll(async () => {
  if (noServer) return;
  const nodes = await Promise.all([
    ...(await startJob('alpha', '')),
    ...(await startJob('beta', '--fault skip:3@30 --hang-seconds 160')),
  ]);
  server = await startPrometheus(nodes);
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const job of jobs) job.end();
  await Promise.all(jobs.map(({ ended }) => ended));
  remove();
});

/** The addresses of its exporters. */
async function startJob(run: string, more: string): Promise<Promise<string>[]> {
  const home = path.join(folder, run);
  const disks = path.join(home, 'nodes');
  mkdirSync(disks, { recursive: true });
  const ops = 'allreduce:64K,allreduce@tp:64K,group{send+recv:64K},sleep:30ms';
  const args = `--ranks 4 --groups 2 --node-size 2 --node-memory NCCL_TRACE_DIR=${disks} --seed 7 --iterations 100000 --ops ${ops} --timeout 170`;
  jobs.push(startRecording(home, more === '' ? args : `${args} ${more}`, { NCCL_TRACE_RUN_ID: run }));
  while (readdirSync(disks).length < 2) await pause();
  return readdirSync(disks).map((node) => startExporter(path.join(disks, node)));
}

async function startExporter(disk: string): Promise<string> {
  while (!existsSync(disk)) await pause();
  const args = ['metrics', disk, '--listen', '127.0.0.1:0', '--every', '1', '--hung-after', '3'];
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  const [said] = (await once(child.stderr, 'data')) as [Buffer];
  return /127[\d.:]+/.exec(said.toString())![0];
}

async function startPrometheus(targets: readonly string[]): Promise<string> {
  const file = path.join(folder, 'prometheus.json');
  const scrape = { job_name: 'nccl-trace', scrape_interval: '1s', static_configs: [{ targets }] };
  const global = { evaluation_interval: '1s' };
  writeFileSync(file, JSON.stringify({ global, rule_files: [RULES], scrape_configs: [scrape] }));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${file}`, `--web.listen-address=${address}`, '--log.level=error'];
  args.push(`--storage.tsdb.path=${path.join(folder, 'tsdb')}`);
  children.push(spawn('prometheus', args, { stdio: 'ignore' }));
  const isReady = (): Promise<boolean> =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await pause();
  return `http://${address}`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const pause = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 200));

async function api<T>(what: string): Promise<T> {
  const answer = (await (await fetch(`${server}/api/v1/${what}`)).json()) as { data: T; error?: string };
  if (answer.error !== undefined) throw new Error(`${decodeURIComponent(what)}: ${answer.error}`);
  return answer.data;
}

const query = async (expr: string): Promise<readonly Series[]> =>
  (await api<{ result: readonly Series[] }>(`query?query=${encodeURIComponent(expr)}`)).result;

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await pause();
  }
}

/** As Grafana fills in "All". */
const filled = (expr: string): string => expr.replaceAll(/\$(run|instance|comm)/g, '.*');
const inDocuments = (): string[] =>
  [
    ...readFileSync(projectFile('schemas/metrics.md'), 'utf8').matchAll(/^\| `nccl_trace_.*`([^`]+)` \|$/gm),
  ].map(([, text]) => text!.replaceAll('\\|', '|'));
interface Dashboard {
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
const dashboard = JSON.parse(
  readFileSync(projectFile('examples/grafana/nccl-trace.json'), 'utf8'),
) as Dashboard;
const inPanels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => filled(expr)));
const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const inRules = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));

/** A condition that holds nowhere here, and lines through sizes: a busy machine has none that fits. */
const mayBeEmpty = (expr: string): boolean =>
  / [<>] |==|mismatch|_latency_|_(pair|channel)_rate_|_fit_r2/.test(expr);

describe.skipIf(noServer)('with two jobs on two nodes each', () => {
  beforeAll(async () => {
    await until(async () =>
      (await query('nccl_trace_verdict{run="beta",kind="hung"}')).length > 1 ? true : undefined,
    );
    await until(async () =>
      (await query('rate(nccl_trace_collectives_total{run="alpha"}[1m])')).length > 0 ? true : undefined,
    );
  }, 120_000);

  it('no query fails, now or over time, and none is empty that should not be', async () => {
    const all = [...inDocuments(), ...inPanels, ...inRules];
    expect(all.length).toBeGreaterThan(80);
    const now = Date.now() / 1000;
    const empty: string[] = [];
    for (const expr of all) {
      const found = await query(expr);
      await api(`query_range?query=${encodeURIComponent(expr)}&start=${now - 10}&end=${now}&step=2`);
      if (found.length === 0 && !mayBeEmpty(expr)) empty.push(expr);
    }
    expect(empty).toEqual([]);
  });

  it('the variables of the dashboard offer the jobs, the exporters, and communicators by name', async () => {
    const offers = dashboard.templating.list.flatMap((one) =>
      typeof one.query === 'string' ? [] : [one.query.query],
    );
    const values = await Promise.all(
      offers.map(async (offer): Promise<(string | undefined)[]> => {
        const [, of, expr, label] = /^(label_values|query_result)\((.*?)(?:, (\w+))?\)$/.exec(filled(offer))!;
        const found = await query(expr!);
        return [...new Set(found.map(({ metric }) => metric[of === 'query_result' ? 'name' : label!]))];
      }),
    );
    expect(values.map((offered) => offered.length)).toEqual([2, 4, 3]);
    expect(values[0]!.sort()).toEqual(['alpha', 'beta']);
    expect(values[2]!.sort().join()).toMatch(/^tp ranks 0-1,tp ranks 2-3,world [\da-f]{4}$/);
  });

  it('panels say what is so', async () => {
    const panel = (title: string): Promise<readonly Series[]> =>
      query(filled(dashboard.panels.find((one) => one.title === title)!.targets[0]!.expr));
    const byRun = (found: readonly Series[]): Record<string, string> =>
      Object.fromEntries(found.map(({ metric, value }) => [metric.run ?? '', value[1]] as const));
    expect(byRun(await panel('Ranks without a file'))).toEqual({ alpha: '0', beta: '0' });
    expect(byRun(await panel('Processes'))).toEqual({ alpha: '4', beta: '4' });
    const behind = (await panel('Ranks behind')).filter(({ metric }) => metric.run === 'beta');
    expect(behind.map(({ metric: { rank, name = '' } }) => `${rank} ${name.slice(0, 5)}`).sort()).toEqual([
      '3 tp ra',
      '3 world',
    ]);
    expect((await panel('What transfers wait for')).length).toBeGreaterThanOrEqual(8);
    const links = (await panel('Time per byte of a link')).filter(({ metric }) => metric.run === 'alpha');
    expect(links.map(({ metric }) => `${metric.source} to ${metric.destination}`).sort()).toEqual([
      '1 to 2',
      '3 to 0',
    ]);
  });

  it('all rules are evaluated, and the hang pages once, with its culprit', async () => {
    interface Alert {
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
      readonly state: string;
    }
    const pages = await until(async () => {
      const { alerts } = await api<{ alerts: readonly Alert[] }>('alerts');
      const firing = alerts.filter(({ labels, state }) => labels.severity === 'page' && state === 'firing');
      return firing.length > 0 ? firing : undefined;
    });
    expect(pages.map(({ labels }) => [labels.alertname, labels.run])).toEqual([['NcclJobHangs', 'beta']]);
    expect(pages[0]!.annotations.summary).toMatch(
      /^NCCL hangs in run beta: look at rank 3 on 127\.0\.0\.1:\d+ \(hung, world [\da-f]{4}\)$/,
    );
    const roles = await query('nccl_trace_verdict{run="beta"}');
    expect(roles.filter(({ metric }) => metric.role === 'culprit').map(({ metric }) => metric.rank)).toEqual([
      '3',
    ]);
    const { groups: evaluated } = await api<{
      groups: readonly { rules: readonly { name: string; lastError?: string }[] }[];
    }>('rules');
    expect(
      evaluated.flatMap(({ rules }) => rules.filter(({ lastError }) => (lastError ?? '') !== '')),
    ).toEqual([]);
  });
});
