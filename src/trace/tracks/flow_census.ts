/**
 * Which ends of arrows a rank has drawn: per operation the steps, as ranges. Joined over all ranks it gives the number of
 * arrows in the trace, without keeping every step.
 */

import type { Hash64 } from '../../base/hash.js';

/** Steps [from, end) of one end of an operation, pairs in a row: from, end, from, end... */
export interface FlowEnds {
  readonly operation: string;
  readonly sends: boolean;
  readonly ranges: number[];
}

export class FlowCensus {
  private readonly operations: FlowEnds[] = [];

  /** Our end of one operation: kept by the caller, so that its steps need no look-up. */
  ends(operation: Hash64, sends: boolean): FlowEnds {
    const ends = { operation: `${operation.hi} ${operation.lo}`, sends, ranges: [] };
    this.operations.push(ends);
    return ends;
  }

  all(): FlowEnds[] {
    return this.operations.filter(({ ranges }) => ranges.length > 0);
  }
}

export function addStep({ ranges }: FlowEnds, step: number): void {
  if (ranges.at(-1) === step) ranges[ranges.length - 1] = step + 1;
  else ranges.push(step, step + 1);
}

/** Arrows drawn: steps of which both ends are there. */
export function countArrows(ends: Iterable<FlowEnds>): number {
  const senders = new Map<string, FlowEnds>();
  const receivers: FlowEnds[] = [];
  for (const end of ends) {
    if (end.sends) senders.set(end.operation, end);
    else receivers.push(end);
  }
  return receivers.reduce(
    (sum, end) => sum + overlap(end.ranges, senders.get(end.operation)?.ranges ?? []),
    0,
  );
}

function overlap(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 2) {
    for (let j = 0; j < b.length; j += 2) {
      const from = Math.max(a[i]!, b[j]!);
      const end = Math.min(a[i + 1]!, b[j + 1]!);
      if (end > from) sum += end - from;
    }
  }
  return sum;
}

/** Arrows whose two ends were drawn, where only a part is: `ends` has the ids of all ends, equal for the two of an arrow. */
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
