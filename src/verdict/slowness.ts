/**
 * Finds the rank for which all others waited, if it cost the run enough to report, and more than chance explains among equal ranks. The
 * late rank is the last on the GPU (cluster/arrival.ts). The reason is its host, or its GPU if its call was on time.
 */

import { addTo, entryOf } from '../base/grouped.js';
import type { Spell } from '../cluster/collective_types.js';
import { maxOf, minOf } from '../base/extremes.js';
import { firstIndex } from '../base/first_index.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { lateSpans, spansTogether, together, type LoneWait } from '../cluster/late_spans.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import { ranksInComm } from './absence.js';
import { cached, collectiveName, type Case } from './case.js';
import { logChance } from './chance.js';
import { found, type Rule } from './finding.js';
import { aheadOf } from './run_ahead.js';
import type { Judged } from './scene.js';
import { slowestLink } from './slow_links.js';
import { takenLate } from './slow_taker.js';
import { placesOf } from './wait_chains.js';
import type { Lateness, LongWait, Slowness } from './types.js';
import { doubt, unclearWhetherSlow } from './unclear.js';

/** Fewer collectives prove no habit. */
export const FEWEST = 4;
/**
 * A rank is slow if all others waited for it alone longer than for any other rank, by at least this share of the time. With few collectives
 * the share is larger. The longest wait does not count, because one wait is no habit.
 */
const shareOf = (collectives: number): number => 0.05 + 0.5 / collectives;
/**
 * How rarely equal ranks may show such a difference by chance. The limit is low, because a team looks at hundreds of runs a day. Few waits
 * are never rare: three of four equal ranks are for one of them in 1 of 16 runs, whatever their sizes. So the limit rises where one rank
 * cost most of the run: `beyondOthers` is the share of the time that it cost more than all others together. Ranks that jitter alike
 * share the lost time, however much it is.
 */
const leastLikely = (beyondOthers: number): number =>
  IS_NO_CHANCE +
  (MOST_LOST - IS_NO_CHANCE) * Math.min(1, Math.max(0, (beyondOthers - QUARTER) / (MOSTLY - QUARTER)));
const IS_NO_CHANCE = Math.log(1 / 1000);
const MAY_BE_CHANCE = Math.log(1 / 20);
const MOST_LOST = Math.log(1 / 10);
const HALF = 0.5;
const MOSTLY = 0.75;
const QUARTER = 0.25;
/** ns: less lost time is not reported as doubtful, because half of a shorter run is its start-up. */
const WORTH_DOUBT = 1e8;
/**
 * ns: a busy machine holds up a proxy thread so long within seconds, and nothing but its steps shows when such a GPU began. Less than this must
 * be a large share.
 */
const SOON_LOST = 2e8;
/** ns: a machine delays a process for some time, so waits for one rank within this time have one cause. */
const ONE_CAUSE = 2e7;
/** Data that wait for a GPU cost so much more than the late rank that they have another reason. */
const OF_ITS_OWN = 1.5;
/** The waits that make up this share of the cost are counted. */
const MOST_OF_IT = 0.9;

export const late: Rule = ({ lateness: { slow } }) =>
  slow ? [found('late', { kind: 'slow', slow }, { stands: false, isSure: true })] : [];

/** Much of the run was lost to a rank, but chance may explain it. */
export const perhapsLate: Rule = (scene) => {
  const { doubtful } = scene.lateness;
  return doubtful ? doubt('perhaps late', false, unclearWhetherSlow(doubtful, scene.silent, scene)) : [];
};

export function slowest(evidence: Case): Judged {
  const judged = evidence.comms
    .filter(({ files }) => evidence.comparable(files))
    .map((comm) => ({ comm, whole: wholeOf(comm, evidence) }));
  const tests = Math.log(judged.filter(({ whole }) => whole.length >= FEWEST).length);
  const candidates = judged.flatMap(({ comm, whole }) => latenessIn(comm, whole, evidence, tests) ?? []);
  const compared = judged.reduce((sum, { whole }) => sum + whole.length, 0);
  const late = costliest([
    ...candidates.map(({ certain }) => (certain?.isSlow ? certain.lateness : null)),
    slowestLink(evidence),
  ]);
  const takers = judged.map(({ comm, whole }) => slowTaker(comm, whole, evidence, tests));
  const taker = costliest(takers.map((found) => (found?.isSlow ? found.lateness : null)));
  // A kernel that begins late also takes its data late.
  const one = taker && taker.cost > OF_ITS_OWN * (late?.cost ?? 0) ? taker : late;
  const several = costliest(judged.map(({ comm, whole }) => lateTogether(comm, whole, evidence, tests)));
  const slow = several && several.cost > OF_ITS_OWN * (one?.cost ?? 0) ? several : one;
  if (slow) return { slow, unresolved: null, latest: null, doubtful: null, compared };
  return {
    slow: null,
    unresolved: costliest(candidates.map(({ nominal }) => (nominal?.isSlow ? nominal.lateness : null))),
    latest: costliest(candidates.map(({ certain }) => certain?.lateness ?? null)),
    doubtful: costliest(candidates.map(({ certain }) => (certain?.isDoubtful ? certain.lateness : null))),
    compared,
  };
}

const costliest = <One extends Slowness>(all: readonly (One | null)[]): One | null =>
  all.reduce((a, b) => (b !== null && (a === null || b.cost > a.cost) ? b : a), null);

interface Found {
  readonly lateness: Lateness;
  readonly isSlow: boolean;
  readonly isDoubtful: boolean;
  readonly lateIn: ReadonlySet<Collective>;
}

/** Before the first collective each rank starts up and connects in its own time. */
function wholeOf(comm: ClusterComm, evidence: Case): Collective[] {
  const size = sizeOf(comm, evidence);
  return comm.collectives.filter((one) => isWhole(one, size)).slice(1);
}

/** `tests`: logarithm of how many communicators are judged, because one of many is more likely to differ by chance. */
function latenessIn(
  comm: ClusterComm,
  whole: readonly Collective[],
  evidence: Case,
  tests: number,
): { certain: Found | null; nominal: Found | null } | null {
  if (whole.length === 0) return null;
  const size = sizeOf(comm, evidence);
  const boundOf = boundsOf(comm, evidence);
  const nominal = latenessOf(whole, comm, size, tests, evidence, () => 0);
  const clockBound = maxOf(whole.map((one) => boundOf(one)));
  return {
    // On one counter both are the same.
    certain: clockBound === 0 ? nominal : latenessOf(whole, comm, size, tests, evidence, boundOf),
    nominal: nominal && { ...nominal, lateness: { ...nominal.lateness, clockBound } },
  };
}

function leftOutOf(
  collectives: readonly Collective[],
  whole: readonly Collective[],
  size: number,
): Lateness['leftOut'] {
  const first = collectives.find((one) => isWhole(one, size));
  const rest = collectives.length - whole.length - (first ? 1 : 0);
  const rooted = collectives.filter((one) => !isForAll(one)).length;
  return { first: first ? `${first.func} seq ${first.seq}` : null, rooted, notWhole: rest - rooted };
}

/**
 * How many ranks of a communicator are compared: all of them, or those that have a file, if they are most. NCCL does not report its size up to
 * interface v3. Then it is the number of files, if none is missing. Infinity: not known.
 */
function sizeOf({ nRanks, files, commId }: ClusterComm, { ranks, isWholeJob }: Case): number {
  const here = files.flatMap((file) => ranksInComm(ranks[file]!, commId)).length;
  if (nRanks > 0) return 2 * here > nRanks ? here : nRanks;
  return isWholeJob ? here : Infinity;
}

/** Error of an arrival in this file, or of the last one, against all others. */
function boundsOf(
  { files }: ClusterComm,
  { clockBound, oneOfEachClock }: Case,
): (one: Collective, late?: number) => number {
  const others = oneOfEachClock(files);
  return ({ lastFile, lastArrival }, late = lastFile) => {
    let most = 0;
    for (const file of others) most = Math.max(most, clockBound(file, late, lastArrival));
    return most;
  };
}

/**
 * Several ranks for which all others waited, such as those of a node. Any ranks may be late together by chance, so each choice of as many ranks
 * is a candidate as likely as any other.
 */
function lateTogether(
  comm: ClusterComm,
  whole: readonly Collective[],
  evidence: Case,
  tests: number,
): Lateness | null {
  const size = sizeOf(comm, evidence);
  const boundOf = boundsOf(comm, evidence);
  type Sets = Map<string, LoneWait[]>;
  const byCount = new Map<number, Sets>();
  for (const one of whole)
    for (const span of spansTogether(one, size, boundOf)) {
      const { ranks, to } = span;
      const from = maxOf(
        ranks.map(({ file }) => waitedUntil(file, to, evidence)),
        span.from,
      );
      if (from >= to) continue;
      const bySet = entryOf(byCount, ranks.length, (): Sets => new Map());
      addTo(bySet, String(ranks.map(({ rank }) => rank)), { ...span, ...ranks[0]!, from, one, bound: 0 });
    }
  const found = [...byCount].map(([count, bySet]) =>
    judgedWaits(bySet, whole, comm, choicesOf(count, size), tests + Math.log(byCount.size), evidence, null),
  );
  // A machine may hold up several processes for some time: little lost time, or one stretch of the run with few of its collectives, proves
  // nothing here.
  const eighths = new Map(whole.map((one, i) => [one, Math.floor((8 * i) / whole.length)]));
  const isHabit = ({ lateness: { heldUp, ofOthers }, lateIn }: Found): boolean =>
    heldUp - ofOthers >= SOON_LOST &&
    (lateIn.size >= QUARTER * whole.length ||
      new Set([...lateIn].map((one) => eighths.get(one))).size >= HALF * 8);
  return costliest(found.map((one) => (one?.isSlow && isHabit(one) ? one.lateness : null)));
}

/** How many sets of so many ranks there are. */
const choicesOf = (count: number, size: number): number =>
  Array.from({ length: count }, (_, i) => (size - i) / (i + 1)).reduce((a, b) => a * b, 1);

function latenessOf(
  whole: readonly Collective[],
  comm: ClusterComm,
  size: number,
  tests: number,
  evidence: Case,
  boundOf: (one: Collective) => number,
): Found | null {
  const byRank = new Map<number, LoneWait[]>();
  for (const one of whole) {
    const bound = boundOf(one);
    for (const { late, from: since, to } of lateSpans(one, bound)) {
      const { file, rank, basis, called } = late;
      const from = Math.max(since, waitedUntil(file, to, evidence));
      if (from < to) addTo(byRank, rank, { from, to, file, rank, basis, called, one, bound });
    }
  }
  return judgedWaits(byRank, whole, comm, size, tests, evidence, null);
}

/** When the last rank called collectives without a known end: until then this file may have waited in them. -Infinity: in none before `to`. */
function waitedUntil(file: number, to: number, { comms }: Case): number {
  const times = lastCallsOf(comms).get(file) ?? [];
  const next = firstIndex(times.length, (i) => times[i]! > to);
  return times[next - 1] ?? -Infinity;
}

/** By file, sorted: those of others. */
const lastCallsOf = cached((comms: Case['comms']): ReadonlyMap<number, readonly number[]> => {
  const times = new Map<number, number[]>();
  for (const { files, collectives } of comms)
    for (const one of collectives.filter(({ end }) => end === null)) {
      const { file, called } = one.late.onHost;
      for (const other of files) if (other !== file) addTo(times, other, called);
    }
  for (const own of times.values()) own.sort((a, b) => a - b);
  return times;
});

/** `byRank`: waits for each of `size` equal ranks, nodes or sets of ranks. */
function judgedWaits(
  byRank: ReadonlyMap<number | string, readonly LoneWait[]>,
  whole: readonly Collective[],
  comm: ClusterComm,
  size: number,
  tests: number,
  { ranks }: Case,
  taker: Lateness['taker'],
): Found | null {
  const latecomers = [...byRank.values()].map((waits) => {
    const spells = together(waits);
    return { waits, spells, cost: lengthOf(spells) };
  });
  if (latecomers.length === 0) return null;
  const latest = latecomers.reduce((a, b) => (b.cost > a.cost ? b : a));
  const { waits, spells, cost } = latest;
  const others = latecomers.filter((one) => one !== latest);
  const ofAllOthers = others.reduce((sum, one) => sum + one.cost, 0);
  const ofOthers = ofAllOthers / Math.max(1, size - 1);
  const span = whole.at(-1)!.end! - Math.min(whole[0]!.firstArrival, waits[0]!.from);
  const longest = longestOf(spells, MOST_OF_IT * cost);
  const worst = waits.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
  const onHost = lengthOf(
    together(waits.map(({ from, to, called }) => ({ from, to: Math.min(to, called) }))),
  );
  const isOnHost = 2 * onHost >= cost;
  const equals = isOnHost || worst.ranks || taker ? size : Math.max(2, minOf(whole.map((one) => one.known)));
  const ahead = isOnHost ? aheadOf(filesOf(waits[0]!), comm, whole, ranks) : null;
  const held = ahead ? Math.min(cost, ahead.gain + cost - onHost) : cost;
  const chance =
    tests +
    (ahead
      ? // The lag of one of two equal sides grows as often as it shrinks.
        logChance(ahead.own, ahead.others, size, 0.5)
      : logChance(
          causes(spells),
          others.flatMap((one) => causes(one.spells)),
          equals,
        ));
  const habit = Math.max(0, held - (worst.to - worst.from) - ofOthers) / span;
  const lost = held - ofOthers;
  const share = lost / span;
  const mayBeItsThread = !isOnHost && worst.basis === 'step' && lost < SOON_LOST && share < QUARTER;
  const slowFrom = Math.max(shareOf(whole.length), mayBeItsThread ? QUARTER : 0);
  const isCostly = habit >= slowFrom;
  // Lost time shows that somebody was late, not that the same ranks were late together.
  const rare = worst.ranks ? IS_NO_CHANCE : leastLikely((held - ofAllOthers) / span);
  const isByChance = chance > rare;
  const isFew = whole.length < FEWEST;
  const lateIn = new Set(waits.map((wait) => wait.one));
  const { commId, name, nRanks, collectives } = comm;
  return {
    lateIn,
    isSlow: isCostly && !isByChance && !isFew,
    isDoubtful:
      !isFew &&
      cost >= WORTH_DOUBT &&
      (share >= HALF || (share >= QUARTER && chance <= MAY_BE_CHANCE && isCostly)),
    lateness: {
      comm: name,
      commId: hex64(commId),
      nRanks,
      file: worst.file,
      inComm: worst.rank,
      together: worst.ranks?.map(({ file, rank }) => ({ file, inComm: [rank] })) ?? [],
      on: isOnHost ? 'host' : 'GPU',
      basis: worst.basis,
      late: lateIn.size,
      of: whole.length,
      leftOut: leftOutOf(collectives, whole, size),
      waits: longest.length,
      longest: longest.slice(0, MOST_NAMED).map((spell) => namedWait(spell, waits)),
      cost,
      ofOthers,
      span,
      course: courseOf(waits, longest, whole),
      from: minOf(longest.map(({ from }) => from)) as TraceNs,
      to: maxOf(longest.map(({ to }) => to)) as TraceNs,
      why: isFew ? 'few' : isByChance ? 'chance' : isCostly ? null : 'cost',
      heldUp: held,
      habit,
      slowFrom,
      chance: Math.min(1, Math.exp(chance)),
      chanceBelow: Math.exp(rare),
      worst: {
        ...collectiveName(comm, worst.one, worst.file, ranks),
        ...{ at: worst.to as TraceNs, by: worst.to - worst.from },
      },
      clockBound: waits.reduce((most, { bound }) => Math.max(most, bound), 0),
      taker,
    },
  };
}

const filesOf = ({ file, ranks = [{ file, rank: 0 }] }: LoneWait): number[] => ranks.map((one) => one.file);

/** Data waited for a GPU, or for one of a node, longer than for those of any other node. */
function slowTaker(
  comm: ClusterComm,
  all: readonly Collective[],
  evidence: Case,
  tests: number,
): Found | null {
  const size = sizeOf(comm, evidence);
  const taken = size < FEWEST_TO_COMPARE ? null : takenLate(comm, all, comm.nRanks || size, evidence);
  if (!taken) return null;
  const { byNode, nodes, channels, whole } = taken;
  const found = judgedWaits(byNode, whole, comm, nodes, tests, evidence, { channel: null, node: null });
  if (!found) return null;
  const node = placesOf(evidence.ranks, comm.commId).nodeOf(found.lateness.file);
  const [[channel, slowest] = [null, 0], next] = [...channels].sort((a, b) => b[1] - a[1]);
  const isOne = next !== undefined && slowest > ONE_OF_MANY * next[1];
  const taker = { channel: isOne ? channel : null, node: node.files.length > 1 ? node : null };
  const { cost, ofOthers, heldUp } = found.lateness;
  // A machine may hold up the threads of a whole node for some time: a large share of little time proves nothing here.
  const isLong = heldUp - ofOthers >= SOON_LOST;
  const isSlow = found.isSlow && isLong && cost >= MOSTLY_THERE * ofOthers * (nodes - 1);
  return { ...found, isSlow, lateness: { ...found.lateness, taker } };
}

/** Where data stay now here and now there, the machines are busy, and none of their GPUs is slow. */
const MOSTLY_THERE = 3;

/** Two ranks do not show what is usual. On one GPU that both share, one of them waits for the other. */
const FEWEST_TO_COMPARE = 3;
/** One channel is slow if its data waited so many times longer than those of any other. */
const ONE_OF_MANY = 4;

const lengthOf = (spells: readonly Spell[]): number =>
  spells.reduce((sum, { from, to }) => sum + to - from, 0);

/** ns: what each cause cost. */
function causes(spells: readonly Spell[]): number[] {
  const costs: number[] = [];
  let until = -Infinity;
  for (const { from, to } of spells) {
    if (from < until) costs[costs.length - 1]! += to - from;
    else {
      costs.push(to - from);
      until = from + ONE_CAUSE;
    }
  }
  return costs;
}

/** So many of a rank's longest waits are named. */
const MOST_NAMED = 100;

/** A spell is named after its longest wait. */
function namedWait({ from, to }: Spell, waits: readonly LoneWait[]): LongWait {
  const { one } = waits
    .filter((wait) => wait.from >= from && wait.to <= to)
    .reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
  return { from: from as TraceNs, to: to as TraceNs, func: one.func, seq: one.seq, replay: one.ordinal };
}

/** The longest spells, as few as make up `cost`, the longest first. */
function longestOf(spells: readonly Spell[], cost: number): Spell[] {
  let left = cost;
  return [...spells]
    .sort((a, b) => b.to - b.from - (a.to - a.from))
    .filter(({ from, to }) => {
      const isNeeded = left > 0;
      left -= to - from;
      return isNeeded;
    });
}

/**
 * The lateness began or ended during the run only if more than this share of the collectives, at the start or at the end, have no long
 * wait. If they span less than twice the mean distance between long waits, this is no change, either.
 */
const EDGE = 0.2;
const GAPS = 2;

function courseOf(
  waits: readonly LoneWait[],
  longest: readonly Spell[],
  whole: readonly Collective[],
): Lateness['course'] {
  if (longest.length === 1) return 'once';
  const spells = [...longest].sort((a, b) => a.from - b.from);
  const late = new Set(waits.filter((wait) => overlapsOne(spells, wait)).map(({ one }) => one));
  const places = whole.flatMap((one, place) => (late.has(one) ? [place] : []));
  const [first, last] = [places[0]!, places.at(-1)!];
  const edge = Math.max(EDGE * whole.length, (GAPS * (last - first)) / (longest.length - 1));
  const isFromBegin = first <= edge;
  const isToEnd = whole.length - 1 - last <= edge;
  if (isFromBegin) return isToEnd ? 'always' : 'until';
  return isToEnd ? 'since' : 'between';
}

/** `spells`: one after the other. */
function overlapsOne(spells: readonly Spell[], wait: Spell): boolean {
  let [low, high] = [0, spells.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spells[middle]!.to > wait.from) high = middle;
    else low = middle + 1;
  }
  return low < spells.length && spells[low]!.from < wait.to;
}

/** In a Broadcast no rank waits for the last rank, and in a Reduce the ranks do not wait for each other. */
const isForAll = ({ root }: Collective): boolean => root < 0;

const isWhole = (one: Collective, nRanks: number): boolean =>
  one.arrived === nRanks &&
  one.arrived > 1 &&
  one.end !== null &&
  one.open.length === 0 &&
  one.aborted.length === 0 &&
  isForAll(one);
