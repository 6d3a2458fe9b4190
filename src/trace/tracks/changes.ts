/**
 * Changes of counters, in order of time. Rings are read one ahead of the other, up to the next stop of an operation. So what changes a
 * counter is kept until then, and counted when nothing earlier can come.
 */

import type { TraceNs } from '../../base/time.js';

export interface Counting {
  /** `at` never goes back. */
  add(amount: number, at: TraceNs): void;
}

export class Changes {
  private readonly counters: Counting[] = [];
  private readonly amounts: number[] = [];
  private readonly times: number[] = [];
  private isInOrder = true;
  private newest = 0;

  add(counter: Counting, amount: number, at: TraceNs): void {
    const { times } = this;
    if (times.length > 0 && at < times.at(-1)!) this.isInOrder = false;
    this.counters.push(counter);
    this.amounts.push(amount);
    times.push(at);
  }

  /** All changes up to the newest one are known. */
  settle(): void {
    const { times } = this;
    if (this.isInOrder) for (let i = 0; i < times.length; i++) this.count(i);
    else for (const i of [...times.keys()].sort((a, b) => times[a]! - times[b]!)) this.count(i);
    this.counters.length = this.amounts.length = times.length = 0;
    this.isInOrder = true;
  }

  private count(i: number): void {
    this.newest = Math.max(this.newest, this.times[i]!);
    this.counters[i]!.add(this.amounts[i]!, this.newest as TraceNs);
  }
}
