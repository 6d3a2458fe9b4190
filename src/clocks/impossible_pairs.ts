/**
 * Whether pairs surely contradict each other, whatever the corrections: around a cycle of hosts, at one instant, a clock would be behind
 * itself. Between two pairs of one piece the line through them holds too, because corrections are straight there.
 */

import { firstIndex } from '../base/first_index.js';
import { knotTime, pieceAt, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { adjacency, type Arc } from './graph.js';
import { EACH_NS } from './negative_cycle.js';
import { alignedAt, shownAt } from './corrected_times.js';

/** ns: a cycle with a smaller contradiction proves nothing, because its hosts are compared at slightly different instants … */
const LEAST_NS = 2000;
/** A steeper line through two pairs says little about an instant beside them. */
const STEEPEST = 0.05;
/** … and neither does one below this part of all delays around the cycle. */
const PART = 0.1;

interface LimitArc extends Arc {
  /** How far the receiver can be ahead of the sender beyond the estimate, ns. */
  readonly length: number;
}

/** `corrections`: any that are nearly right. `instant`: on the common axis. False: the pairs may be possible, or not. */
export function isImpossibleAt(
  knots: Knots,
  corrections: readonly Float64Array[],
  hulls: readonly EdgeHull[],
  instant: number,
): boolean {
  const arcs: LimitArc[] = [];
  const shown = corrections.map((values) => shownAt(knots, values, instant));
  for (const { from, to, hull } of hulls) {
    const time = shown[from]!;
    const right = firstFrom(hull, time);
    if (right < 2 || right === hull.length || !isWithin(knots, hull[right - 2]!, hull[right]!)) continue;
    const slope = (hull[right + 1]! - hull[right - 1]!) / (hull[right]! - hull[right - 2]!);
    if (Math.abs(slope) > STEEPEST) continue;
    const delay = hull[right - 1]! + slope * (time - hull[right - 2]!);
    arcs.push({ from, to, length: alignedAt(knots, corrections[to]!, time + delay) - instant });
  }
  return hasNegativeCycle(corrections.length, arcs);
}

/** Index of the first point at `time` or later. */
const firstFrom = (hull: EdgeHull['hull'], time: number): number =>
  2 * firstIndex(hull.length / 2, (point) => hull[2 * point]! >= time);

const isWithin = (knots: Knots, left: number, right: number): boolean => {
  const piece = pieceAt(knots, left);
  return right <= knotTime(knots, piece + 1) || piece === knots.count - 2;
};

/**
 * Shortest paths from all nodes, until one goes round a cycle (Bellman and Ford). negative_cycle.ts takes the first cycle that it finds.
 * Here the search goes on, because a certain cycle may come after others that are not certain.
 */
function hasNegativeCycle(nodes: number, arcs: readonly LimitArc[]): boolean {
  const out = adjacency(nodes, arcs, 'from');
  const distance = new Float64Array(nodes);
  const before = new Int32Array(nodes).fill(-1);
  let queue = Array.from({ length: nodes }, (_, node) => node);
  for (let round = 0; round <= nodes && queue.length > 0; round++) {
    const next = new Set<number>();
    for (const node of queue) {
      for (let at = out.start[node]!; at < out.start[node + 1]!; at++) {
        const arc = out.arcs[at]!;
        const target = out.others[at]!;
        const through = distance[node]! + arcs[arc]!.length;
        if (through >= distance[target]!) continue;
        distance[target] = through;
        before[target] = arc;
        next.add(target);
      }
    }
    if (hasCertainCycle(arcs, before)) return true;
    queue = [...next];
  }
  return false;
}

/** Looks among the arcs by which nodes were reached. */
function hasCertainCycle(arcs: readonly LimitArc[], before: Int32Array): boolean {
  const seen = new Int32Array(before.length).fill(-1);
  for (let start = 0; start < before.length; start++) {
    let node = start;
    while (seen[node] === -1 && before[node]! >= 0) {
      seen[node] = start;
      node = arcs[before[node]!]!.from;
    }
    if (before[node]! < 0 || seen[node] !== start) continue;
    let sum = 0;
    let room = LEAST_NS;
    let at = node;
    do {
      const arc = arcs[before[at]!]!;
      sum += arc.length;
      room += EACH_NS + PART * Math.abs(arc.length);
      at = arc.from;
    } while (at !== node);
    if (sum < -room) return true;
  }
  return false;
}
