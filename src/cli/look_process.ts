/** Starts the process of a look at the records (look.ts), and waits for its answer; and follows a job with such looks until it is interrupted. */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SeenJob } from '../live/seen_job.js';
import { watch, type Look } from '../live/watch.js';
import type { LookRequest } from './look.js';

/** ms: a thousand full files on a slow disk take a minute or two. */
const LOOK_AT_MOST = 600_000;
/**
 * The records lie in the kernel's memory, and little else lives long: so a heap of little young garbage, collected by the thread that makes it,
 * and an allocator that gives large blocks back at once. For eight full ranks that are over, 130 MiB instead of 175; for live ones a tenth
 * less processor time.
 */
const SMALL_HEAP = ['--max-semi-space-size=1', '--single-threaded'];
const GIVES_BACK = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' };

export function lookProcess(request: LookRequest, interrupt: AbortSignal): Promise<Look> {
  return new Promise((done, fail) => {
    const began = performance.now();
    const child = fork(fileURLToPath(new URL('../cli/look.js', import.meta.url)), [], {
      execArgv: SMALL_HEAP,
      env: { ...process.env, ...GIVES_BACK },
      timeout: LOOK_AT_MOST,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const stop = (): void => {
      child.kill('SIGTERM');
    };
    interrupt.addEventListener('abort', stop, { once: true });
    let answer: Look | undefined;
    let complaint = '';
    child.stderr?.on('data', (text: Buffer) => (complaint = (complaint + text.toString()).slice(-1000)));
    child.on('message', (message: Look) => (answer = message));
    child.on('error', fail);
    child.on('close', (code, signal) => {
      interrupt.removeEventListener('abort', stop);
      const why = `a look at the records ended with ${signal ?? code}: ${complaint.trim().split('\n').at(-1)}`;
      done(answer ?? { found: why, cpu: performance.now() - began, progress: [], work: null });
    });
    child.send(request);
  });
}

/** What is said of a job goes to `job`, and no verdict is told. Throws as `watch`. */
export const followJob = (
  folder: string,
  { run, every, hungAfter }: Followed,
  job: SeenJob,
  onNote: (text: string) => void,
  interrupt: AbortSignal,
): Promise<unknown> =>
  watch({
    ...{ folder, run, every: every * 1000, hungAfter, linger: Infinity, onNote, interrupt },
    look: (wanted) => lookProcess({ ...wanted, hungAfter, counted: job.work.counted }, interrupt),
    onSight: (sight) => {
      job.see(sight);
    },
    onLook: (look) => {
      job.take(look);
    },
  });

export interface Followed {
  readonly run?: string;
  /** s */
  readonly every: number;
  readonly hungAfter?: number;
}
