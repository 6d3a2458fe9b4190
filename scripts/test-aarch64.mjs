// Builds the native part for aarch64 and runs the recorder's tests of it under qemu's emulation: `npm run test:aarch64`.
//
// Needs Debian's g++-aarch64-linux-gnu and qemu-user; root with apt gets them installed. Skipped, with the reason, where
// they cannot be installed. Bounded: 20 minutes for the build, 20 for the tests, and 10 where packages have to be installed.

import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { MACHINES } from './native.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const PROGRAMS = { [MACHINES.aarch64.compiler]: 'g++-aarch64-linux-gnu', 'qemu-aarch64': 'qemu-user' };
/** The C library of the other machine. */
const LIBRARIES = '/usr/aarch64-linux-gnu';
const MINUTE = 60_000;

const packages = missing();
if (packages.length > 0 && process.getuid?.() === 0) install(packages);
if (missing().length > 0) {
  console.error(`skipped: needs the packages ${missing().join(' and ')}`);
} else {
  await run([process.execPath, 'scripts/build.mjs', '--machine=aarch64'], {}, 20 * MINUTE);
  const names = ['recorder', 'sigkill', 'crowd', 'quiet', 'faults', 'settings', 'symbols'];
  const tests = names.map((name) => `test/recorder/${name}.`);
  await run(
    [
      process.execPath,
      path.join('node_modules', 'vitest', 'vitest.mjs'),
      'run',
      ...['--project', 'first', '--project', 'ci'],
      ...tests,
    ],
    {
      NCCL_TRACE_MACHINE: 'aarch64',
      NCCL_TRACE_RUNNER: `qemu-aarch64 -L ${LIBRARIES}`,
    },
    20 * MINUTE,
  );
}

function missing() {
  return Object.entries(PROGRAMS)
    .filter(([program]) => spawnSync(program, ['--version']).status !== 0)
    .map(([, name]) => name);
}

function install(names) {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env: environment, stdio: 'ignore', timeout: 5 * MINUTE };
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options);
}

/** In a process group of its own, so that after `limit` ms, or when we are stopped, its children end with it. */
async function run([command, ...args], more, limit) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...more },
    stdio: 'inherit',
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it has ended
    }
  };
  const stop = () => {
    end();
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  const timer = setTimeout(() => {
    console.error(`not done in ${limit / MINUTE} minutes`);
    end();
  }, limit);
  const status = await new Promise((done) => {
    child.once('error', () => done(1));
    child.once('exit', (code) => done(code ?? 1));
  });
  clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, stop);
  if (status !== 0) process.exit(status);
}
