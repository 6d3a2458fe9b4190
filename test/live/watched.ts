/** A job of the loopback, and `nccl-trace watch` beside it, in a process of its own as a user starts it. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { startRecording, type Recording } from '../support/jobs/loopback.js';
import { PROGRAM } from '../support/program/program.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

export interface Watched {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** ms since 1970, by line of `out`. */
  readonly saidAt: readonly number[];
}

export interface Watcher {
  readonly process: ChildProcess;
  readonly ended: Promise<Watched>;
  /** Waits until its standard output or error has this. */
  readonly says: (what: RegExp) => Promise<void>;
}

export const startWatch = (folder: string, ...args: string[]): Watcher => startWatchWith({}, folder, ...args);

/** `node`: options of Node itself. `settings`: of the environment. */
export function startWatchWith(
  { node = [], settings = {} }: { node?: readonly string[]; settings?: Readonly<Record<string, string>> },
  folder: string,
  ...args: string[]
): Watcher {
  const child = spawn(process.execPath, [...node, PROGRAM, 'watch', folder, ...args], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  const saidAt: number[] = [];
  child.stdout.on('data', (text: Buffer) => {
    out += text.toString();
    while (saidAt.length < out.split('\n').length - 1) saidAt.push(Date.now());
  });
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  return {
    process: child,
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, out, err, saidAt })),
    says: async (what) => {
      while (!what.test(out + err)) {
        if (child.exitCode !== null)
          throw new Error(`the watch ended without a word of ${what}: ${out}${err}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

/** A folder of each test, and the last job that was started in it, which ends with the test. */
export interface LiveJob {
  readonly folder: string;
  /** The directory of the rank files, in `folder`. */
  readonly recording: string;
  readonly start: (args: string, settings?: Readonly<Record<string, string>>) => Promise<Recording>;
  /** Ends the job. */
  readonly end: () => Promise<void>;
}

/** Its hooks are those of the file that calls it. */
export function liveJob(): LiveJob {
  let [folder, remove] = ['', (): void => undefined];
  let end = (): Promise<unknown> => Promise.resolve();
  beforeEach(() => {
    ({ folder, remove } = temporaryFolder());
  });
  afterEach(async () => {
    await end();
    remove();
  });
  return {
    get folder() {
      return folder;
    },
    get recording() {
      return path.join(folder, 'recording');
    },
    start: (args, settings) => {
      const job = startRecording(folder, args, settings);
      end = () => {
        job.end();
        return job.ended;
      };
      return job.ended;
    },
    end: async () => {
      await end();
    },
  };
}
