/**
 * Whether the others lost the time in which they waited for a rank. Hosts that do not wait for a collective's end keep their pace. Then a
 * rank that is late by the same time in each collective costs the run this time only once. The waits show which case it is: after a longer
 * wait the next work comes later by as much, or it comes no later.
 */

import { medianOf, quantile, sortedNumbers } from '../base/quantile.js';
import type { Collective } from '../cluster/collective_view.js';

/**
 * Where the bands of short and long waits begin, by length of the wait. The longest tenth is left out, because it comes from machines that
 * stopped for a moment.
 */
const SHORT = 0;
const LONG = 0.6;
const BAND = 0.3;
/**
 * If the next work comes later by less than half of the longer wait, by this many standard errors, the others lost no time. With fewer
 * groups in a band nothing is known.
 */
const HALF = 0.5;
const ERRORS = 3;
const FEWEST = 6;

/** Collectives that were called before half of the one before was over. Their stream delays them, so the hosts' pace does not matter. */
interface Group {
  readonly from: number;
  until: number;
  waited: number;
}

/** ns of `cost` that the others lost: all of it, or only the last delay if they kept their pace. */
export function heldUp(whole: readonly Collective[], cost: number): number {
  const groups = groupsOf(whole);
  return keptPace(groups) ? Math.min(cost, groups.at(-1)!.waited) : cost;
}

function groupsOf(whole: readonly Collective[]): Group[] {
  const groups: Group[] = [];
  for (const { firstCalled, firstArrival, lastArrival, end } of whole) {
    const half = (lastArrival + Math.max(lastArrival, end!)) / 2;
    // From the first arrival, like the time until the next group. So a late second rank changes both in the same way.
    const waited = lastArrival - firstArrival;
    const last = groups.at(-1);
    if (last && firstCalled <= last.until) {
      last.until = Math.max(last.until, half);
      last.waited += waited;
    } else groups.push({ from: firstArrival, until: half, waited });
  }
  return groups;
}

/** After long waits the next group comes no later than after short ones. */
function keptPace(groups: readonly Group[]): boolean {
  const count = groups.length - 1;
  if (BAND * count < FEWEST) return false;
  const steps = groups
    .slice(0, -1)
    .map(({ from, waited }, i) => ({ waited, step: groups[i + 1]!.from - from }))
    .sort((a, b) => a.waited - b.waited);
  const band = (from: number): readonly Step[] =>
    steps.slice(Math.floor(from * count), Math.floor((from + BAND) * count));
  const [short, long] = [band(SHORT), band(LONG)];
  const differOf = (key: 'waited' | 'step'): number => median(long, key) - median(short, key);
  const error = Math.hypot(errorOf(short), errorOf(long));
  const longer = differOf('waited');
  // Waits that are all alike show nothing.
  if (longer < HALF * median(long, 'waited')) return false;
  return differOf('step') + ERRORS * error < HALF * longer;
}

type Step = Readonly<Record<'waited' | 'step', number>>;

const median = (steps: readonly Step[], key: keyof Step): number => medianOf(steps.map((one) => one[key]));

/** Standard error of the median: a normal distribution has half of its values within 1.35 deviations. */
function errorOf(steps: readonly Step[]): number {
  const sorted = sortedNumbers(steps.map(({ step }) => step));
  return (1.25 * (quantile(sorted, 0.75) - quantile(sorted, 0.25))) / 1.35 / Math.sqrt(sorted.length);
}
