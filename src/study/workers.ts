/**
 * Runs the two per-file passes, on worker threads or on this one. Results are in the order of the jobs, so the trace does not
 * depend on the number of workers.
 */

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import { codeOf } from '../base/reason.js';
import { interruptedBy } from '../output/work_folder.js';
import { runTask, type Outcome, type Task } from './task.js';

export interface Workers {
  run(tasks: readonly Task[], onDone?: () => void): Promise<Outcome[]>;
  close(): Promise<void>;
}

/**
 * `jobs`: how many files at once; 1 means on this thread. Default: as many as there is work for, at most one per CPU. A new thread has to
 * compile everything again, so small runs are faster on one (`npm run bench:merge`). `interrupt` ends the workers in the middle of their
 * work.
 */
export function startWorkers(
  jobs: number | undefined,
  files: readonly string[],
  interrupt?: AbortSignal,
): Workers {
  const worthwhile = Math.ceil(totalBytes(files) / BYTES_PER_THREAD);
  const wanted = jobs ?? Math.min(availableParallelism(), worthwhile);
  const threadCount = Math.max(1, Math.min(wanted, files.length));
  const workers = threadCount === 1 ? inline(interrupt) : threads(threadCount);
  interrupt?.addEventListener('abort', () => void workers.close(), { once: true });
  return workers;
}

/** A second thread compiles everything once more: 0.9 s of CPU time, as much as 250 MB of records take. */
const BYTES_PER_THREAD = 256 << 20;

function totalBytes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Yields between two files, so that Ctrl-C is handled. The remaining files are then not begun. */
function inline(interrupt: AbortSignal | undefined): Workers {
  let closed = false;
  return {
    run: async (tasks, onDone) => {
      const outcomes: Outcome[] = [];
      for (const task of tasks) {
        if (closed) throw interruptedBy(interrupt);
        outcomes.push(runTask(task));
        onDone?.();
        await new Promise(setImmediate);
      }
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
