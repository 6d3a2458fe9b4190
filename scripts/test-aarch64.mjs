// Builds the native part for aarch64 and runs the recorder's tests of it under qemu's emulation: `npm run test:aarch64`.
//
// Needs Debian's g++-aarch64-linux-gnu and qemu-user; root with apt gets them installed. Skipped, with the reason, where
// they cannot be had. Bounded: 20 minutes.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
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
  run([process.execPath, 'scripts/build.mjs', '--machine=aarch64'], {});
  const tests = ['recorder', 'faults', 'settings', 'symbols'].map((name) => `test/recorder/${name}.test.ts`);
  run(
    [
      process.execPath,
      path.join('node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--testTimeout=300000',
      ...tests,
    ],
    {
      NCCL_TRACE_MACHINE: 'aarch64',
      NCCL_TRACE_RUNNER: `qemu-aarch64 -L ${LIBRARIES}`,
    },
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

function run([command, ...words], more) {
  const options = { cwd: root, env: { ...process.env, ...more }, stdio: 'inherit', timeout: 10 * MINUTE };
  const { status } = spawnSync(command, words, options);
  if (status !== 0) process.exit(status ?? 1);
}
