/** When a signal or Ctrl-C ends the program, unfinished output is removed. */

import { Interrupted } from '../base/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** During `work` the first signal aborts it and the second ends the program. Before and after, the first ends it. */
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

/** Without a handler the kernel ends the program at a file size limit. With one the write fails with EFBIG, which is reported. */
export function surviveFileSizeLimit(): void {
  process.on('SIGXFSZ' as NodeJS.Signals, () => undefined);
}
