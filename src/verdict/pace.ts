/**
 * Whether the others were held up by the rank they waited for. Hosts that do not wait for a collective's end keep their pace: then a rank that
 * lags behind by the same time in each collective costs the run this time once. Shown by their own variation: after a longer wait the next
 * work comes later by as much (slope 1), or not at all (0).
 */

import type { Spell } from '../cluster/late.js';
import type { Collective } from '../cluster/types.js';

/** Less than this share of the longer wait, by so many standard errors, is no hold-up. Fewer groups in a third show nothing. */
const HELD_UP = 0.5;
const ERRORS = 3;
const FEWEST = 6;

/** Collectives that were called before half of the one before was over: their stream holds them up, whatever the hosts do. */
interface Group {
  readonly from: number;
  until: number;
  waited: number;
}

/** ns of the waits (`spells`) that held up the others: all, or the last lag if they kept their pace. */
export function heldUp(whole: readonly Collective[], spells: readonly Spell[], cost: number): number {
  const groups = groupsOf(whole, spells);
  return keptPace(groups) ? groups.at(-1)!.waited : cost;
}

function groupsOf(whole: readonly Collective[], spells: readonly Spell[]): Group[] {
  const groups: Group[] = [];
  for (const { firstCalled, firstArrival, lastArrival, end } of whole) {
    const half = (lastArrival + Math.max(lastArrival, end!)) / 2;
    const last = groups.at(-1);
    if (last && firstCalled <= last.until) last.until = Math.max(last.until, half);
    else groups.push({ from: firstArrival, until: half, waited: 0 });
  }
  let at = 0;
  for (const { from, to } of spells) {
    while (at + 1 < groups.length && groups[at + 1]!.from <= from) at++;
    groups[at]!.waited += to - from;
  }
  return groups;
}

/** After the longest waits the next group comes no later than after the shortest. Medians: a machine that stops for a moment moves neither. */
function keptPace(groups: readonly Group[]): boolean {
  const third = Math.floor((groups.length - 1) / 3);
  if (third < FEWEST) return false;
  const steps = groups
    .slice(0, -1)
    .map(({ from, waited }, i) => ({ waited, step: groups[i + 1]!.from - from }))
    .sort((a, b) => a.waited - b.waited);
  const [short, long] = [steps.slice(0, third), steps.slice(-third)];
  const differOf = (key: 'waited' | 'step'): number => median(long, key) - median(short, key);
  const error = Math.hypot(errorOf(short), errorOf(long));
  return differOf('step') + ERRORS * error < HELD_UP * differOf('waited');
}

type Step = Readonly<Record<'waited' | 'step', number>>;

const median = (steps: readonly Step[], key: keyof Step): number =>
  quantile(
    steps.map((one) => one[key]),
    0.5,
  );

/** Standard error of the median: a normal distribution has half of its values within 1.35 deviations. */
function errorOf(steps: readonly Step[]): number {
  const values = steps.map(({ step }) => step);
  return (1.25 * (quantile(values, 0.75) - quantile(values, 0.25))) / 1.35 / Math.sqrt(values.length);
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.round(q * (values.length - 1))]!;
