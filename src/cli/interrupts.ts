/** A job killed from outside, or Ctrl-C, takes what was in the making along. */

import { Interrupted } from '../base/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** While `work` goes on the first signal aborts it, and a second one ends the program at once; before and after, the first does. */
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

/** Unhandled, the kernel ends us at a file size limit; handled, the write fails with EFBIG and is reported. */
export function surviveFileSizeLimit(): void {
  process.on('SIGXFSZ' as NodeJS.Signals, () => undefined);
}
