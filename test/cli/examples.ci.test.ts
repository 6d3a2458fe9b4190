/** The scripts in examples/ that act on the exit code of a verdict (docs/exit-codes.md). */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runHere } from '../support/program/command_line.js';
import { LOOPBACK, PLUGIN } from '../support/jobs/loopback.js';
import { THE_COMMAND, writeCommand } from '../support/jobs/node_disks.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sample = (name: string): string => path.join(root, 'samples', name);

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  writeCommand(folder);
});

const codeOf = async (...args: string[]): Promise<number> => (await runHere(folder, ...args)).code;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function script(
  name: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<Ended> {
  const env = { ...settings, PATH: `${folder}/bin:${process.env.PATH}`, NCCL_TRACE_RING_DIR: 'none' };
  const child = spawn('bash', [path.join(root, 'examples', name), ...args], { cwd: folder, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

const watched = (job: string): Promise<Ended> =>
  script('torchrun/watched.sh', [LOOPBACK, ...job.split(' '), '--quiet'], {
    ...{ EVERY: '1', GRACE: '5', NCCL_PROFILER_PLUGIN: PLUGIN },
  });

it('watched.sh ends a job that hangs, with its files and the verdict', async () => {
  const { code, err } = await watched('--ranks 3 --fault kill:2@2 --hang-seconds 100');
  expect(err).toMatch(/Z {2}HUNG: AllReduce seq \d+ on .* rank 2 fell silent/m);
  expect(code).toBe(5);
  const [start] = readdirSync(path.join(folder, 'nccl-trace')).sort();
  const [incident] = readdirSync(path.join(folder, 'nccl-trace', start!, 'incidents'));
  const copies = path.join('nccl-trace', start!, 'incidents', incident!);
  expect(await codeOf('inspect', copies, '--fail-on', 'hung')).toBe(5);
});

it('watched.sh hands on the exit code of a job that ends by itself', async () => {
  expect(await watched('--ranks 2')).toMatchObject({ code: 0, out: '' });
  const seven = await script('torchrun/watched.sh', ['bash', '-c', 'sleep 2; exit 7'], { EVERY: '1' });
  expect(seven.code).toBe(7);
});

it('liveness.sh fails for a hang alone, and keeps the files', async () => {
  const probe = (run: string): Promise<Ended> => {
    writeFileSync(path.join(folder, 'started'), run);
    return script('kubernetes/liveness.sh', [], { STARTED: path.join(folder, 'started') });
  };
  cpSync(sample('hang'), path.join(folder, 'hang'), { recursive: true });
  const failed = await probe(path.join(folder, 'hang'));
  expect(failed).toMatchObject({ code: 1, out: expect.stringMatching(/^HUNG /) as string });
  expect(readdirSync(path.join(folder, 'hang.hung'))).toContain('rank00000.bin');
  expect(await probe(path.join(folder, 'hang'))).toMatchObject({ code: 1 });
  for (const fine of [sample('healthy'), sample('straggler'), path.join(folder, 'none')])
    expect(await probe(fine)).toMatchObject({ code: 0 });
  const env = { STARTED: path.join(folder, 'nothing') };
  expect(await script('kubernetes/liveness.sh', [], env)).toMatchObject({ code: 0 });
});

it('epilog.sh writes the verdict of a failed job into the log of the system', async () => {
  const command = (name: string, lines: string): void => {
    writeFileSync(path.join(folder, 'bin', name), `#!/bin/bash\n${lines}\n`, { mode: 0o755 });
  };
  // The epilog puts the system's folders first. Functions come before them.
  const functions = path.join(folder, 'functions');
  writeFileSync(
    functions,
    `runuser() { shift 3; "$@"; }; timeout() { shift; "$@"; }; logger() { echo "$*" >> "${folder}/syslog"; }; export -f runuser timeout logger\n`,
  );
  command('nccl-trace', THE_COMMAND);
  const ended = (job: string): Promise<Ended> =>
    script('slurm/epilog.sh', [], {
      ...{ BASH_ENV: functions, SLURM_JOB_ID: job, SLURM_JOB_USER: 'user', SLURM_JOB_EXIT_CODE: '256' },
      ...{ TOOLS: folder, TRACES: path.join(folder, 'traces'), FROM: path.join(folder, 'local') },
    });
  mkdirSync(path.join(folder, 'local'));
  symlinkSync(sample('hang'), path.join(folder, 'local/1'));
  symlinkSync(sample('healthy'), path.join(folder, 'local/2'));
  expect((await ended('1')).code).toBe(0);
  expect((await ended('2')).code).toBe(0);
  expect(readFileSync(path.join(folder, 'syslog'), 'utf8')).toMatch(/^-t nccl-trace job 1: HUNG .*\n$/);
  expect(readFileSync(path.join(folder, 'traces/nccl-trace-2/verdict.txt'), 'utf8')).toMatch(/^HEALTHY /);
});
