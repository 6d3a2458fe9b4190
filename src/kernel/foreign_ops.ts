/** What this process executed for others (PXN), by the originator's work. The originator's file looks it up. */

import { highOf, lowOf } from './bits';
import { Op } from './event';
import { ForeignRow } from './result_rows';

export class ForeignWork extends ForeignRow {
  constructor(
    readonly context: u64,
    readonly parent: u64,
    pid: i32,
  ) {
    super();
    this.contextHigh = highOf(context);
    this.contextLow = lowOf(context);
    this.parentHigh = highOf(parent);
    this.parentLow = lowOf(parent);
    this.pid = pid;
  }
}

export class ForeignOps {
  /** In the order of their first operation. */
  readonly works: ForeignWork[] = [];
  /** By parent, which nearly always names one work: others with this parent follow in the list. */
  private readonly places: Map<u64, i32> = new Map<u64, i32>();

  started(op: Op): void {
    if (!op.isForeign) return;
    const work = this.workOf(op);
    work.ops += 1;
    work.open += 1;
  }

  stopped(op: Op): void {
    if (!op.isForeign) return;
    const work = this.workOf(op);
    work.open -= 1;
    work.lastStop = op.stop;
  }

  private workOf(op: Op): ForeignWork {
    const context = op.context;
    const foreignParent = op.foreignParent;
    const pid = op.pid;
    const key = foreignParent ^ (context << 1);
    for (
      let i = this.places.has(key) ? this.places.get(key) : this.works.length;
      i < this.works.length;
      i++
    ) {
      const work = this.works[i];
      if (work.context == context && work.parent == foreignParent) return work;
    }
    const made = new ForeignWork(context, foreignParent, pid);
    if (!this.places.has(key)) this.places.set(key, this.works.length);
    this.works.push(made);
    return made;
  }
}
