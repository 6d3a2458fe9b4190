/**
 * Runs the two per-file passes, on worker threads or on this one. Results are in the order of the jobs, so the trace does not
 * depend on the number of workers.
 */

import { statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
// No result depends on it.
// eslint-disable-next-line no-restricted-imports
import { execArgv } from 'node:process';
import type { Piscina } from 'piscina';
import { RankFileError } from '../base/errors.js';
import { codeOf } from '../base/reason.js';
import { interruptedBy, withWorkFolder } from '../output/work_folder.js';
import { openRankFileHeader } from '../rankfile/index.js';
import { forgetSpare } from '../scan/scan.js';
import { runTask, type Outcome, type Task } from './task.js';

export interface Workers {
  /** One task after the other, so what they write for this merge can be one file. To make a file takes longer than to fill it. */
  readonly inTurn: boolean;
  run(tasks: readonly Task[], onDone?: () => void): Promise<Outcome[]>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  /** How many files at once; 1 means on this thread. Default: as many as pay off. */
  readonly jobs?: number | undefined;
  /** Ends the workers in the middle of their work. */
  readonly interrupt?: AbortSignal | undefined;
}

/** The launcher found a limit of addresses (bin/nccl-trace.js). V8 reserves some for each thread, and ends the process if it gets none. */
const IS_CRAMPED = execArgv.includes('--disable-wasm-trap-handler');

/** For work that reads each file once. The workers, and the work folder, are gone when it ends. */
export async function withWorkers<T>(
  files: readonly string[],
  options: WorkerOptions,
  use: (workers: Workers, folder: string) => Promise<T>,
): Promise<T> {
  const workers = startWorkers(files, 1, options);
  try {
    return await withWorkFolder(tmpdir(), options.interrupt, (folder) => use(workers, folder));
  } finally {
    await workers.close();
  }
}

/** `passes`: how often each file is read. */
export function startWorkers(
  files: readonly string[],
  passes: 1 | 2,
  { jobs, interrupt }: WorkerOptions,
): Workers {
  const wanted = IS_CRAMPED
    ? 1
    : (jobs ?? threadsFor(ringBytesAlike(files) * passes, availableParallelism()));
  const threadCount = Math.max(1, Math.min(wanted, files.length));
  const workers = threadCount === 1 ? inline(passes, interrupt) : threads(threadCount);
  interrupt?.addEventListener('abort', () => void workers.close(), { once: true });
  return workers;
}

/**
 * V8 compiles a thread's code and collects its garbage on helper threads, so in its first seconds a thread takes two CPUs. Where all CPUs
 * have enough to do after that, each gets a thread.
 */
export function threadsFor(ringBytes: number, cpus: number): number {
  const atOnce = ringBytes < cpus * ENOUGH_BYTES ? Math.ceil(cpus / 2) : cpus;
  return Math.min(atOnce, Math.ceil(ringBytes / WORTHWHILE_BYTES));
}

/**
 * Measured on two CPUs, two threads against one. `inspect` of 0.65, 1.3 and 2.6 GB of full rings in files of 40 MB: wall time 0, 9 and 21 %
 * less (0 to 13 % for 0.65 GB in 1,024 files), CPU time 33, 30 and 15 % more. `merge --detail step` of 0.65 and 1.3 GB, read twice: wall time 9 and 22 % less, CPU time 31 and 17 % more.
 */
const ENOUGH_BYTES = 640e6;

/** A thread compiles everything once more: 0.9 s of CPU time, as much as reading these takes. */
const WORTHWHILE_BYTES = 256e6;

/** A byte of compressed chunks holds about as many records as this many bytes of a ring: 4 to 5 bytes per record against 60 to 100. */
const CHUNK_BYTE = 14;

/** How many bytes of full rings would be as much work. The largest file shows how the files of a run were recorded. */
export function ringBytesAlike(files: readonly string[]): number {
  let total = 0;
  let largest = { file: '', bytes: 0 };
  for (const file of files) {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    total += bytes;
    if (bytes > largest.bytes) largest = { file, bytes };
  }
  const chunkBytes = largest.bytes - ringBytesOf(largest.file, largest.bytes);
  return total + (total / largest.bytes || 0) * chunkBytes * (CHUNK_BYTE - 1);
}

/** About: the rings take a little less than their budget. All of a file that cannot be read; what is wrong is said when it is scanned. */
function ringBytesOf(file: string, bytes: number): number {
  try {
    const { mode, ringBytes } = openRankFileHeader(file);
    return mode === 'stream' ? Math.min(ringBytes, bytes) : bytes;
  } catch (error) {
    if (!(error instanceof RankFileError)) throw error;
    return bytes;
  }
}

/** Yields between two files, so that Ctrl-C is handled. The remaining files are then not begun. */
function inline(passes: 1 | 2, interrupt: AbortSignal | undefined): Workers {
  let closed = false;
  return {
    inTurn: true,
    run: async (tasks, onDone) => {
      const outcomes: Outcome[] = [];
      for (const task of tasks) {
        if (closed) throw interruptedBy(interrupt);
        outcomes.push(await runTask(task));
        onDone?.();
        await new Promise(setImmediate);
      }
      if (passes === 1) forgetSpare();
      return outcomes;
    },
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
}

/** Most runs are small and need no threads, so the pool's code is loaded only when needed. */
function threads(maxThreads: number): Workers {
  const started = startPool(maxThreads);
  return {
    inTurn: false,
    run: async (tasks, onDone) => {
      const pool = await started;
      return Promise.all(
        tasks.map(async (task) => {
          const outcome = await pool.run(task).catch((error: unknown) => withoutMemory(error, task));
          onDone?.();
          return outcome;
        }),
      );
    },
    close: async () => (await started).destroy(),
  };
}

/** The pool starts another thread in place of the one that ended, and goes on with the other files. */
function withoutMemory(error: unknown, task: Task): Outcome {
  if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
  const path = task.pass === 'scan' ? task.path : task.job.path;
  return { ok: false, unusable: [{ path }, NO_MEMORY] };
}

const NO_MEMORY =
  ': needs more memory than a thread may use; try again with NODE_OPTIONS=--max-old-space-size=8192 (MB)';

async function startPool(maxThreads: number): Promise<Piscina<Task, Outcome>> {
  const { Piscina } = await import('piscina');
  return new Piscina<Task, Outcome>({
    filename: new URL('../study/task.js', import.meta.url).href,
    minThreads: maxThreads,
    maxThreads,
  });
}
