/**
 * What a late host costs where hosts run ahead: they call the next collectives before this one is over, and wait only if they are too far
 * ahead, or never. Then a lag stays from call to call, and is one event. What counts is how it changes, and what the run would gain if this
 * rank took no more time for its calls than the others.
 */

import { maxOf } from '../base/extremes.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import type { RankWitness } from './file_facts.js';

/** A regular place is shown by nearly all cases of so many. */
const REPEATS = 8;
const NEARLY_ALL = 0.95;
const MUCH = 0.2;
/** Times of calls that are looked up. A longer run shows in its last part what the whole would. */
const MOST_CALLS = 400_000;

export interface Ahead {
  /** ns: what the run would gain. */
  readonly gain: number;
  /** ns: how the lag grew and shrank, call by call. */
  readonly own: readonly number[];
  readonly others: readonly number[];
}

/** null: the hosts do not run ahead, or wait for each other at regular places all the same. */
export function aheadOf(
  late: readonly number[],
  { commId, files }: ClusterComm,
  all: readonly Collective[],
  ranks: readonly RankWitness[],
): Ahead | null {
  if (!runAhead(all)) return null;
  const whole = all.slice(-Math.floor(MOST_CALLS / files.length));
  const called = (collective: Collective, of: readonly number[]): number =>
    maxOf(of.map((file) => ranks[file]!.calls.entered(commId, collective)?.at ?? -Infinity));
  const rest = files.filter((file) => !late.includes(file));
  const calls = whole.map((one): Called => ({
    own: called(one, late),
    others: called(one, rest),
    end: one.end!,
  }));
  if (calls.some(({ own, others }) => own === -Infinity || others === -Infinity)) return null;
  const depth = depthOf(whole);
  const changes = calls
    .slice(1)
    .map((_, i) => hostTime('own', calls, i + 1, depth) - hostTime('others', calls, i + 1, depth));
  const scale = all.length / whole.length;
  return {
    gain: scale * Math.max(0, calls.at(-1)!.end - endWithout(calls, depth)),
    own: changes.filter((change) => change > 0),
    others: changes.flatMap((change) => (change < 0 ? [-change] : [])),
  };
}

interface Called {
  readonly own: number;
  /** The last of them. */
  readonly others: number;
  readonly end: number;
}

/**
 * Hosts run ahead if much of their time passes before all have come to the collective before. Hosts that only call several collectives in
 * one go do not. Neither do hosts that wait at every n-th collective: there, all of them called after all had come to the one before.
 */
function runAhead(whole: readonly Collective[]): boolean {
  const isBorder = whole.map(({ firstCalled }, i) => i === 0 || firstCalled >= whole[i - 1]!.lastArrival);
  const since = (i: number): number => whole[i]!.firstCalled - whole[i - 1]!.firstCalled;
  const ahead = isBorder.reduce((sum, is, i) => (is ? sum : sum + since(i)), 0);
  if (ahead < MUCH * (whole.at(-1)!.firstCalled - whole[0]!.firstCalled)) return false;
  for (let period = 1; period * REPEATS <= whole.length; period++) {
    const counts = new Uint32Array(period);
    isBorder.forEach((is, i) => (counts[i % period]! += Number(is)));
    if (maxOf([...counts]) >= NEARLY_ALL * Math.floor(whole.length / period)) return false;
  }
  return true;
}

/** How many collectives a host runs ahead at most; Infinity: any number. The host's own end lets it go on, so the last end would be too late. */
function depthOf(whole: readonly Collective[]): number {
  for (let depth = 1; depth * REPEATS <= whole.length; depth++) {
    const late = whole.slice(depth).filter(({ firstCalled }, i) => firstCalled >= whole[i]!.lastArrival);
    if (late.length >= NEARLY_ALL * (whole.length - depth)) return depth;
  }
  return Infinity;
}

/** ns that the host itself took for this call, since the one before or since it could go on. */
function hostTime(who: 'own' | 'others', calls: readonly Called[], i: number, depth: number): number {
  return calls[i]![who] - Math.max(calls[i - 1]![who], calls[i - depth]?.end ?? -Infinity);
}

/** When the last collective would have ended if this rank had taken the others' time for each call. */
function endWithout(calls: readonly Called[], depth: number): number {
  const ends: number[] = [];
  let at = calls[0]!.others;
  calls.forEach((one, i) => {
    if (i > 0) at = Math.max(at, ends[i - depth] ?? -Infinity) + hostTime('others', calls, i, depth);
    ends.push(at + one.end - Math.max(one.own, one.others));
  });
  return ends.at(-1)!;
}
