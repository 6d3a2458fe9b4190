/** What this process executed for others (PXN), by the originator's work. The originator's file looks it up. */

import type { Ticks } from '../base/time.js';
import type { Op } from './types.js';

export interface ForeignOps {
  /** As NCCL passed them: handles of the originator, if it records. */
  readonly context: bigint;
  readonly parent: bigint;
  readonly pid: number;
  ops: number;
  open: number;
  lastStop: Ticks | null;
}

export class ForeignOpsCollector {
  private readonly byWork = new Map<string, ForeignOps>();

  started(op: Op): void {
    const entry = this.entry(op);
    if (!entry) return;
    entry.ops++;
    entry.open++;
  }

  stopped(op: Op): void {
    const entry = this.entry(op);
    if (!entry) return;
    entry.open--;
    entry.lastStop = op.stop;
  }

  all(): ForeignOps[] {
    return [...this.byWork.values()];
  }

  private entry({ foreign }: Op): ForeignOps | null {
    if (!foreign) return null;
    const key = `${foreign.context} ${foreign.parent}`;
    let entry = this.byWork.get(key);
    if (!entry) {
      entry = { ...foreign, ops: 0, open: 0, lastStop: null };
      this.byWork.set(key, entry);
    }
    return entry;
  }
}
