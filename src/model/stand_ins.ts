/**
 * Finds when stand-ins ended. A stand-in is an operation whose start record was overwritten. Usually the stop was overwritten, too, and
 * only steps are left. Then the operation ended with its last step, and the exact time is not known. If a step is in flight, the operation
 * has not ended. The scan finds this out, so that the second pass knows the end in advance.
 */

import type { Ticks } from '../base/time.js';
import type { Op } from './types.js';

/** When the operation was last seen in flight; null: until the end. */
export function seenUntil({ stop, openSteps, lastMove }: Op): Ticks | null {
  return stop ?? (openSteps.length > 0 ? null : lastMove);
}

export class StandIns {
  private readonly ops: Op[] = [];

  started(op: Op): void {
    if (op.lost) this.ops.push(op);
  }

  /** By `Op.standIn`: number of steps done, if the stop is not in the file. 0: the stop is in the file, or a step is in flight. */
  lastSteps(): Uint32Array {
    return Uint32Array.from(this.ops, ({ stop, openSteps, stepsDone }) =>
      stop === null && openSteps.length === 0 ? stepsDone : 0,
    );
  }
}
