/**
 * Finds a contradiction: a cycle of hosts around which, at one instant, a clock would be behind itself. Each arc bounds how far its
 * receiver can be ahead of its sender; the arcs of the cycle add up to less than 0.
 */

import type { Arc } from './graph.js';

/** The bound of each arc may be too tight by this, ns, because programs take the stamps. */
export const EACH_NS = 100;

export interface Cycle {
  readonly nodes: readonly number[];
  /** How far the sum of its arcs is below 0, ns, before the tolerance of each arc is subtracted. */
  readonly by: number;
}

/**
 * One of them, if there is any; null: none. `lengths`: of the arcs, ns. `without`: a node that no path may touch.
 *
 * It searches shortest paths from all nodes at once, until one path is a cycle (Bellman and Ford).
 */
export function negativeCycle(
  nodes: number,
  arcs: readonly Arc[],
  lengths: Float64Array,
  without = -1,
): Cycle | null {
  const distance = new Float64Array(nodes);
  const reachedBy = new Int32Array(nodes).fill(-1);
  let moved = -1;
  for (let round = 0; round <= nodes; round++) {
    moved = -1;
    arcs.forEach(({ from, to }, arc) => {
      if (from === without || to === without) return;
      const through = distance[from]! + lengths[arc]! + EACH_NS;
      if (!(through < distance[to]! - LEAST_NS)) return;
      distance[to] = through;
      reachedBy[to] = arc;
      moved = to;
    });
    if (moved < 0) return null;
  }
  // A node still moved after as many rounds as there are nodes. So there is a cycle before it.
  let last = moved;
  for (let step = 0; step < nodes; step++) last = arcs[reachedBy[last]!]!.from;
  const cycle: number[] = [];
  let sum = 0;
  let node = last;
  do {
    cycle.push(node);
    const arc = reachedBy[node]!;
    sum += lengths[arc]!;
    node = arcs[arc]!.from;
  } while (node !== last);
  return { nodes: cycle, by: -sum };
}

/** Sums of doubles are not more exact than this. */
const LEAST_NS = 1e-3;
