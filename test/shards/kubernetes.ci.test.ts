/** examples/kubernetes/postmortem.yaml: what its pods run gives the trace of `merge`. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import { copyRanks, RECORDED, writeCommand } from '../support/jobs/node_disks.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = path.join(root, 'examples/kubernetes/postmortem.yaml');
const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-kubernetes-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

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

const documents = (): Manifest[] =>
  parseAllDocuments(readFileSync(manifest, 'utf8')).map((one) => one.toJS() as Manifest);

it('its pods make the trace of merge', async () => {
  const [config, nodes, head] = documents() as [Manifest, Manifest, Manifest];
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
