/** When a signal or Ctrl-C ends the program, unfinished output is removed. */

import { Interrupted } from '../base/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Of the work at hand. */
let handler: ((signal: NodeJS.Signals) => void) | null = null;
let isHeard = false;

/**
 * During `work` the first signal aborts the work, and the second ends the program. Before and after `work` the first signal ends the
 * program.
 */
export async function interruptible<T>(work: (interrupt: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const forget = (): void => {
    hearSignals(false);
    handler = null;
  };
  handler = (signal) => {
    controller.abort(new Interrupted('interrupted, nothing was written', signal));
    forget();
  };
  hearSignals(true);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}

/**
 * Node runs no handler until a computation returns. So before a long one the program stops hearing signals, and the next signal ends it at
 * once. The next command removes what it leaves.
 */
export function hearSignals(should: boolean): void {
  if (handler === null || should === isHeard) return;
  isHeard = should;
  for (const signal of SIGNALS)
    if (should) process.on(signal, handler);
    else process.off(signal, handler);
}

/**
 * Without a handler the kernel ends the program when a file reaches the size limit. With a handler the write fails with EFBIG, and the
 * program reports it.
 */
export function surviveFileSizeLimit(): void {
  const signal = 'SIGXFSZ' as NodeJS.Signals;
  if (process.listenerCount(signal) === 0) process.on(signal, () => undefined);
}
