/** `metrics` beside real jobs in a world that fails: it is stopped, its directory vanishes, a rank file is replaced, a disk is full. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startRecording, type Running } from '../support/jobs/loopback.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

let folder: string;
let remove: () => void;
let job: Running | undefined;
let child: ChildProcess | undefined;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(async () => {
  // The shell has children of its own.
  if (child?.exitCode === null)
    process.kill(child.spawnfile === 'unshare' ? -child.pid! : child.pid!, 'SIGKILL');
  job?.end();
  await job?.ended;
  [job, child] = [undefined, undefined];
  remove();
});

const LOOP = '--ranks 2 --iterations 100000 --ops allreduce:64K,sleep:20ms --timeout 240';
const recording = (): string => path.join(folder, 'recording');

async function start(): Promise<() => Promise<string>> {
  const args = ['metrics', recording(), '--listen', '127.0.0.1:0', '--every', '1'];
  child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said] = (await once(child.stderr!, 'data')) as [Buffer];
  const url = /http:\S+/.exec(said.toString())![0];
  return async () => (await fetch(url)).text();
}

async function until(text: () => Promise<string>, what: RegExp): Promise<string> {
  for (;;) {
    const now = await text();
    if (what.test(now)) return now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const counted = (text: string): number =>
  [...text.matchAll(/^nccl_trace_collectives_(?:total|unseen_total)\{.*\} (\d+)$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );

it('its own stop, a directory that is away for a while, and another run in the same files', async () => {
  job = startRecording(folder, LOOP);
  const text = await start();
  const first = await until(text, /collectives_total\{.*outcome="complete"\} \d/);
  child!.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  child!.kill('SIGCONT');
  const looks = (now: string): number => Number(/looks_total\{.*\} (\d+)/.exec(now)![1]);
  let later = await text();
  while (looks(later) <= looks(first)) later = await until(text, /looks_total/);
  expect(counted(later)).toBeGreaterThan(counted(first));
  renameSync(recording(), path.join(folder, 'elsewhere'));
  expect(await until(text, /^nccl_trace_processes 0$/m)).not.toContain('collectives_total');
  renameSync(path.join(folder, 'elsewhere'), recording());
  await until(text, /^nccl_trace_processes\{.*\} 2$/m);
  const [, run] = /run_info\{run="([^"]+)"/.exec(await text())!;
  job.end();
  await job.ended;
  job = startRecording(folder, LOOP);
  const next = await until(text, /process_state\{.*rank="1",state="runs"\} 1[^]*collectives_total/);
  expect(next).toMatch(/run_info/);
  expect(next).not.toContain(`run="${run}"`);
  expect(counted(next)).toBeLessThan(counted(later));
});

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
it.skipIf(!canMount)(
  'a full disk: the text of before stays whole, and is replaced when there is room',
  async () => {
    job = startRecording(folder, LOOP);
    // The disk is filled when there is a first text, and freed when the exporter has complained.
    const script = `
    mount -t tmpfs -o size=1m none /mnt
    "$0" "$1" metrics "$2" --textfile /mnt/nccl.prom --every 1 2> "$3/said" &
    until grep -q collectives_total /mnt/nccl.prom 2>/dev/null; do sleep 0.1; done
    dd if=/dev/zero of=/mnt/full bs=4096 2>/dev/null
    until grep -q 'the disk is full' "$3/said"; do sleep 0.1; done
    tail -n 1 /mnt/nccl.prom; ls /mnt | tr '\\n' ' '
    rm /mnt/full; before=$(stat -c %Y%i /mnt/nccl.prom)
    while [ "$before" = "$(stat -c %Y%i /mnt/nccl.prom)" ]; do sleep 0.1; done
    kill $!; wait $!; echo "ended $?"`;
    const args = ['-rm', 'sh', '-c', script, process.execPath, PROGRAM, recording(), folder];
    const shell = (child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true }));
    let out = '';
    shell.stdout.on('data', (more: Buffer) => (out += more.toString()));
    await once(shell, 'close');
    expect(out).toMatch(/^nccl_trace_\S+ \S+\nfull nccl.prom \S*\s*ended 143\n$/);
  },
);
