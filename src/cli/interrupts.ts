/** When a signal or Ctrl-C ends the program, unfinished output is removed. */

import { Interrupted } from '../base/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * During `work` the first signal aborts the work, and the second ends the program. Before and after `work` the first signal ends the
 * program.
 */
export async function interruptible<T>(work: (interrupt: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (signal: NodeJS.Signals): void => {
    controller.abort(new Interrupted('interrupted, nothing was written', signal));
    forget();
  };
  const forget = (): void => {
    for (const signal of SIGNALS) process.off(signal, abort);
  };
  for (const signal of SIGNALS) process.on(signal, abort);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}

/**
 * Without a handler the kernel ends the program when a file reaches the size limit. With a handler the write fails with EFBIG, and the
 * program reports it.
 */
export function surviveFileSizeLimit(): void {
  process.on('SIGXFSZ' as NodeJS.Signals, () => undefined);
}
