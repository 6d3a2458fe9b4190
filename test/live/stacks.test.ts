/** Stacks are taken by one debugger, and no process stands still for longer than a second unless that is asked for. */

import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processFacts } from '../../src/live/process_facts.js';
import { hasFrames, stacksOf } from '../../src/live/stacks.js';
import { processNow, type WrittenFile } from '../../src/rankfile/index.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const { PATH } = process.env;
let folder: string;
let remove: () => void;
let child: ChildProcess;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
  process.env.PATH = `${path.join(folder, 'bin')}:${PATH}`;
  mkdirSync(path.join(folder, 'bin'));
});
afterEach(() => {
  child.kill('SIGKILL');
  process.env.PATH = PATH;
  remove();
});

function debuggers(bodies: Readonly<Record<string, string>>): void {
  for (const [name, body] of Object.entries(bodies)) {
    const file = path.join(folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
  }
}

/** Waits until the program has been loaded. */
async function start(program: string, ...args: string[]): Promise<WrittenFile> {
  child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout!.once('data', resolve));
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const identity = {
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', ''),
    pidNamespace: BigInt(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0]),
    pid: child.pid!,
    startTime: BigInt(fields[19]!),
  };
  return { path: folder, header: { process: identity, tag: 1n, snapshotRealtime: null } };
}

const PYTHON = ['python3', '-c', 'import time; print(1, flush=True); time.sleep(100)'] as const;
const NATIVE = ['sh', '-c', 'echo 1; exec sleep 100'] as const;

it('of a Python process py-spy alone is asked, not to stop it', async () => {
  debuggers({ 'py-spy': 'echo "py-spy $*"', gdb: 'echo gdb' });
  const one = await start(...PYTHON);
  expect(await stacksOf(one, 'auto')).toEqual({
    ...{ by: 'py-spy', text: `py-spy dump --nonblocking --pid ${one.header.process.pid}\n`, why: null },
  });
});

it('of any other process gdb is asked, and of a Python process, too, if the user says so', async () => {
  debuggers({ 'py-spy': 'echo py-spy', gdb: 'echo gdb' });
  expect(await stacksOf(await start(...NATIVE), 'auto')).toEqual({ by: 'gdb', text: 'gdb\n', why: null });
  child.kill('SIGKILL');
  expect(await stacksOf(await start(...PYTHON), 'gdb')).toMatchObject({ by: 'gdb' });
});

it('a debugger that stops the process for longer than a second is ended, and the process goes on', async () => {
  const pid = path.join(folder, 'pid');
  debuggers({ gdb: `echo begun; kill -STOP $(cat ${pid}); exec sleep 3600` });
  const one = await start(...NATIVE);
  writeFileSync(pid, String(one.header.process.pid));
  const stacks = await stacksOf(one, 'auto');
  expect(stacks).toMatchObject({
    by: 'gdb',
    text: 'begun\n',
    why: expect.stringContaining('ended before') as string,
  });
  expect(hasFrames(stacks!)).toBe(false);
  expect(processNow(one)).toBe('runs');
});

it('without a debugger, and of a process that has ended, there are none', async () => {
  process.env.PATH = path.join(folder, 'bin');
  const one = await start('/bin/sh', '-c', 'echo 1; exec /bin/sleep 100');
  expect(await stacksOf(one, 'auto')).toBeNull();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  debuggers({ gdb: 'echo gdb' });
  expect(await stacksOf(one, 'auto')).toBeNull();
  expect(await processFacts(one.header.process.pid)).toBeNull();
});
