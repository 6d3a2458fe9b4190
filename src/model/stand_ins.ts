/**
 * When stand-ins ended: operations whose start record was overwritten. Nearly always their stop was, too, and only their steps are
 * left; such a one has ended when its last step has, only when is not told. What still has a step under way has not ended. The scan
 * finds it out, so that the second pass knows the end when it comes to it.
 */

import type { Ticks } from '../base/time.js';
import type { Op } from './types.js';

/** When it was last seen under way; null: it was, to the end. */
export function seenUntil({ stop, openSteps, lastMove }: Op): Ticks | null {
  return stop ?? (openSteps.length > 0 ? null : lastMove);
}

export class StandIns {
  private readonly ops: Op[] = [];

  started(op: Op): void {
    if (op.lost) this.ops.push(op);
  }

  /** By `Op.standIn`: with how many steps it was through, where its stop is not in the file; 0: it is, or a step is under way. */
  lastSteps(): Uint32Array {
    return Uint32Array.from(this.ops, ({ stop, openSteps, stepsDone }) =>
      stop === null && openSteps.length === 0 ? stepsDone : 0,
    );
  }
}
