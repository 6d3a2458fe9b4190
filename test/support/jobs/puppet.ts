/** A recorded process that the test controls line by line (native/test/puppet.cc). */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Wrapper } from '../program/other_time.js';
import { builtNative } from './native.js';

const [PLUGIN, PROGRAM] = await builtNative('libnccl-profiler-trace.so', 'puppet');

export interface Puppet {
  readonly process: ChildProcess;
  /** Sends one line. The answer comes when the line has been done. */
  readonly tell: (line: string) => Promise<string>;
  /** Finalizes and ends. */
  readonly end: () => Promise<void>;
  readonly kill: () => Promise<void>;
}

/** `wrapper`: words before its command line (other_time.ts, two_users.ts). Its rings are small: those of the usual size take a second to make. */
export function startPuppet(env: Readonly<Record<string, string>>, wrapper: Wrapper = []): Puppet {
  const [program, ...args] = [...wrapper, PROGRAM, PLUGIN];
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, NCCL_TRACE_RING_MB: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    async tell(line) {
      child.stdin.write(`${line}\n`);
      return String((await lines.next()).value);
    },
    async end() {
      child.stdin.end();
      await exit;
    },
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
