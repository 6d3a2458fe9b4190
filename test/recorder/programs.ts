/** Runs the native test programs: each is a process of its own, because the recorder is one per process. */

import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, type TestContext } from 'vitest';
import { builtNative, PROJECT } from '../support/jobs/native.js';

/** address, thread or undefined, after `npm run build:asan`, `build:tsan` or `build:ubsan`: tests that build instead. */
export const SANITIZER = process.env.NCCL_TRACE_SANITIZER ?? '';

/** A name of MACHINES in scripts/native.mjs, and what runs programs of it here: scripts/test-aarch64.mjs. */
const MACHINE = process.env.NCCL_TRACE_MACHINE ?? '';
const RUNNER = (process.env.NCCL_TRACE_RUNNER ?? '').split(' ').filter((word) => word !== '');
export const EMULATED = RUNNER.length > 0;

/** Skips the test at hand, saying why, if it needs what an emulator of one process (qemu-user) does not do. */
export function skipIfEmulated({ skip }: TestContext, needs: EmulatorLimit | undefined): void {
  if (EMULATED && needs !== undefined) skip(LIMITS[needs]);
}
export type EmulatorLimit = keyof typeof LIMITS;
const LIMITS = {
  fork: 'the emulator breaks off in the child of a process that has threads',
  start:
    'the emulator tells a process another start of itself than /proc tells others: neighbours take it for gone',
  stack:
    'the emulator keeps a table of all pages of a stack of 32 TiB, which exhausts the memory of the machine',
} as const;

const BUILD = path.join(PROJECT, 'build', MACHINE || SANITIZER);

export async function programFile(name: string): Promise<string> {
  if (MACHINE === '' && SANITIZER === '') await builtNative(name);
  return path.join(BUILD, name);
}

export const PLUGIN = await programFile('libnccl-profiler-trace.so');

export interface Outcome {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** `env` is all of the program's environment but PATH: nothing of ours may decide what it records. */
export async function run(
  program: string,
  args: readonly string[],
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Outcome> {
  const file = await programFile(program);
  return new Promise((done) => {
    const own = EMULATED ? { EMULATED: '1' } : {};
    // Whatever hangs does not outlive us for long: the test's own limit ends only the test.
    const options = { env: { PATH: process.env.PATH, ...own, ...env }, timeout: 7_200_000, cwd };
    const [command, ...rest] = [...RUNNER, file, ...args];
    execFile(command!, rest, options, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : (error.signal ?? error.code ?? 'unknown'), stdout, stderr });
    });
  });
}

/** The test passes or is skipped as its program says, with the program's reason. */
export function expectPassed(outcome: Outcome, { skip }: TestContext): void {
  const verdict = verdictOf(outcome);
  if (verdict === 'SKIPPED') skip(outcome.stdout.trimEnd().split('\n').at(-2));
  expect(verdict).toBe('PASSED');
}

/** The last line a program prints: PASSED, or SKIPPED where the machine does not allow the situation. */
export function verdictOf(outcome: Outcome): string {
  const last = outcome.stdout.trimEnd().split('\n').at(-1) ?? '';
  return outcome.code === 0 ? last : `${outcome.code}: ${outcome.stderr}`;
}

/** Where a busy disk delays nothing, if there is such a place and this user may write there. */
export const IN_MEMORY = (() => {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
})();

/** A folder that does not exist yet, below one that is removed afterwards. */
export async function inNewFolder<T>(
  use: (folder: string) => Promise<T>,
  place: string = tmpdir(),
): Promise<T> {
  const parent = mkdtempSync(path.join(place, 'nccl-trace-recorder-'));
  try {
    return await use(path.join(parent, 'run'));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Runs `program` with the plugin and a new folder. */
export async function passes(
  context: TestContext,
  command: readonly [program: string, ...more: string[]],
  env: Record<string, string> = {},
): Promise<void> {
  const [program, ...more] = command;
  skipIfEmulated(context, program === 'abuse' && more[0] === 'fork' ? 'fork' : undefined);
  await inNewFolder(async (folder) => {
    const outcome = await run(program, [PLUGIN, folder, ...more], { env });
    expectPassed(outcome, context);
  }, IN_MEMORY);
}
