/**
 * The arrow ends that a rank has drawn: ranges of steps per operation, in columns. The ends of all ranks together give the number of
 * arrows, and no single step is kept.
 */

import { STEP_BITS } from '../../model/identity.js';
import type { Hash64 } from '../../base/hash.js';

/** Steps [from, end) of one end of an operation, a row each. An operation may have several rows. `end` 0: none. */
export interface FlowEnds {
  /** Shared by all arrows of the operation (model/identity.ts), in 52 bits. */
  readonly operation: Float64Array;
  readonly sends: Uint8Array;
  readonly from: Uint32Array;
  readonly end: Uint32Array;
}

const FIRST_ROWS = 1024;

export class FlowCensus {
  private operation = new Float64Array(FIRST_ROWS);
  private sends = new Uint8Array(FIRST_ROWS);
  private from = new Uint32Array(FIRST_ROWS);
  private end = new Uint32Array(FIRST_ROWS);
  private rows = 0;

  /** Begins an operation's end here: the row of its first step. */
  begin(operation: Hash64, sends: boolean): number {
    return this.add(operation.hi * SHARED_LOW + (operation.lo >>> STEP_BITS), Number(sends));
  }

  /** Returns the row of the operation's next step. */
  step(row: number, step: number): number {
    const { end } = this;
    if (end[row] !== 0 && end[row] !== step) row = this.add(this.operation[row]!, this.sends[row]!);
    if (this.end[row] === 0) this.from[row] = step;
    this.end[row] = step + 1;
    return row;
  }

  all(): FlowEnds {
    const used = <Column extends Float64Array | Uint32Array | Uint8Array>(column: Column): Column =>
      column.slice(0, this.rows) as Column;
    const { operation, sends, from, end } = this;
    return { operation: used(operation), sends: used(sends), from: used(from), end: used(end) };
  }

  private add(operation: number, sends: number): number {
    if (this.rows === this.operation.length) this.grow();
    const row = this.rows++;
    this.operation[row] = operation;
    this.sends[row] = sends;
    return row;
  }

  private grow(): void {
    const longer = <Column extends Float64Array | Uint32Array | Uint8Array>(
      column: Column,
      empty: Column,
    ): Column => {
      empty.set(column);
      return empty;
    };
    const rows = 2 * this.operation.length;
    this.operation = longer(this.operation, new Float64Array(rows));
    this.sends = longer(this.sends, new Uint8Array(rows));
    this.from = longer(this.from, new Uint32Array(rows));
    this.end = longer(this.end, new Uint32Array(rows));
  }
}

const SHARED_LOW = 2 ** (32 - STEP_BITS);

/** Arrows drawn: steps with both ends. */
export function countArrows(ends: readonly FlowEnds[]): number {
  /** Ranges of each sender, in pairs. */
  const senders = new Map<number, number[]>();
  for (const { operation, sends, from, end } of ends)
    for (let row = 0; row < operation.length; row++) {
      if (sends[row] === 0 || end[row] === 0) continue;
      const known = senders.get(operation[row]!);
      if (known) known.push(from[row]!, end[row]!);
      else senders.set(operation[row]!, [from[row]!, end[row]!]);
    }
  let arrows = 0;
  for (const { operation, sends, from, end } of ends)
    for (let row = 0; row < operation.length; row++)
      if (sends[row] === 0) arrows += overlap(from[row]!, end[row]!, senders.get(operation[row]!));
  return arrows;
}

/** Steps of [from, end) in the ranges, which are pairs. */
function overlap(from: number, end: number, ranges: readonly number[] | undefined): number {
  let sum = 0;
  for (let i = 0; ranges && i < ranges.length; i += 2)
    sum += Math.max(0, Math.min(end, ranges[i + 1]!) - Math.max(from, ranges[i]!));
  return sum;
}

/** Arrows with both ends drawn, for a part of a run: `ends` has the ids of all ends, equal for the two of an arrow. */
export function countSelectedArrows(ends: readonly BigUint64Array[]): number {
  const all = new BigUint64Array(ends.reduce((sum, part) => sum + part.length, 0));
  let filled = 0;
  for (const part of ends) {
    all.set(part, filled);
    filled += part.length;
  }
  all.sort();
  let arrows = 0;
  for (let i = 1; i < all.length; i++) if (all[i] === all[i - 1]) arrows++;
  return arrows;
}
