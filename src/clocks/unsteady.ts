/**
 * Finds clocks that changed faster than declared: pairs at different times are each possible alone, but leave no room for a steady clock. A
 * jump looks like this if there are few transfers, and so does a slewed counter. The sign is a cycle of hosts around which, at one instant,
 * a clock would be behind itself.
 */

import type { Arc } from './graph.js';
import { EACH_NS, negativeCycle } from './negative_cycle.js';

export interface Unsteady {
  /** One of them; it is not known which. */
  readonly domains: readonly number[];
  /** Index of the instant at which it shows most, and by how much, ns. */
  readonly instant: number;
  readonly by: number;
}

/**
 * `slacks`: per instant and arc, how far the receiver can be ahead of the sender beyond the estimate, ns. Below 0: not even as far as
 * estimated. null: there is room for steady clocks.
 */
export function findUnsteady(
  domains: number,
  arcs: readonly Arc[],
  slacks: readonly Float64Array[],
): Unsteady | null {
  const shown = mostShort(slacks, domains > MANY_HOSTS ? MOST_INSTANTS : Infinity).flatMap((instant) => {
    const cycle = negativeCycle(domains, arcs, slacks[instant]!);
    return cycle ? [{ ...cycle, instant }] : [];
  });
  const [first, ...rest] = shown;
  if (!first) return null;
  const worst = rest.reduce((a, b) => (b.by > a.by ? b : a), first);
  const leftWithout = (domain: number): number => {
    // In a long cycle all hosts are equally suspect.
    if (worst.nodes.length > LONG_CYCLE) return 0;
    return shown.reduce(
      (sum, { instant }) => sum + (negativeCycle(domains, arcs, slacks[instant]!, domain)?.by ?? 0),
      0,
    );
  };
  // Suspects the host without which the others agree best. In a ring this holds for every host.
  const suspects = worst.nodes.map((domain) => ({
    domain,
    left: leftWithout(domain),
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

/** With many hosts, search cycles at this many instants only, because each search takes long. */
const MANY_HOSTS = 64;
const MOST_INSTANTS = 24;
const LONG_CYCLE = 12;

/** Contradicted single arcs, the worst first. */
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

/** If two hosts disagree, and this many more hosts agree with one of them, the other host is named. */
const MORE_PEERS = 2;

function peersOf(arcs: readonly Arc[], domain: number): number {
  const peers = new Set<number>();
  for (const { from, to } of arcs) {
    if (from === domain) peers.add(to);
    if (to === domain) peers.add(from);
  }
  return peers.size;
}
