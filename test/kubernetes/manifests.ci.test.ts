/** examples/kubernetes: the manifests fit the API's schemas, and what their pods run records as a user that is not root. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DaemonSet } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { ConfigMap, Namespace, Pod } from 'kubernetes-models/v1';
import { afterAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openRankFile } from '../../src/rankfile/index.js';
import { builtNative, PROJECT } from '../support/jobs/native.js';
import { namesIn } from '../support/program/names_in.js';
import { THE_COMMAND, writeCommand } from '../support/jobs/node_disks.js';

interface PodSpec {
  readonly securityContext?: object;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Record<string, unknown>[];
}
interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext?: object;
  readonly resources?: object;
}
interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template: { readonly spec: PodSpec };
    readonly pytorchReplicaSpecs: Record<string, { readonly template: object }>;
    readonly replicatedJobs: readonly {
      readonly template: { readonly spec: { readonly template: { readonly spec: PodSpec } } };
    }[];
  };
}

const documents = (name: string): Manifest[] =>
  parseAllDocuments(readFileSync(path.join(PROJECT, 'examples/kubernetes', name), 'utf8')).map((one) => {
    expect(one.errors).toEqual([]);
    return one.toJS() as Manifest;
  });

const KINDS = { ConfigMap, DaemonSet, Job, Namespace, Pod };
/** Throws what is wrong. */
const validate = (value: object): void => {
  const Kind = KINDS[(value as { kind: keyof typeof KINDS }).kind];
  new Kind(value).validate();
};
const asPod = (template: object): object => ({ apiVersion: 'v1', kind: 'Pod', ...template });
const asJob = (template: object): object => ({ apiVersion: 'batch/v1', kind: 'Job', ...template });

it.each([
  ['postmortem.yaml', ['ConfigMap', 'Job', 'Job']],
  ['liveness.yaml', ['Job']],
  ['node.yaml', ['Namespace', 'DaemonSet']],
])('%s fits the API of Kubernetes', (name, kinds) => {
  const all = documents(name);
  expect(all.map(({ kind }) => kind)).toEqual(kinds);
  for (const one of all) validate(one);
});

it('podmonitor.yaml finds the pods of node.yaml', () => {
  interface Selecting {
    readonly metadata: { readonly namespace: string; readonly labels?: object };
    readonly spec: { readonly selector: { readonly matchLabels: object }; readonly template: Selecting };
  }
  const [monitor] = documents('podmonitor.yaml') as unknown as Selecting[];
  const [, set] = documents('node.yaml') as unknown as Selecting[];
  expect(monitor!.metadata.namespace).toBe(set!.metadata.namespace);
  expect(set!.spec.template.metadata.labels).toMatchObject(monitor!.spec.selector.matchLabels);
});

// No package has the schemas of these two operators. Their jobs are Kubernetes's own below the first lines.
it('the pods of pytorchjob.yaml and jobset.yaml fit it', () => {
  const [torch] = documents('pytorchjob.yaml');
  for (const { template } of Object.values(torch!.spec.pytorchReplicaSpecs)) validate(asPod(template));
  const [set] = documents('jobset.yaml');
  for (const { template } of set!.spec.replicatedJobs) validate(asJob(template));
});

it('every image has a tag, and the pods beside a job say what they need', () => {
  const text = readdirSync(path.join(PROJECT, 'examples/kubernetes'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(path.join(PROJECT, 'examples/kubernetes', name), 'utf8'))
    .join('');
  for (const [, image] of text.matchAll(/image: (\S+)/g))
    expect(image).toMatch(/^your-registry\/[\w-]+:[\w.]+$/);
  const [, node] = documents('node.yaml');
  for (const { resources } of node!.spec.template.spec.containers)
    expect(resources).toMatchObject({ requests: {}, limits: {} });
});

it('postmortem.yaml reads where node.yaml lets jobs write', () => {
  const at = (one: Manifest, name: string): unknown =>
    (one.spec.template.spec.volumes.find((volume) => volume.name === name)!.hostPath as { path: string })
      .path;
  expect(at(documents('postmortem.yaml')[1]!, 'rank-files')).toBe(at(documents('node.yaml')[1]!, 'runs'));
});

it('a wrong manifest does not', () => {
  const [, job] = documents('postmortem.yaml');
  const wrong = { ...job, spec: { ...job!.spec, completions: 'two' } };
  expect(() => {
    validate(wrong);
  }).toThrow(/completions must be integer/);
});

it('jobset.yaml keeps to the policy "restricted"', () => {
  const { spec } = documents('jobset.yaml')[0]!.spec.replicatedJobs[0]!.template.spec.template;
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  for (const { securityContext } of [...spec.initContainers!, ...spec.containers])
    expect(securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
  const kinds = spec.volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  expect(new Set(kinds)).toEqual(new Set(['emptyDir', 'persistentVolumeClaim']));
});

const isRoot = process.getuid?.() === 0;
const folder = isRoot ? mkdtempSync(path.join(tmpdir(), 'nccl-trace-kubernetes-')) : '';
afterAll(() => {
  if (isRoot) rmSync(folder, { recursive: true });
});

it.runIf(isRoot)(
  `a pod of another user records on a node that node.yaml has prepared${isRoot ? '' : ' (needs root)'}`,
  async () => {
    const [plugin, loopback] = await builtNative('libnccl-profiler-trace.so', 'nccl-trace-loopback');
    chmodSync(folder, 0o755);
    for (const name of ['plugin', 'runs', 'rings']) mkdirSync(path.join(folder, name), { mode: 0o755 }); // as the kubelet does
    writeCommand(folder, `[ "$1" = plugin-path ] && echo "${plugin}" || ${THE_COMMAND}`);
    const here = (text: string): string =>
      text.replace(/(?<=^|[ "])\/(?=(plugin|runs|rings)\b)/gm, `${folder}/`);
    const inPod = (command: string, ...args: string[]): string =>
      execFileSync(command, args, {
        env: { ...process.env, PATH: `${folder}/bin:${process.env.PATH}`, ...settings },
        encoding: 'utf8',
      });
    let settings: Record<string, string> = {};
    const prepare = documents('node.yaml')[1]!.spec.template.spec.initContainers![0]!;
    inPod('bash', '-euc', here(prepare.args[0]!));

    // The pod of the job, with the settings of its manifest.
    const [torch] = documents('pytorchjob.yaml');
    const worker = torch!.spec.pytorchReplicaSpecs.Worker!.template as { spec: PodSpec };
    const { env } = worker.spec.containers[0]!;
    settings = Object.fromEntries(
      env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, here(value)]])),
    );
    settings.NCCL_TRACE_RUN_ID = 'train';
    settings.NCCL_TRACE_RING_MB = '1';
    copyFileSync(loopback, path.join(folder, 'loopback')); // where that user can read it
    // One rank ends itself: its newest records are in its rings alone.
    const job = ['--ranks', '2', '--fault', 'kill:1@1', '--hang-seconds', '1', '--quiet'];
    const user = ['--reuid=1000', '--regid=1000', '--clear-groups'];
    expect(() => inPod('setpriv', ...user, path.join(folder, 'loopback'), ...job)).toThrow(/loopback/);
    expect(namesIn(path.join(folder, 'runs/train'))).toContain('rank00001.bin');
    expect(statSync(path.join(folder, 'runs/train/rank00001.bin')).uid).toBe(1000);

    // What the pod of node.yaml does beside the job, and what it says to do in it.
    const metrics = documents('node.yaml')[1]!.spec.template.spec.containers.at(-1);
    settings = {};
    const [program, ...args] = metrics!.command;
    const told = inPod(
      program!,
      ...args.filter((word) => !/listen|9477/.test(word)).map(here),
      '--once',
      '--run',
      'train',
    );
    expect(told).toContain('nccl_trace_');

    const snapshot = /nccl-trace (snapshot .*) -o/.exec(
      readFileSync(path.join(PROJECT, 'examples/kubernetes/node.yaml'), 'utf8'),
    )![1]!;
    settings = {};
    const copies = path.join(folder, 'copies');
    inPod('nccl-trace', ...here(snapshot).split(' '), '--strict', '-o', copies);
    expect(namesIn(copies)).toEqual(['rank00000.bin', 'rank00001.bin']);
    expect(openRankFile(path.join(copies, 'rank00001.bin')).header.life).toBe('recording');
  },
);
