/**
 * Why a run is slow, as far as its numbers show: everything since a moment, a late rank and when it is late, slow links and what they have in common.
 * Each cause has its evidence, or says what is not known. A healthy run has none.
 */

import { changePoint } from './change_point.js';
import type { CollectiveRow } from './collectives.js';
import type { RankLabel } from './rank_labels.js';
import { sizeClassOf } from './size_class.js';
import { medianOf } from './statistics.js';
import type { LinkRow, SlowLinkRow } from './transfers.js';

/** `view`: a stretch of the trace that shows it, ns. `costNs`: the least that it cost the run; null: not known. */
interface Shown {
  readonly view: readonly [from: number, to: number];
  readonly costNs: number | null;
}

export interface SlowerSince extends Shown {
  readonly cause: 'slower since';
  readonly sinceNs: number;
  /** Collectives take so many times the time before. */
  readonly factor: number;
  readonly before: number;
  readonly after: number;
  /** Kinds (communicator, function, size class) whose median rose, of those seen before and after. */
  readonly slowerKinds: number;
  readonly kinds: number;
}

export interface LateRank extends Shown {
  readonly cause: 'late rank';
  readonly rank: RankLabel;
  readonly on: 'host' | 'GPU';
  readonly when: 'always' | 'at times' | 'since a moment';
  readonly sinceNs: number | null;
  /** Collectives that it held up, and those it might have. */
  readonly late: number;
  readonly of: number;
}

export interface SlowLinks extends Shown {
  readonly cause: 'slow link' | 'slow NIC' | 'slow node';
  /** The rank that all of them have in common; null: a node, or none. */
  readonly rank: RankLabel;
  readonly host: string | null;
  /** Sender and receiver of the first of them. */
  readonly ends: readonly [RankLabel, RankLabel];
  /** Indices into the links. */
  readonly links: readonly number[];
  /** Of so many pairs of ranks that rank or node is an end of, these are slow. */
  readonly slowPairs: number;
  readonly pairs: number;
  /** The largest: send times against the usual ones. */
  readonly ratio: number;
  readonly transfers: number;
  /** The rank has no other link to compare with. */
  readonly cannotTell: 'link or NIC' | null;
}

export type Cause = SlowerSince | LateRank | SlowLinks;

/** What the verdict knows of a slow rank. */
interface SlowRank {
  readonly file: number;
  readonly commId: string;
  readonly on: 'host' | 'GPU' | 'link';
  readonly cost: number;
  readonly worst: { readonly at: number; readonly by: number };
}

export interface CauseEvidence {
  readonly collectives: readonly CollectiveRow[];
  readonly links: readonly LinkRow[];
  readonly slowLinks: readonly SlowLinkRow[];
  /** What the verdict found; null: no rank is slow. */
  readonly slow: SlowRank | null;
  readonly rankOf: (file: number) => RankLabel;
}

export function causesOf(evidence: CauseEvidence): Cause[] {
  return [slowerSince(evidence), lateRank(evidence), ...slowLinkCauses(evidence)].filter(
    (cause) => cause !== null,
  );
}

interface Timed {
  readonly row: CollectiveRow;
  readonly kind: string;
  /** Against the median of its kind. */
  readonly log: number;
}

/** All kinds together: each collective against its like. */
function slowerSince({ collectives }: CauseEvidence): SlowerSince | null {
  const kinds = new Map<string, CollectiveRow[]>();
  for (const row of collectives) {
    if (row.durationNs === null || row.durationNs === 0) continue;
    const key = `${row.commId} ${row.func} ${row.bytes === null ? '' : sizeClassOf(row.bytes)}`;
    const like = kinds.get(key);
    if (like) like.push(row);
    else kinds.set(key, [row]);
  }
  const all = [...kinds].flatMap(([kind, [, ...rows]]): Timed[] => {
    const usual = medianOf(rows.map(({ durationNs }) => durationNs!));
    return rows.map((row) => ({ row, kind, log: Math.log(row.durationNs! / usual) }));
  });
  all.sort((a, b) => a.row.startNs - b.row.startNs);
  const change = changePoint(all.map(({ log }) => log));
  if (change === null) return null;
  const [before, after] = [all.slice(0, change.index), all.slice(change.index)];
  const seen = [...kinds.keys()].flatMap((kind) => {
    const [a, b] = [before, after].map((side) =>
      side.filter((one) => one.kind === kind).map(({ row }) => row.durationNs!),
    ) as [number[], number[]];
    return a.length > 0 && b.length > 0 ? [{ rows: b.length, rise: medianOf(b) - medianOf(a) }] : [];
  });
  const sinceNs = after[0]!.row.startNs;
  const length = medianOf(after.map(({ row }) => row.durationNs!));
  return {
    cause: 'slower since',
    sinceNs,
    factor: Number(change.factor.toPrecision(3)),
    before: before.length,
    after: after.length,
    slowerKinds: seen.filter(({ rise }) => rise > 0).length,
    kinds: seen.length,
    costNs: Math.round(seen.reduce((sum, { rows, rise }) => sum + rows * Math.max(0, rise), 0)),
    view: around(sinceNs, 3 * length),
  };
}

const around = (at: number, length: number): [number, number] => [
  Math.max(0, Math.round(at - length)),
  Math.round(at + length),
];

/** A rank holds up a collective if it comes last by a good part of what it comes late at other times. */
const GOOD_PART = 0.25;
const MOSTLY = 0.75;
const RARELY = 0.15;
const FEWEST_ON_A_SIDE = 4;

function lateRank({ slow, collectives, rankOf }: CauseEvidence): LateRank | null {
  if (slow === null || slow.on === 'link') return null;
  const rank = rankOf(slow.file);
  const [, ...rows] = collectives.filter(({ commId, skewNs }) => commId === slow.commId && skewNs !== null);
  const own = rows.filter(({ lateRank }) => lateRank === rank).map(({ skewNs }) => skewNs!);
  if (own.length === 0) return null;
  const much = GOOD_PART * [...own].sort((a, b) => b - a)[Math.floor(own.length / 10)]!;
  const isLate = rows.map((row) => row.lateRank === rank && row.skewNs! >= much);
  const late = isLate.filter(Boolean).length;
  const since = sinceWhen(isLate);
  const when = since !== null ? 'since a moment' : late >= MOSTLY * rows.length ? 'always' : 'at times';
  const from = since === null ? slow.worst.at - slow.worst.by : rows[since]!.startNs;
  return {
    cause: 'late rank',
    rank,
    on: slow.on,
    when,
    sinceNs: since === null ? null : rows[since]!.startNs,
    late,
    of: rows.length,
    costNs: Math.round(slow.cost),
    view: around(from, 3 * slow.worst.by),
  };
}

/** The index before which it was rarely late, and after which mostly; null: there is none. */
function sinceWhen(isLate: readonly boolean[]): number | null {
  const late = isLate.filter(Boolean).length;
  let before = 0;
  let best: { readonly index: number; readonly score: number } | null = null;
  isLate.forEach((value, index) => {
    const [early, later] = [before / Math.max(1, index), (late - before) / (isLate.length - index)];
    const score = later - early;
    const isLong = Math.min(index, isLate.length - index) >= FEWEST_ON_A_SIDE;
    if (isLong && early <= RARELY && later >= MOSTLY && score > (best?.score ?? 0)) best = { index, score };
    if (value) before++;
  });
  return (best as { readonly index: number } | null)?.index ?? null;
}

/** If all links of a rank are slow and it has several, its NIC is slow. If a host has several such ranks, the node is. */
function slowLinkCauses({ links, slowLinks, collectives }: CauseEvidence): SlowLinks[] {
  const slow = slowLinks.map((one) => ({ ...one, row: links[one.link]! }));
  const pairOf = ({ commId, source, destination }: LinkRow): string => `${commId} ${source} ${destination}`;
  const slowPairs = new Set(slow.map(({ row }) => pairOf(row)));
  const ends = (row: LinkRow, by: 'rank' | 'host'): (RankLabel | null)[] =>
    by === 'rank' ? [row.source, row.destination] : [row.sourceHost, row.destinationHost];
  const left = new Set(slow);
  const causes: SlowLinks[] = [];
  const add = (cause: SlowLinks['cause'], key: RankLabel, all: typeof slow, pairs: number): void => {
    for (const one of all) left.delete(one);
    const [first] = all as [(typeof slow)[number]];
    const longest = collectives
      .filter(({ commId, durationNs }) => commId === first.row.commId && durationNs !== null)
      .reduce<CollectiveRow | null>((a, b) => (a === null || b.durationNs! > a.durationNs! ? b : a), null);
    causes.push({
      cause,
      rank: cause === 'slow node' ? null : key,
      host: cause === 'slow node' ? String(key) : first.row.sourceHost,
      ends: [first.row.source, first.row.destination],
      links: all.map(({ link }) => link),
      slowPairs: new Set(all.map(({ row }) => pairOf(row))).size,
      pairs,
      ratio: all.reduce((most, { ratio }) => Math.max(most, ratio), 0),
      transfers: all.reduce((sum, { transfers }) => sum + transfers, 0),
      costNs: all.reduce((most, { costNs }) => Math.max(most, costNs), 0),
      cannotTell: cause === 'slow link' && pairs === 1 ? 'link or NIC' : null,
      view: longest ? around(longest.startNs + longest.durationNs! / 2, longest.durationNs!) : [0, 0],
    });
  };
  const among = (
    by: 'rank' | 'host',
    direction: 0 | 1 | null,
    key: RankLabel,
    rows: readonly LinkRow[],
  ): LinkRow[] =>
    rows.filter((row) =>
      direction === null ? ends(row, by).includes(key) : ends(row, by)[direction] === key,
    );
  const isWhole = (
    by: 'rank' | 'host',
    direction: 0 | 1 | null,
    key: RankLabel,
    rows: readonly LinkRow[],
  ): boolean => among(by, direction, key, rows).every((row) => slowPairs.has(pairOf(row)));
  for (const [cause, by] of [
    ['slow node', 'host'],
    ['slow NIC', 'rank'],
  ] as const)
    for (const direction of [null, 0, 1] as const)
      for (const key of new Set([...left].flatMap(({ row }) => ends(row, by)))) {
        // Within a host, all links have both ends on it.
        const all = by === 'rank' ? links : links.filter((row) => row.sourceHost !== row.destinationHost);
        const own = among(by, direction, key, all);
        const pairs = new Set(own.map(pairOf));
        const ranks = new Set(own.map((row) => (row.sourceHost === key ? row.source : row.destination)));
        if (pairs.size < 2 || (by === 'host' && ranks.size < 2) || !isWhole(by, direction, key, all))
          continue;
        // If all links of an other end are slow, too, it may as well be at fault.
        const others = new Set(own.flatMap((row) => ends(row, by)).filter((end) => end !== key));
        const opposite = direction === null ? null : direction === 0 ? 1 : 0;
        if ([...others].some((other) => isWhole(by, opposite, other, all))) continue;
        const found = [...left].filter(({ row }) => own.includes(row));
        if (found.length > 0) add(cause, key, found, pairs.size);
      }
  for (const one of [...left]) {
    if (!left.has(one)) continue;
    const same = [...left].filter(({ row }) => pairOf(row) === pairOf(one.row));
    const pairs = new Set(among('rank', 0, one.row.source, links).map(pairOf));
    add('slow link', one.row.source, same, pairs.size);
  }
  return causes.sort((a, b) => b.costNs! - a.costNs!);
}
