/**
 * examples/slurm on a real Slurm of two nodes, which scripts/slurm-here.sh starts on this machine. Needs root, and Debian's
 * slurm-wlm and munge; without them it is skipped, and says so.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import type { MergeReport } from '../../src/report/report.js';
import { builtNative } from '../support/jobs/native.js';
import { copyRanks, RECORDED, THE_COMMAND, writeCommand } from '../support/jobs/node_disks.js';
import { PROGRAM } from '../support/program/program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const has = (command: string): boolean => spawnSync('which', [command]).status === 0;
const canStart = process.getuid?.() === 0 && ['slurmctld', 'slurmd', 'munged', 'srun'].every(has);
const name = canStart
  ? 'on a real Slurm of two nodes'
  : 'on a real Slurm: skipped, because it needs root and the packages slurm-wlm and munge';

const [plugin, loopback] = canStart
  ? await builtNative('libnccl-profiler-trace.so', 'nccl-trace-loopback')
  : ['', ''];

describe.skipIf(!canStart)(name, { timeout: 300_000 }, () => {
  const folder = canStart ? mkdtempSync(path.join(tmpdir(), 'nccl-trace-real-slurm-')) : '';
  const slurm = path.join(folder, 'slurm');
  const script = path.join(root, 'scripts/slurm-here.sh');
  let env: NodeJS.ProcessEnv = {};

  beforeAll(() => {
    const port = 20_000 + (process.pid % 10_000);
    const output = execFileSync(script, ['start', slurm, String(port)], {
      encoding: 'utf8',
      env: { ...process.env, EPILOG: onThisSlurm('epilog.sh'), TASK_PROLOG: onThisSlurm('task_prolog.sh') },
    });
    copyFileSync(plugin, path.join(folder, 'libnccl-profiler-trace.so'));
    const conf = /SLURM_CONF=(.*)/.exec(output)![1]!;
    writeCommand(folder);
    // Slim images have none; where there is one, the epilog finds it first.
    const runuser = '#!/bin/bash\nshift 3\nexec "$@"\n';
    writeFileSync(path.join(folder, 'bin/runuser'), runuser, { mode: 0o755 });
    env = { ...process.env, SLURM_CONF: conf, TOOLS: folder, PATIENCE: '60' };
    // Two ranks on each node's own disk.
    copyRanks([0, 1], path.join(folder, 'disks/n1'));
    copyRanks([2, 3], path.join(folder, 'disks/n2'));
  });
  afterAll(() => {
    execFileSync(script, ['stop', slurm]);
    rmSync(folder, { recursive: true });
  });

  /** A script of examples/slurm with the settings of this Slurm, whose nodes share their disks. */
  function onThisSlurm(script: string): string {
    const file = path.join(folder, script);
    writeFileSync(
      file,
      `#!/bin/bash\nexport TOOLS="${folder}" TRACES="${folder}/traces" FROM="${folder}/disks/$SLURMD_NODENAME" KEEP=failed\n` +
        `export PATH="$PATH:${folder}/bin"\n` +
        `exec "${path.join(root, 'examples/slurm', script)}"\n`,
      { mode: 0o755 },
    );
    return file;
  }

  /** Runs a script as a job that ends in due time. Returns its id, and the folder of its logs. */
  function batch(lines: string, ...args: readonly string[]): { job: string; logs: string } {
    const logs = mkdtempSync(path.join(folder, 'logs-'));
    const all = ['--parsable', ...args, `--output=${logs}/%j.log`, `--wrap=${lines}`];
    return { job: execFileSync('sbatch', all, { env, encoding: 'utf8' }).trim(), logs };
  }

  /** Waits until it is so, for 30 s at most. */
  function awaitThat(isSo: () => boolean): void {
    for (let i = 0; i < 300 && !isSo(); i++) wait();
  }

  const isIn = (file: string, text: string): boolean =>
    existsSync(file) && readFileSync(file, 'utf8').includes(text);

  /** Returns the job's log. */
  function postmortem(out: string, disks = 'disks'): string {
    const log = path.join(folder, `${path.basename(out)}.log`);
    // sbatch --wait asks every half minute.
    const job = execFileSync(
      'sbatch',
      [
        ...['--parsable', '--nodelist=n1,n2', '--nodes=2', `--output=${log}`, '--open-mode=append'],
        ...[path.join(root, 'examples/slurm/postmortem.sbatch'), path.join(folder, disks, '%N'), out],
      ],
      { env, encoding: 'utf8' },
    ).trim();
    while (stateOf(job) !== 'done') wait();
    return readFileSync(log, 'utf8');
  }

  function stateOf(job: string): 'done' | 'running' {
    const state = execFileSync('squeue', ['-h', '-o', '%T', '-j', job], { env, encoding: 'utf8' }).trim();
    return state === '' || /COMPLETED|FAILED|CANCELLED|TIMEOUT/.test(state) ? 'done' : 'running';
  }

  const summaryIn = (out: string): MergeReport =>
    JSON.parse(readFileSync(path.join(out, 'run.json'), 'utf8')) as MergeReport;

  it('the trace equals that of merge, and the log has the verdict', async () => {
    const out = path.join(folder, 'out');
    const log = postmortem(out);
    expect(log).toContain('HEALTHY');
    expect(readdirSync(out).sort()).toEqual([
      ...['n1.part', 'n1.scan', 'n2.part', 'n2.scan'],
      ...['run.json', 'run.pftrace', 'run.study'],
    ]);
    const output = path.join(folder, 'merged.pftrace');
    await merge({ inputs: [RECORDED], output, texts: traceTexts });
    expect(readFileSync(path.join(out, 'run.pftrace')).equals(readFileSync(output))).toBe(true);
  });

  it('a task that is killed in mid-scan is started again', () => {
    const out = path.join(folder, 'killed');
    const mark = path.join(folder, 'was-killed');
    // The first scan of n2 ends by SIGKILL while it works.
    writeCommand(
      folder,
      `if [ "$1" = scan ] && [ "$SLURMD_NODENAME" = n2 ] && [ ! -e "${mark}" ]; then touch "${mark}"; ` +
        `"${process.execPath}" "${PROGRAM}" "$@" & sleep 0.15; kill -9 $!; wait $!; exit 137; fi\n` +
        THE_COMMAND,
    );
    const log = postmortem(out);
    expect(existsSync(mark)).toBe(true);
    expect(log).toContain('try 1 of 3: a node did not finish its .scan');
    expect(log).toMatch(/n1\.scan: is there, valid, and made of the same input: nothing to do/);
    const whole = readFileSync(path.join(folder, 'out/run.pftrace'));
    expect(readFileSync(path.join(out, 'run.pftrace')).equals(whole)).toBe(true);
    // A killed scan leaves a work folder, and the next one removes it.
    expect(readdirSync(out).filter((entry) => entry.startsWith('.'))).toEqual([]);
  });

  it('when a job fails, the epilog leaves the study and the verdict of its newest start beside its log', () => {
    // The ranks' files, as the recorder would leave them on the disks of the nodes: one start, and another after a requeue.
    const files = ['n1 0 1', 'n2 2 3'].map((line) => {
      const [node, ...ranks] = line.split(' ') as [string, string, string];
      const disk = `${path.join(folder, 'disks', node)}/$SLURM_JOB_ID`;
      return `mkdir -p ${disk} ${disk}.1; cp ${ranks.map((rank) => path.join(RECORDED, `rank0000${rank}.bin`)).join(' ')} ${disk}.1;`;
    });
    const { job, logs } = batch(`${files.join(' ')} exit 1`, '--nodes=2');
    const out = path.join(logs, `nccl-trace-${job}.1`);
    const verdict = path.join(out, 'verdict.txt');
    awaitThat(() => isIn(verdict, '4 ranks'));
    expect(readdirSync(out).sort()).toEqual(['.lock', 'n1.scan', 'n2.scan', 'run.study', 'verdict.txt']);
    expect(readFileSync(verdict, 'utf8')).toContain('HEALTHY');
  });

  describe('with the task prolog', () => {
    const train = (iterations: number): string =>
      `srun "${loopback}" --ranks 2 --iterations ${iterations} --quiet`;
    const recorded = (job: string): string => path.join(folder, 'disks/n1', job);

    it('a job that knows nothing of the recorder is recorded, and has a verdict when it fails', () => {
      const { job, logs } = batch(`${train(3)}; exit 1`, '--nodelist=n1', '--ntasks=1');
      const verdict = path.join(logs, `nccl-trace-${job}`, 'verdict.txt');
      awaitThat(() => isIn(verdict, '2 ranks'));
      expect(readFileSync(verdict, 'utf8')).toContain('HEALTHY');
      expect(readdirSync(recorded(job))).toEqual(['rank00000.bin', 'rank00001.bin']);
    });

    it('the files of a job that does not fail are deleted, as KEEP=failed says', () => {
      const { job, logs } = batch(`${train(3)} && ls "${recorded('$SLURM_JOB_ID')}"`, '--nodelist=n1');
      awaitThat(() => stateOf(job) === 'done' && !existsSync(recorded(job)));
      expect(readFileSync(path.join(logs, `${job}.log`), 'utf8')).toBe('rank00000.bin\nrank00001.bin\n');
      expect(existsSync(recorded(job))).toBe(false);
      expect(readdirSync(logs)).toEqual([`${job}.log`]);
    });

    it('a job with a profiler of its own keeps it', () => {
      const own = 'export NCCL_PROFILER_PLUGIN=/own.so; srun printenv NCCL_PROFILER_PLUGIN NCCL_TRACE_DIR';
      const { job, logs } = batch(own, '--nodelist=n1');
      awaitThat(() => stateOf(job) === 'done');
      expect(readFileSync(path.join(logs, `${job}.log`), 'utf8')).toContain('/own.so\n');
    });
  });

  // Most of its 20 s is waiting for the node.
  it('a node that never comes leaves its ranks named as missing', () => {
    const out = path.join(folder, 'without');
    writeCommand(folder, `if [ "$SLURMD_NODENAME" = n2 ]; then sleep 600; fi\n${THE_COMMAND}`);
    env = { ...env, TRIES: '1', PATIENCE: '10' };
    postmortem(out);
    const { missingRanks, ranks } = summaryIn(out);
    expect(missingRanks).toEqual([2, 3]);
    expect(ranks.map(({ rank }) => rank)).toEqual([0, 1]);
  });
});

/** A tenth of a second. */
function wait(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
