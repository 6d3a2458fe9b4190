/**
 * What differs between two runs by more than noise: collectives by communicator, function and size class, links, and ranks. All numbers are
 * compared together, because among a thousand comparisons some differ by chance. Reads no file.
 */

import type { CollectiveRow } from './collectives.js';
import { changeOf, levelOf, levelsTogether, noiseBetween, type Level } from './noise.js';
import type { RankLabel } from './rank_labels.js';
import type { RunNumbers } from './run_numbers.js';
import { sizeClassOf } from './size_class.js';
import { medianOf } from './statistics.js';
import type { SendSeries } from './over_time.js';

export type Subject =
  | {
      readonly kind: 'collectives';
      readonly comm: string;
      readonly commSize: number;
      readonly func: string;
      /** Lower end, bytes; null: not known. */
      readonly sizeClass: number | null;
    }
  | {
      readonly kind: 'link';
      readonly comm: string;
      readonly source: RankLabel;
      readonly destination: RankLabel;
    }
  | { readonly kind: 'rank'; readonly rank: RankLabel };

export type Measure =
  'duration' | 'busbw' | 'skew' | 'send' | 'lateness' | 'gpuWait' | 'peerWait' | 'recvWait' | 'flushWait';

/** Before and after: medians, ns or GB/s. */
export interface Difference {
  readonly of: Subject;
  readonly measure: Measure;
  readonly before: number;
  readonly after: number;
  /** After / before - 1, and its interval; null: it was 0 before. */
  readonly change: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly isWorse: boolean;
  /** What it costs the second run; negative: saves. null: it is a part of another number's cost. */
  readonly costNs: number | null;
}

export interface Changes {
  /** The costliest first; numbers of one subject together. */
  readonly differences: readonly Difference[];
  readonly compared: number;
  /** By measure: the smallest change that would have shown, the median of all comparisons. */
  readonly resolution: Readonly<Partial<Record<Measure, number>>>;
  /** Collectives of one of the runs only. */
  readonly onlyBefore: readonly Subject[];
  readonly onlyAfter: readonly Subject[];
}

type Shown = number | null;

/** A number that both runs have. `count`: how often it was paid in the second run; null: it is a part of another number. */
interface Pair {
  readonly of: Subject;
  readonly measure: Measure;
  readonly before: Level;
  readonly after: Level;
  readonly floor: number;
  readonly count: number | null;
}

/** Sends of a connection that may be on their way at once (NCCL's steps in flight): their times overlap. */
const IN_FLIGHT = 8;
/** ns per transfer: waits below this are no matter of ratios. */
const WAIT_FLOOR = 10_000;
/** So is skew and lateness below this part of the collectives' median duration. */
const LATE_FLOOR = 0.1;
/** Lateness and waits count if they cost at least this share of the second run's time. */
const LEAST_SHARE = 0.01;

export function changesBetween(before: RunNumbers, after: RunNumbers): Changes {
  const names = commNames(before, after);
  const groups = [groupsOf(before, names), groupsOf(after, names)] as const;
  const floor = lateFloorOf(before, after);
  const pairs = [
    ...collectivePairs(...groups, floor),
    ...linkPairs(before, after, names),
    ...rankPairs(before, after, floor),
  ];
  const differences = pairs.flatMap((pair) => differenceOf(pair, pairs.length, after.durationNs) ?? []);
  return {
    differences: inOrderOfCost(differences),
    compared: pairs.length,
    resolution: resolutionOf(pairs),
    onlyBefore: subjectsMissingIn(groups[1], groups[0]),
    onlyAfter: subjectsMissingIn(groups[0], groups[1]),
  };
}

function lateFloorOf(before: RunNumbers, after: RunNumbers): number {
  const all = [...before.collectives, ...after.collectives].flatMap(({ durationNs }) => durationNs ?? []);
  return Math.max(1, LATE_FLOOR * (all.length > 0 ? medianOf(all) : 0));
}

function differenceOf(pair: Pair, comparisons: number, durationNs: number): Difference | null {
  const { of, measure, floor, count } = pair;
  const change = changeOf(pair.before, pair.after, comparisons);
  if (change === null) return null;
  const [before, after] = [pair.before, pair.after].map(({ log }) => Math.max(0, Math.exp(log) - floor)) as [
    number,
    number,
  ];
  const costNs = count === null ? null : Math.round(count * (after - before));
  const isSmall = floor > 0 && Math.abs((count ?? 0) * (after - before)) < LEAST_SHARE * durationNs;
  if (isSmall) return null;
  const isWorse = measure === 'busbw' ? after < before : after > before;
  // The floor is no part of what is shown.
  const shown = (part: number): number | null =>
    before > 0 ? ((before + floor) * (1 + part) - floor) / before - 1 : null;
  const [middle, low, high] = [change.change, change.low, change.high].map(shown) as [Shown, Shown, Shown];
  return { of, measure, before, after, change: middle, low, high, isWorse, costNs };
}

function inOrderOfCost(all: readonly Difference[]): Difference[] {
  const costs = new Map<Subject, number>();
  for (const { of, costNs } of all) costs.set(of, Math.max(costs.get(of) ?? 0, Math.abs(costNs ?? 0)));
  return [...all].sort((a, b) => costs.get(b.of)! - costs.get(a.of)!);
}

function resolutionOf(pairs: readonly Pair[]): Changes['resolution'] {
  const noise = new Map<Measure, number[]>();
  for (const { measure, before, after } of pairs) {
    const found = noiseBetween(before, after, pairs.length);
    noise.set(measure, [...(noise.get(measure) ?? []), found]);
  }
  return Object.fromEntries([...noise].map(([measure, all]) => [measure, Math.expm1(medianOf(all))]));
}

/** Ids differ from run to run, and so may names. A name that only one run has does not count: then size and ranks say what is compared. */
function commNames(before: RunNumbers, after: RunNumbers): (comm: string) => string {
  const namesIn = ({ collectives, pairs }: RunNumbers): Set<string> =>
    new Set([...collectives, ...pairs].map(({ comm }) => comm));
  const [a, b] = [namesIn(before), namesIn(after)];
  return (comm) => (a.has(comm) && b.has(comm) ? comm : '');
}

type Names = ReturnType<typeof commNames>;
interface Group {
  readonly of: Subject;
  readonly rows: CollectiveRow[];
}

/** The first of each kind on a communicator connects and allocates: it does not count. */
function groupsOf({ collectives }: RunNumbers, names: Names): Map<string, Group> {
  const groups = new Map<string, Group>();
  const seen = new Set<string>();
  for (const row of collectives) {
    const { commId, commSize, func, bytes } = row;
    const sizeClass = bytes === null ? null : sizeClassOf(bytes);
    const of = { kind: 'collectives', comm: names(row.comm), commSize, func, sizeClass } as const;
    const key = JSON.stringify(of);
    const group = groups.get(key) ?? { of, rows: [] };
    groups.set(key, group);
    if (seen.has(`${commId} ${key}`)) group.rows.push(row);
    seen.add(`${commId} ${key}`);
  }
  return groups;
}

const subjectsMissingIn = (here: ReadonlyMap<string, Group>, there: ReadonlyMap<string, Group>): Subject[] =>
  [...there].flatMap(([key, { of }]) => (here.has(key) ? [] : [of]));

function collectivePairs(
  before: ReadonlyMap<string, Group>,
  after: ReadonlyMap<string, Group>,
  lateFloor: number,
): Pair[] {
  return [...after].flatMap(([key, { of, rows }]) => {
    const earlier = before.get(key)?.rows ?? [];
    const pair = (measure: Measure, pick: (row: CollectiveRow) => number | null, floor = 0): Pair[] =>
      paired(
        [earlier, rows].map((all) =>
          levelOf(
            all.map(pick).filter((value) => value !== null),
            floor,
          ),
        ),
        { of, measure, floor, count: measure === 'busbw' ? null : rows.length },
      );
    return [
      ...pair('duration', ({ durationNs }) => durationNs),
      ...pair('busbw', ({ busbwGBs }) => busbwGBs),
      ...pair('skew', ({ skewNs }) => skewNs, lateFloor),
    ];
  });
}

function paired(
  [before, after]: readonly (Level | null | undefined)[],
  about: Omit<Pair, 'before' | 'after'>,
): Pair[] {
  return before && after ? [{ ...about, before, after }] : [];
}

/** Sizes that both runs sent are compared, weighted by how many there were. */
function linkPairs(before: RunNumbers, after: RunNumbers, names: Names): Pair[] {
  const earlier = sendsByLink(before, names);
  return [...sendsByLink(after, names)].flatMap(([key, { of, sends }]): Pair[] => {
    const known = earlier.get(key)?.sends ?? [];
    const levels = sends.flatMap(({ bytes, transfers, means }) => {
      const own = levelOf(means);
      const other = levelOf(known.find((size) => size.bytes === bytes)?.means ?? []);
      return own && other ? [{ own, other, weight: transfers }] : [];
    });
    if (levels.length === 0) return [];
    return [
      {
        of,
        measure: 'send',
        before: levelsTogether(levels.map(({ other, weight }) => ({ level: other, weight }))),
        after: levelsTogether(levels.map(({ own, weight }) => ({ level: own, weight }))),
        floor: 0,
        count: levels.reduce((sum, { weight }) => sum + weight, 0) / IN_FLIGHT,
      },
    ];
  });
}

interface Link {
  readonly of: Subject;
  readonly sends: readonly SendSeries[];
}

/** Communicators without names may join the same two ranks: the one that moved more comes first in both runs. */
function sendsByLink({ pairs, sends }: RunNumbers, names: Names): Map<string, Link> {
  const links = new Map<string, Link>();
  pairs.forEach(({ comm, source, destination }, i) => {
    const of = { kind: 'link', comm: names(comm), source, destination } as const;
    let key = JSON.stringify(of);
    while (links.has(key)) key += '+';
    links.set(key, { of, sends: sends[i]! });
  });
  return links;
}

const RANK_WAITS = [
  ['gpuWait', 'gpu'],
  ['peerWait', 'peer'],
  ['recvWait', 'recv'],
  ['flushWait', 'flush'],
] as const;

function rankPairs(before: RunNumbers, after: RunNumbers, lateFloor: number): Pair[] {
  const files = new Map(before.ranks.map((rank, file) => [rank, file]));
  return after.ranks.flatMap((rank, file) => {
    const other = files.get(rank);
    if (other === undefined || rank === null) return [];
    const of = { kind: 'rank', rank } as const;
    const late = [before.lateness.meanNs[other]!, after.lateness.meanNs[file]!].map((bins) =>
      levelOf(
        bins.filter((value) => value !== null),
        lateFloor,
      ),
    );
    const count = after.lateness.files[file]!.collectives;
    const waits = RANK_WAITS.flatMap(([measure, name]) => {
      const [a, b] = [before.rankWaits[other]!, after.rankWaits[file]!];
      const levels = [a, b].map(({ overTime }) => levelOf(overTime[name], WAIT_FLOOR));
      return paired(levels, { of, measure, floor: WAIT_FLOOR, count: b.transfers / IN_FLIGHT });
    });
    return [...paired(late, { of, measure: 'lateness', floor: lateFloor, count }), ...waits];
  });
}
