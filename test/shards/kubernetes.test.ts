/**
 * examples/kubernetes: valid for the API, and what the pods of postmortem.yaml run gives the trace of `merge`. The validator and the YAML parser are
 * installed for the test alone, so it runs with the long tests, and is skipped without a registry.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import { copyRanks, RECORDED, writeCommand } from '../support/node_disks.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isLong = process.env.NCCL_TRACE_LONG === '1';
/** None where all tests are skipped: then `afterAll` does not run, and would leave it behind. */
const folder = isLong ? mkdtempSync(path.join(tmpdir(), 'nccl-trace-kubernetes-')) : '';
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const PACKAGES = ['kubernetes-models@5.1.0', 'yaml@2.9.1'];
const canInstall =
  isLong &&
  spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, ...PACKAGES],
    {
      timeout: 120_000,
    },
  ).status === 0;
if (isLong && !canInstall) rmSync(folder, { recursive: true });
const why = isLong && !canInstall ? ' (skipped: the registry is out of reach)' : '';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

function documents(name: string): Manifest[] {
  const load = createRequire(path.join(folder, 'package.json'));
  const yaml = load('yaml') as { parseAllDocuments: (text: string) => { toJS: () => Manifest }[] };
  return yaml
    .parseAllDocuments(readFileSync(path.join(root, 'examples/kubernetes', name), 'utf8'))
    .map((one) => one.toJS());
}

type Model = new (value: unknown) => { validate(): Promise<void> };

it.runIf(canInstall)(`the manifests are valid for the API of Kubernetes${why}`, async () => {
  const models = path.join(folder, 'node_modules/kubernetes-models');
  const of = async (file: string): Promise<Record<string, Model>> =>
    (await import(/* @vite-ignore */ pathToFileURL(path.join(models, file)).href)) as Record<string, Model>;
  const kinds = { ...(await of('v1/index.js')), ...(await of('batch/v1/index.js')) };
  const all = ['postmortem.yaml', 'liveness.yaml'].flatMap(documents);
  expect(all.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Job', 'Job', 'Job']);
  for (const one of all) await new kinds[one.kind]!(one).validate();
  const wrong = { ...all[1], spec: { ...all[1]!.spec, completions: 'two' } };
  await expect(async () => new kinds.Job!(wrong).validate()).rejects.toThrow(/completions must be integer/);
});

it.runIf(canInstall)(`its pods make the trace of merge${why}`, { timeout: 120_000 }, async () => {
  const [config, nodes, head] = documents('postmortem.yaml') as [Manifest, Manifest, Manifest];
  const traces = path.join(folder, 'traces');
  writeCommand(folder);
  const pod = ({ spec }: Manifest, node: string): Promise<number | null> => {
    const disk = path.join(folder, node);
    const script = spec.template.spec.containers[0]!.args[0]!;
    const here = script.replaceAll('/rank-files', disk).replaceAll('/traces', traces);
    const env = { ...process.env, ...config.data, NODE: node, PATH: `${folder}/bin:${process.env.PATH}` };
    const child = spawn('bash', ['-ec', here], { env, stdio: 'ignore' });
    return new Promise((done) => child.on('close', done));
  };
  copyRanks([0, 2], path.join(folder, 'a', config.data.RUN!));
  copyRanks([1, 3], path.join(folder, 'b', config.data.RUN!));
  expect(await Promise.all([pod(nodes, 'a'), pod(head, ''), pod(nodes, 'b')])).toEqual([0, 0, 0]);
  const own = path.join(traces, config.data.RUN!);
  expect(readdirSync(own).sort()).toEqual([
    'a.part',
    'a.scan',
    'b.part',
    'b.scan',
    'run.json',
    'run.pftrace',
    'run.study',
  ]);
  const output = path.join(folder, 'merged.pftrace');
  await merge({ inputs: [RECORDED], output, texts: traceTexts });
  expect(readFileSync(path.join(own, 'run.pftrace')).equals(readFileSync(output))).toBe(true);
});
