/**
 * Counters that change too often to draw every change, and the changes that wait. Rings are read one ahead of the other, up to the next stop
 * of an operation. So changes are kept, and are applied when nothing earlier can come.
 */

import { RowBlocks } from '../row_blocks';
import { Sink } from './sink';
import { Track } from './tracks';

/**
 * At most one sample per `interval`. Each sample is exact for its time, and the last value before a pause is always drawn. 0 ns: every
 * change. With samples every 100 us, a job of an hour would have 36 million on each rank, and a screen has a few thousand columns. So the
 * interval grows with the time that is drawn.
 */
export class SampledCounter {
  private value: f64 = 0;
  private changedAt: f64 = NaN;
  private sampledAt: f64 = -Infinity;
  private sampledValue: f64 = 0;

  /** It begins at 0. */
  constructor(
    private readonly sink: Sink,
    private readonly track: Track,
    private readonly interval: f64,
    first: f64,
  ) {
    sink.counter(track, first, 0);
  }

  /** `at` never goes back. */
  add(amount: f64, at: f64): void {
    if (at - this.changedAt >= this.interval) this.sample(this.changedAt);
    this.value = min<f64>(this.value + amount, <f64>f64.MAX_SAFE_INTEGER);
    this.changedAt = at;
    if (at - this.sampledAt >= this.interval) this.sample(at);
  }

  finish(): void {
    if (!isNaN(this.changedAt)) this.sample(this.changedAt);
  }

  private sample(at: f64): void {
    if (this.value == this.sampledValue) return;
    this.sink.counter(this.track, at, this.value);
    this.sampledAt = at;
    this.sampledValue = this.value;
  }
}

export abstract class Counting {
  /** `at` never goes back. */
  abstract add(amount: f64, at: f64): void;
}

@unmanaged
class Change {
  counter: usize;
  amount: f64;
  at: f64;
  number: i32;
}

export class Changes {
  private readonly rows: RowBlocks<Change> = new RowBlocks<Change>();
  private readonly order: usize[] = [];
  private isInOrder: bool = true;
  private last: f64 = -Infinity;
  private newest: f64 = 0;

  add(counter: Counting, amount: f64, at: f64): void {
    const change = this.rows.add();
    if (at < this.last) this.isInOrder = false;
    this.last = at;
    change.counter = changetype<usize>(counter);
    change.amount = amount;
    change.at = at;
    change.number = this.rows.length;
  }

  /** Call it when all changes up to the newest one are known. */
  settle(): void {
    const length = this.rows.length;
    if (this.isInOrder) for (let row = 0; row < length; row++) this.count(this.rows.at(row));
    else {
      const order = this.order;
      order.length = 0;
      for (let row = 0; row < length; row++) order.push(changetype<usize>(this.rows.at(row)));
      order.sort((a, b) => {
        const one = changetype<Change>(a);
        const other = changetype<Change>(b);
        return one.at < other.at ? -1 : one.at > other.at ? 1 : one.number - other.number;
      });
      for (let row = 0; row < length; row++) this.count(changetype<Change>(order[row]));
    }
    this.rows.clear();
    this.isInOrder = true;
    this.last = -Infinity;
  }

  private count(change: Change): void {
    if (change.at > this.newest) this.newest = change.at;
    changetype<Counting>(change.counter).add(change.amount, this.newest);
  }
}
