/** examples/slurm: the postmortem, and the epilog that leaves a verdict, with the recorded run of samples/hosts on the disks of two nodes. */

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import type { MergeReport } from '../../src/report/report.js';
import { builtNative, PROJECT } from '../support/jobs/native.js';
import { copyRanks, RECORDED, THE_COMMAND, writeCommand } from '../support/jobs/node_disks.js';
import { PROGRAM } from '../support/program/program.js';
import { namesIn } from '../support/program/names_in.js';
import { Slurm, until } from './slurm.js';

const example = (name: string): string => readFileSync(path.join(PROJECT, 'examples/slurm', name), 'utf8');

let slurm: Slurm;
beforeAll(async () => {
  slurm = new Slurm(
    {
      'job/postmortem.sbatch': example('postmortem.sbatch'),
      'tools/task_prolog.sh': example('task_prolog.sh'),
      'tools/epilog.sh': example('epilog.sh').replace('KEEP:-all', 'KEEP:-failed'),
    },
    { TASK_PROLOG: '/shared/tools/task_prolog.sh', EPILOG: '/shared/tools/epilog.sh' },
  );
  const [plugin] = await builtNative('libnccl-profiler-trace.so');
  copyFileSync(plugin, slurm.shared('tools/libnccl-profiler-trace.so'));
  useCommand(THE_COMMAND);
  copyRanks([0, 1], slurm.local('n1', 'run'));
  copyRanks([2, 3], slurm.local('n2', 'run'));
});
afterAll(() => {
  slurm.stop();
});

const useCommand = (lines: string): void => {
  writeCommand(slurm.shared('tools'), lines);
};

/** Returns the job's log. */
function postmortem(out: string, environment: Readonly<Record<string, string>> = {}): string {
  const lines = `sbatch --nodelist=n1,n2 postmortem.sbatch /local/run /shared/traces/${out}`;
  return slurm.ended(slurm.submitted(lines, { PATIENCE: '60', ...environment }));
}
const traced = (...names: string[]): string => slurm.shared('traces', ...names);

it.each(['ALL', 'NONE'])(
  'the trace equals that of merge, and the log has the verdict, under --export=%s',
  async (names) => {
    rmSync(traced('out'), { recursive: true, force: true });
    expect(postmortem('out', { SBATCH_EXPORT: names })).toContain('HEALTHY');
    expect(namesIn(traced('out'))).toEqual([
      ...['n1.part', 'n1.scan', 'n2.part', 'n2.scan'],
      ...['run.json', 'run.pftrace', 'run.study'],
    ]);
    const output = traced('merged.pftrace');
    await merge({ inputs: [RECORDED], output, texts: traceTexts, force: true });
    expect(readFileSync(traced('out/run.pftrace')).equals(readFileSync(output))).toBe(true);
  },
);

it('a task that is killed in mid-scan is started again', () => {
  const mark = slurm.shared('was-killed');
  // The first scan of n2 ends by SIGKILL while it works.
  useCommand(
    `if [ "$1" = scan ] && [ "$SLURMD_NODENAME" = n2 ] && [ ! -e /shared/was-killed ]; then touch /shared/was-killed; ` +
      `"${process.execPath}" "${PROGRAM}" "$@" & sleep 0.15; kill -9 $!; wait $!; exit 137; fi\n` +
      THE_COMMAND,
  );
  const log = postmortem('killed');
  useCommand(THE_COMMAND);
  expect(existsSync(mark)).toBe(true);
  expect(log).toContain('try 1 of 3: a node did not finish its .scan');
  expect(log).toMatch(/n1\.scan: is there, valid, and made of the same input: nothing to do/);
  const whole = readFileSync(traced('out/run.pftrace'));
  expect(readFileSync(traced('killed/run.pftrace')).equals(whole)).toBe(true);
  // A killed scan leaves a work folder, and the next one removes it.
  expect(readdirSync(traced('killed')).filter((entry) => entry.startsWith('.'))).toEqual([]);
});

/** The folder that the epilog leaves beside the log of the job. */
const left = (run: string, ...names: string[]): string => slurm.shared('job', `nccl-trace-${run}`, ...names);
const verdict = (run: string): string => readFileSync(left(run, 'verdict.txt'), 'utf8');

it('when a job fails, the epilog leaves the study and the verdict of its newest start beside its log', () => {
  // The ranks' files, as the recorder would leave them on the disks of the nodes: one start, and another after a requeue.
  const disk = '/local/scratch/root/nccl-trace/$SLURM_JOB_ID';
  const job = slurm.submitted(
    `sbatch --nodes=2 --ntasks-per-node=1 --wrap 'srun bash -c "mkdir -p ${disk} && cp -r /local/run ${disk}.1"; exit 1'`,
  );
  slurm.ended(job);
  expect(namesIn(left(`${job}.1`))).toEqual(['.lock', 'n1.scan', 'n2.scan', 'run.study', 'verdict.txt']);
  expect(verdict(`${job}.1`)).toMatch(/^HEALTHY[^]*4 ranks/);
});

const TRAIN = 'srun /shared/job/loopback --ranks 2 --iterations 3 --quiet';
const recorded = (job: string): string[] => namesIn(slurm.local('n1', 'scratch/root/nccl-trace', job));
const submit = (lines: string): string =>
  slurm.submitted('sbatch --nodelist=n1 --wrap "$LINES"', { LINES: lines });

it('a job that knows nothing of the recorder is recorded, and has a verdict when it fails', () => {
  const job = submit(`${TRAIN}; exit 1`);
  slurm.ended(job);
  expect(verdict(job)).toMatch(/^HEALTHY[^]*2 ranks/);
  expect(recorded(job)).toEqual(['rank00000.bin', 'rank00001.bin']);
});

it.each([
  ['%x/%j.out', (job: string) => `logs/train/nccl-trace-${job}`],
  // What Slurm does not expand for us is not made a folder.
  ['%5a/%j.out', (job: string) => `../traces/nccl-trace-${job}`],
])('the verdict is beside the log of --output=%s', (output, place) => {
  slurm.onLogin('mkdir -p logs/train logs/00003');
  const job = slurm.submitted('sbatch --nodelist=n1 --array=3 --job-name=train --wrap "$LINES"', {
    LINES: `${TRAIN}; exit 1`,
    SBATCH_OUTPUT: `/shared/job/logs/${output}`,
  });
  until(() => existsSync(slurm.shared('job', place(job), 'verdict.txt')));
  expect(namesIn(slurm.shared('job/logs'))).toEqual(['00003', 'train']);
});

it('the files of a job that does not fail are deleted, as KEEP=failed says', () => {
  const job = submit(`${TRAIN} && ls /local/scratch/root/nccl-trace/$SLURM_JOB_ID`);
  expect(slurm.ended(job)).toBe('rank00000.bin\nrank00001.bin\n');
  expect(recorded(job)).toEqual([]);
  expect(existsSync(left(job))).toBe(false);
});

it('those of a hanging job that somebody cancels are kept, though Slurm gives it the exit code 0', () => {
  const job = submit(`${TRAIN} --fault skip:1@1`);
  until(() => recorded(job).length === 2);
  slurm.onLogin(`scancel ${job}`);
  slurm.ended(job);
  expect(recorded(job)).toContain('rank00001.bin');
  expect(verdict(job)).toContain('2 ranks');
});

it('a job with a profiler of its own keeps it', () => {
  const job = submit(
    'export NCCL_PROFILER_PLUGIN=/own.so; srun printenv NCCL_PROFILER_PLUGIN NCCL_TRACE_DIR',
  );
  expect(slurm.ended(job)).toContain('/own.so\n');
});

// Most of its 20 s is waiting for the node.
it('a node that never comes leaves its ranks named as missing', () => {
  useCommand(`if [ "$SLURMD_NODENAME" = n2 ]; then sleep 600; fi\n${THE_COMMAND}`);
  postmortem('without', { TRIES: '1', PATIENCE: '10' });
  const { missingRanks, ranks } = JSON.parse(readFileSync(traced('without/run.json'), 'utf8')) as MergeReport;
  expect(missingRanks).toEqual([2, 3]);
  expect(ranks.map(({ rank }) => rank)).toEqual([0, 1]);
});
