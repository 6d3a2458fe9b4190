/** The Slurm commands of the documents and the scripts of docs/slurm, as they are there, on two nodes with a job that really records. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { PROJECT } from '../support/jobs/native.js';
import { namesIn } from '../support/program/names_in.js';
import { Slurm, until } from './slurm.js';

const read = (name: string): string => readFileSync(path.join(PROJECT, name), 'utf8');

const DOCUMENTS = ['cluster', 'collect', 'live', 'merge-at-scale']
  .map((name) => read(`docs/${name}.md`))
  .join('\n');

/** The block that has this text, of the language "sh login" or "sh batch". */
function block(kind: 'login' | 'batch', text: string): string {
  const blocks = [...DOCUMENTS.matchAll(/^```sh (login|batch)\n([\s\S]*?)^```$/gm)];
  const found = blocks.filter(([, of, lines]) => of === kind && lines!.includes(text));
  expect(found.length, `blocks with ${text}`).toBe(1);
  ran.add(found[0]![2]!);
  return found[0]![2]!;
}
const ran = new Set<string>();

/** A script's first lines say what is to be set to the cluster's size. What the stand-ins need is set in it: with --export=NONE nothing comes along. */
const ofTwoNodes = (script: string): string =>
  read(script)
    .replace('--nodes=8', '--nodes=2')
    .replace('--ntasks-per-node=8', '--ntasks-per-node=2')
    .replace(
      /^\w+=\$\{/m,
      'export PATH=/shared/bin:$PATH LOOPBACK=/shared/job/loopback NCCL_TRACE_RING_MB=1 RANKS_PER_NODE=2\n$&',
    );

/** Who it waits for, in every verdict on it. */
/** On a busy machine a receive of another rank may wait for it first. */
const MISSING = /((not|never) entered|other side): +rank 3 \(n2 /;
const HANGS = '--fault skip:3@2 --quiet';
const ENDS = '--iterations 3 --quiet';

let slurm: Slurm;
beforeAll(() => {
  slurm = new Slurm(
    {
      'job/train.sbatch': ofTwoNodes('docs/slurm/train.sbatch'),
      'job/torchrun-pyxis.sbatch': ofTwoNodes('docs/slurm/torchrun-pyxis.sbatch'),
      'job/postmortem.sbatch': read('examples/slurm/postmortem.sbatch'),
      'tools/task_prolog.sh': read('examples/slurm/task_prolog.sh'),
      'tools/epilog.d/1-copy.sh': read('docs/slurm/epilog.sh'),
      'tools/epilog.d/2-verdict.sh': read('examples/slurm/epilog.sh'),
      // Stand-ins for pyxis and for torchrun. The image has a setting of its own, and must not win.
      'bin/srun': read('test/slurm/srun'),
      'train.sqsh/bin/torchrun': read('test/slurm/torchrun'),
      'train.sqsh/env': 'NCCL_TRACE_DIR=/tmp/of-the-image\n',
    },
    slurmConf(),
  );
  const installed = block('login', 'npm install').replace('./nccl-trace-0.1.0.tgz', PROJECT);
  expect(slurm.onLogin(installed)).toMatchObject({ code: 0 });
});
afterAll(() => {
  slurm.stop();
});

/** What the document says of slurm.conf. */
function slurmConf(): Record<string, string> {
  const [, prolog, epilog] = /^TaskProlog=(.*)\nEpilog=(.*)$/m.exec(DOCUMENTS)!;
  return { TASK_PROLOG: prolog!, EPILOG: epilog! };
}

const train = (script: string, options: string, environment = {}): string =>
  slurm.submitted(block('login', script).replace('train.py', `train.py ${options}`), environment);

/** The rank files below a folder, and how their processes were: { node0: ['0 closed'] } */
function copies(...names: string[]): Record<string, string[]> {
  const from = slurm.shared('traces', ...names);
  return Object.fromEntries(namesIn(from).map((node) => [node, ranksIn(path.join(from, node))]));
}
const ranksIn = (folder: string): string[] =>
  namesIn(folder).map((name) => {
    const rank = /^rank0000(\d)\.bin$/.exec(name)?.[1];
    return rank === undefined ? name : `${rank} ${openRankFile(path.join(folder, name)).header.life}`;
  });
const ALL = (life: string, first: string, second: string): Record<string, string[]> => ({
  [first]: [`0 ${life}`, `1 ${life}`],
  [second]: [`2 ${life}`, `3 ${life}`],
});

const disks = (run: string): string[] =>
  (['n1', 'n2'] as const).map((node) => slurm.local(node, 'scratch/root/nccl-trace', run));
/** In the first seconds a stall may be none. */
const hangs = (run: string): boolean =>
  slurm.onLogin(`nccl-trace inspect ${disks(run).join(' ')}`).output.startsWith('WAITING');

describe.each(['train.sbatch', 'torchrun-pyxis.sbatch'])('%s', (script) => {
  it.each([
    ['as by default', {}],
    ['under --export=NONE', { SBATCH_EXPORT: 'NONE' }],
  ])('copies the files of all nodes when the job has ended, %s', (_, environment) => {
    const job = train(script, ENDS, environment);
    const log = slurm.ended(job);
    expect(log).not.toMatch(/error|warn/i);
    expect(slurm.about(job)).toContain('ExitCode=0:0');
    expect(copies(job, 'at-exit')).toEqual(ALL('closed', 'node0', 'node1'));
    const { output } = slurm.onLogin(block('login', 'at-exit'), { JOB: job });
    expect(output).toMatch(/^HEALTHY/m);
    expect(output).toContain('4 ranks');
  });

  it('copies those of a hanging job before its time is up', () => {
    const job = train(script, HANGS);
    until(() => hangs(job));
    slurm.onLogin(`scancel --batch --signal=TERM ${job}`); // as --signal=B:TERM does
    slurm.ended(job);
    expect(slurm.about(job)).toContain('ExitCode=143:0');
    expect(copies(job, 'at-exit')).toEqual(ALL('recording', 'node0', 'node1'));
    // The epilogs ran on both nodes: one copied again, one left the verdict beside the log.
    expect(Object.keys(copies(job, 'epilog'))).toEqual(['n1', 'n2']);
    expect(slurm.onLogin(`cat nccl-trace-${job}/verdict.txt`).output).toMatch(MISSING);
  });
});

it('a job that sets two variables in its own script records', () => {
  const lines = block('batch', 'steps get all variables\nsrun python').replace(
    'train.py',
    `train.py ${ENDS}`,
  );
  const job = slurm.submitted(`sbatch --nodes=2 --ntasks-per-node=2 --wrap "$LINES"`, { LINES: lines });
  expect(slurm.ended(job)).toBe('');
  const [n1, n2] = disks(job).map(ranksIn);
  expect({ n1, n2 }).toEqual(ALL('closed', 'n1', 'n2'));
});

it('watch beside a job on two nodes: the node of the rank that did not come names it, the other one waits for it', () => {
  const lines = block('batch', 'nccl-trace watch')
    .replace('nccl-trace watch', 'nccl-trace watch --hung-after 5')
    .replace('train.py', `train.py ${HANGS} --hang-seconds 40 --timeout 100`);
  const job = slurm.submitted(`sbatch --nodes=2 --ntasks-per-node=2 --wrap "$LINES"`, { LINES: lines });
  until(() => namesIn(slurm.shared('job')).includes(`${job}.log`));
  until(() => slurm.log(job).match(/incident:/g)?.length === 2);
  const log = slurm.log(job);
  expect(log).toMatch(/HUNG: .*: rank 3 never entered it/);
  expect(log).toMatch(/HUNG: .*: this node waits for others: rank \S+( of [\w ]+)?, no file here/);
  const incidents = slurm.shared('incidents', job);
  expect(namesIn(incidents).map((name) => ranksIn(path.join(incidents, name)))).toEqual(
    expect.arrayContaining([
      ['incident.json', '0 recording', '1 recording'],
      ['incident.json', '2 recording', '3 recording'],
    ]),
  );
  slurm.onLogin(`scancel ${job}`);
  slurm.ended(job);
});

describe('a hanging job that knows nothing of the recorder, where the task prolog is', () => {
  let job = '';
  beforeAll(() => {
    job = slurm.submitted(
      `sbatch --requeue --nodes=2 --ntasks-per-node=2 --wrap "srun python train.py ${HANGS}"`,
    );
    until(() => hangs(job));
  });

  it.each([
    ['from the login node', {}],
    // srun takes these from the environment.
    ['from a shell of salloc', { SLURM_NTASKS: '4', SLURM_NTASKS_PER_NODE: '2' }],
  ])('its files are copied from all nodes while it hangs, %s', (_, environment) => {
    slurm.onLogin(`rm -rf /shared/traces/${job}/now`);
    const { output } = slurm.onLogin(block('login', 'srun --jobid'), { JOB: job, ...environment });
    expect(output).not.toMatch(/error|warn/i);
    expect(copies(job, 'now')).toEqual(ALL('recording', '0', '1'));
    expect(output).toMatch(MISSING);
  });

  it('after a requeue the epilogs have copied the first start, and the second has a folder of its own', () => {
    slurm.onLogin(`scontrol requeue ${job}`);
    // Slurm waits for two minutes if it is not told to hurry.
    until(() => {
      slurm.onLogin(`scontrol update job ${job} StartTime=now`);
      return hangs(`${job}.1`);
    });
    expect(Object.keys(copies(job, 'epilog'))).toEqual(['n1', 'n2']);
    expect(Object.values(copies(job, 'epilog')).flat()).toHaveLength(4);
    slurm.onLogin(`scancel ${job}`);
    slurm.ended(job);
    expect(Object.values(copies(`${job}.1`, 'epilog')).flat()).toHaveLength(4);
  });

  it('the postmortem draws it from the disks of its nodes', () => {
    const lines = block('login', 'postmortem.sbatch')
      .replace('node[01-16]', 'n[1-2]')
      .replaceAll('4711', `${job}.1`);
    const log = slurm.ended(slurm.submitted(lines));
    expect(log).toMatch(MISSING);
    expect(namesIn(slurm.shared('traces', `${job}.1`))).toContain('run.pftrace');
  });
});

it('no other block is marked as one that runs here', () => {
  const all = [...DOCUMENTS.matchAll(/^```sh (?:login|batch)\n([\s\S]*?)^```$/gm)];
  expect(all.map(([, lines]) => lines!).filter((lines) => !ran.has(lines))).toEqual([]);
});
