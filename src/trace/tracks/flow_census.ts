/**
 * The arrow ends that a rank has drawn: ranges of steps per operation, in columns. The ends of all ranks together give the number of
 * arrows, and no single step is kept.
 */

import type { Column } from '../../base/columns.js';

/** Steps [from, end) of one end of an operation, a row each. An operation may have several rows. `end` 0: none. */
export interface FlowEnds {
  /** Shared by all arrows of the operation (model/identity.ts), in 52 bits. */
  readonly operation: Column;
  readonly sends: Column;
  readonly from: Column;
  readonly end: Column;
}

/** Arrows drawn: steps with both ends. */
export function countArrows(ends: readonly FlowEnds[]): number {
  let rows = 0;
  for (const { sends } of ends) for (const one of sends) rows += one;
  const senders = new Ranges(rows);
  for (const { operation, sends, from, end } of ends)
    for (let row = 0; row < operation.length; row++)
      if (sends[row] !== 0) senders.add(operation[row]!, from[row]!, end[row]!);
  let arrows = 0;
  for (const { operation, sends, from, end } of ends)
    for (let row = 0; row < operation.length; row++)
      if (sends[row] === 0) arrows += senders.overlap(operation[row]!, from[row]!, end[row]!);
  return arrows;
}

/**
 * Ranges of steps by operation, in lists that begin at the operation's hash. A long run has millions: in columns they take 24 bytes each, in
 * a map 150 and seven times longer.
 */
class Ranges {
  /** By hash, the newest row of its list; by row, the next one. -1: none. */
  private readonly heads: Int32Array;
  private readonly next: Int32Array;
  private readonly operation: Float64Array;
  private readonly from: Uint32Array;
  private readonly end: Uint32Array;
  private rows = 0;

  constructor(rows: number) {
    this.heads = new Int32Array(2 ** Math.ceil(Math.log2(rows + 1))).fill(-1);
    this.next = new Int32Array(rows);
    this.operation = new Float64Array(rows);
    this.from = new Uint32Array(rows);
    this.end = new Uint32Array(rows);
  }

  add(operation: number, from: number, end: number): void {
    const row = this.rows++;
    const place = this.placeOf(operation);
    this.next[row] = this.heads[place]!;
    this.heads[place] = row;
    this.operation[row] = operation;
    this.from[row] = from;
    this.end[row] = end;
  }

  /** Steps of [from, end) that are in the operation's ranges. */
  overlap(operation: number, from: number, end: number): number {
    let sum = 0;
    for (let row = this.heads[this.placeOf(operation)]!; row >= 0; row = this.next[row]!)
      if (this.operation[row] === operation)
        sum += Math.max(0, Math.min(end, this.end[row]!) - Math.max(from, this.from[row]!));
    return sum;
  }

  /** Operations are hashes, so their low bits are as good as any. */
  private placeOf(operation: number): number {
    return operation & (this.heads.length - 1);
  }
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
