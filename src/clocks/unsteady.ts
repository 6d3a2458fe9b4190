/**
 * Clocks that ran otherwise than any clock may: pairs at different times, each possible by itself, leave no room for a clock whose rate
 * changes no faster than declared. A jump that lies between two of few transfers looks like that, and a counter that is slewed. Shown by a
 * cycle of hosts round which, at one instant, a clock would have to be behind itself.
 */

import type { Arc } from './graph.js';

/** Each arc may say so much too little, ns: stamps are taken by programs. */
const EACH_NS = 100;

export interface Unsteady {
  /** One of them: nobody can tell which. */
  readonly domains: readonly number[];
  /** Index of the instant at which it shows most, and by how much, ns. */
  readonly instant: number;
  readonly by: number;
}

/**
 * `slacks`: per instant, per arc by how much its receiver can be ahead of its sender beyond the estimate, ns; below 0: not even as
 * far as estimated. null: there is room for clocks that are steady.
 */
export function findUnsteady(
  domains: number,
  arcs: readonly Arc[],
  slacks: readonly Float64Array[],
): Unsteady | null {
  const everywhere = new Uint8Array(domains).fill(1);
  const shown = mostShort(slacks, domains > MANY_HOSTS ? MOST_INSTANTS : Infinity).flatMap((instant) => {
    const cycle = negativeCycle(arcs, slacks[instant]!, everywhere);
    return cycle ? [{ ...cycle, instant }] : [];
  });
  const [first, ...rest] = shown;
  if (!first) return null;
  const worst = rest.reduce((a, b) => (b.by > a.by ? b : a), first);
  const without = (domain: number): number => {
    // In a long cycle everybody is as suspect as the next one.
    if (worst.nodes.length > LONG_CYCLE) return 0;
    const others = everywhere.slice();
    others[domain] = 0;
    return shown.reduce(
      (sum, { instant }) => sum + (negativeCycle(arcs, slacks[instant]!, others)?.by ?? 0),
      0,
    );
  };
  // Without whom do the others agree best? In a ring that holds of everyone.
  const suspects = worst.nodes.map((domain) => ({
    domain,
    left: without(domain),
    peers: peersOf(arcs, domain),
  }));
  const least = suspects.reduce((most, { left }) => Math.min(most, left), Infinity);
  const tied = suspects.filter(({ left }) => left === least);
  const fewest = tied.reduce((most, { peers }) => Math.min(most, peers), Infinity);
  return {
    domains: tied
      .flatMap(({ domain, peers }) => (peers < fewest + MORE_PEERS ? [domain] : []))
      .sort((a, b) => a - b),
    instant: worst.instant,
    by: worst.by,
  };
}

/** With many hosts cycles are looked for at so many instants: each takes a while. */
const MANY_HOSTS = 64;
const MOST_INSTANTS = 24;
const LONG_CYCLE = 12;

/** Where single arcs fall short, those that do by most first. */
function mostShort(slacks: readonly Float64Array[], most: number): number[] {
  const short = slacks.flatMap((lengths, instant) => {
    const least = lengths.reduce((a, b) => Math.min(a, b), Infinity);
    return least < -EACH_NS ? [{ instant, least }] : [];
  });
  return short
    .sort((a, b) => a.least - b.least || a.instant - b.instant)
    .slice(0, most)
    .map(({ instant }) => instant);
}

/** Whom so many more hosts agree with than with another one is not to blame for the disagreement of the two. */
const MORE_PEERS = 2;

function peersOf(arcs: readonly Arc[], domain: number): number {
  const peers = new Set<number>();
  for (const { from, to } of arcs) {
    if (from === domain) peers.add(to);
    if (to === domain) peers.add(from);
  }
  return peers.size;
}

interface Cycle {
  readonly nodes: readonly number[];
  /** By how much its arcs fall short of 0 together, ns. */
  readonly by: number;
}

/** Shortest paths from everywhere at once, until one goes round (Bellman and Ford); only by nodes that are `allowed`. */
function negativeCycle(arcs: readonly Arc[], lengths: Float64Array, allowed: Uint8Array): Cycle | null {
  const nodes = allowed.length;
  const distance = new Float64Array(nodes);
  const before = new Int32Array(nodes).fill(-1);
  let moved = -1;
  for (let round = 0; round <= nodes; round++) {
    moved = -1;
    arcs.forEach(({ from, to }, arc) => {
      if (allowed[from] === 0 || allowed[to] === 0) return;
      const through = distance[from]! + lengths[arc]! + EACH_NS;
      if (!(through < distance[to]! - LEAST_NS)) return;
      distance[to] = through;
      before[to] = arc;
      moved = to;
    });
    if (moved < 0) return null;
  }
  // Something still moved after as many rounds as there are nodes: before it lies a cycle.
  let at = moved;
  for (let step = 0; step < nodes; step++) at = arcs[before[at]!]!.from;
  const cycle: number[] = [];
  let sum = 0;
  let node = at;
  do {
    cycle.push(node);
    const arc = before[node]!;
    sum += lengths[arc]!;
    node = arcs[arc]!.from;
  } while (node !== at);
  return { nodes: cycle, by: -sum };
}

/** Sums of doubles are not nearer. */
const LEAST_NS = 1e-3;
