/**
 * Changes of counters, in order of time. Rings are read one ahead of the other, up to the next stop of an operation. So changes are kept in
 * columns, and are applied when nothing earlier can come.
 */

import { nearlySorted } from '../../base/nearly_sorted.js';
import type { TraceNs } from '../../base/time.js';

export interface Counting {
  /** `at` never goes back. */
  add(amount: number, at: TraceNs): void;
}

const FIRST_ROWS = 256;

export class Changes {
  private readonly counters: Counting[] = [];
  private amounts = new Float64Array(FIRST_ROWS);
  private times = new Float64Array(FIRST_ROWS);
  private order = new Uint32Array(FIRST_ROWS);
  private length = 0;
  private isInOrder = true;
  private newest = 0;

  add(counter: Counting, amount: number, at: TraceNs): void {
    const row = this.length++;
    if (row === this.times.length) this.grow();
    if (row > 0 && at < this.times[row - 1]!) this.isInOrder = false;
    this.counters[row] = counter;
    this.amounts[row] = amount;
    this.times[row] = at;
  }

  /** Call it when all changes up to the newest one are known. */
  settle(): void {
    const { length, order } = this;
    if (!this.isInOrder) nearlySorted(this.times, length, order);
    for (let row = 0; row < length; row++) this.count(this.isInOrder ? row : order[row]!);
    this.length = 0;
    this.isInOrder = true;
  }

  private count(row: number): void {
    if (this.times[row]! > this.newest) this.newest = this.times[row]!;
    this.counters[row]!.add(this.amounts[row]!, this.newest as TraceNs);
  }

  private grow(): void {
    const { amounts, times } = this;
    this.amounts = new Float64Array(2 * times.length);
    this.amounts.set(amounts);
    this.times = new Float64Array(2 * times.length);
    this.times.set(times);
    this.order = new Uint32Array(2 * times.length);
  }
}
