/**
 * examples/slurm on a real Slurm of two nodes, which scripts/slurm-here.sh starts on this machine. Needs root, and Debian's
 * slurm-wlm and munge; without them it is skipped, and says so.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
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
import { copyRanks, RECORDED, THE_COMMAND, writeCommand } from '../support/node_disks.js';
import { PROGRAM } from '../support/program.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const has = (command: string): boolean => spawnSync('which', [command]).status === 0;
const canStart = process.getuid?.() === 0 && ['slurmctld', 'slurmd', 'munged', 'srun'].every(has);
const name = canStart
  ? 'on a real Slurm of two nodes'
  : 'on a real Slurm: skipped, because it needs root and the packages slurm-wlm and munge';

describe.skipIf(!canStart)(name, { timeout: 300_000 }, () => {
  const folder = canStart ? mkdtempSync(path.join(tmpdir(), 'nccl-trace-real-slurm-')) : '';
  const slurm = path.join(folder, 'slurm');
  const script = path.join(root, 'scripts/slurm-here.sh');
  let env: NodeJS.ProcessEnv = {};

  beforeAll(() => {
    const port = 20_000 + (process.pid % 10_000);
    const epilog = path.join(folder, 'epilog.sh');
    writeFileSync(
      epilog,
      `#!/bin/bash\nexport TOOLS="${folder}" TRACES="${folder}/traces" FROM="${folder}/disks/$SLURMD_NODENAME"\n` +
        `export PATH="$PATH:${folder}/bin"\n` +
        `exec "${path.join(root, 'examples/slurm/epilog.sh')}"\n`,
      { mode: 0o755 },
    );
    const output = execFileSync(script, ['start', slurm, String(port)], {
      encoding: 'utf8',
      env: { ...process.env, EPILOG: epilog },
    });
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
    while (stateOf(job) !== 'done') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
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

  it('when a job fails, the epilog leaves its study and the verdict beside its log', () => {
    const logs = path.join(folder, 'logs');
    mkdirSync(logs);
    // The ranks' files, as the recorder would leave them on the disks of the nodes.
    const files = ['n1 0 1', 'n2 2 3'].map((line) => {
      const [node, ...ranks] = line.split(' ') as [string, string, string];
      const disk = `${path.join(folder, 'disks', node)}/$SLURM_JOB_ID`;
      return `mkdir -p ${disk}; cp ${ranks.map((rank) => path.join(RECORDED, `rank0000${rank}.bin`)).join(' ')} ${disk};`;
    });
    const args = ['--parsable', '--nodes=2', `--output=${logs}/%j.log`, `--wrap=${files.join(' ')} exit 1`];
    const job = execFileSync('sbatch', args, { env, encoding: 'utf8' }).trim();
    const out = path.join(logs, `nccl-trace-${job}`);
    const verdict = path.join(out, 'verdict.txt');
    for (
      let i = 0;
      i < 300 && !(existsSync(verdict) && readFileSync(verdict, 'utf8').includes('4 ranks'));
      i++
    )
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    expect(readdirSync(out).sort()).toEqual(['.lock', 'n1.scan', 'n2.scan', 'run.study', 'verdict.txt']);
    expect(readFileSync(verdict, 'utf8')).toContain('HEALTHY');
  });

  // Most of its 20 s is waiting for the node.
  it.runIf(process.env.NCCL_TRACE_LONG === '1')(
    'a node that never comes leaves its ranks named as missing',
    () => {
      const out = path.join(folder, 'without');
      writeCommand(folder, `if [ "$SLURMD_NODENAME" = n2 ]; then sleep 600; fi\n${THE_COMMAND}`);
      env = { ...env, TRIES: '1', PATIENCE: '10' };
      postmortem(out);
      const { missingRanks, ranks } = summaryIn(out);
      expect(missingRanks).toEqual([2, 3]);
      expect(ranks.map(({ rank }) => rank)).toEqual([0, 1]);
    },
  );
});
