/** Events that NCCL starts and stops, as it calls them. */

import type { HostSpan } from './host_span.js';
import type { Kernel, Op, Work } from './types.js';

export type Stoppable = HostSpan | Work | Op | Kernel;

/** Work stops when it is enqueued. */
export function hasStopped(event: Stoppable): boolean {
  return event.type === 'work' ? event.enqueued !== null : event.stop !== null;
}

export function typeOf(event: Stoppable): string {
  switch (event.type) {
    case 'host':
    case 'work':
      return event.kind;
    case 'op':
      return 'ProxyOp';
    case 'kernel':
      return event.phase === null ? 'KernelCh' : 'KernelPhase';
  }
}
