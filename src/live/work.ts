/**
 * What the ranks did, as numbers for dashboards: all of them are those of a report (src/analysis). Rings lap, so each look sees the newest
 * records only. Collectives have numbers, so each is counted once over all looks, and those that no look saw are counted, too. Transfers
 * and P2P operations have none: they are those of the records that the look saw.
 */

import type { CauseNumbers } from '../analysis/run_numbers.js';
import { sizeClassOf, type CollectiveRow } from '../analysis/collectives.js';
import type { LinkRow } from '../analysis/link_rows.js';
import { rankLabels, type RankLabel } from '../runs/rank_labels.js';
import { addedBytes } from '../analysis/all_channels.js';
import { addTo, entryOf } from '../base/grouped.js';
import { hex64 } from '../base/hex.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import { reportsSizes } from '../cluster/connections.js';
import { clusterMembers } from '../cluster/join_run.js';
import { overAt } from '../cluster/work_end_times.js';
import type { Study } from '../study/study.js';

/** A histogram: how many values lie above the limit before and up to each limit; the last number has no limit. */
export interface Tally {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** s, and bytes per second. */
export const LIMITS = {
  duration: steps(1e-5, 100),
  skew: steps(1e-6, 100),
  algbw: steps(1e6, 3e12),
  busbw: steps(1e6, 3e12),
} as const;
export type Measured = keyof typeof LIMITS;
export const MEASURED = Object.keys(LIMITS) as Measured[];

function steps(least: number, most: number): readonly number[] {
  const found: number[] = [];
  for (let step = least; step <= most; step *= 10) found.push(step, 3 * step);
  return found.map((step) => Number(step.toPrecision(1))).filter((step) => step <= most);
}

/** Which collectives of a communicator and function were counted. */
export interface Counted {
  readonly comm: string;
  readonly func: string;
  /** Numbers up to this one are counted, unless they are in `pending`. */
  readonly upTo: number;
  /** Numbers that had not ended, or that not all ranks had recorded, when they were looked at. */
  readonly pending: readonly number[];
  /** Replays of captured graphs have the number of their capture, so these are told by time: s since the Unix epoch, by number. */
  readonly replays: readonly (readonly [seq: number, start: number])[];
}

/** What a look adds to what was counted before. */
export interface CountedWork {
  readonly groups: readonly {
    readonly comm: string;
    readonly func: string;
    /** Lower end, bytes; null: not known. */
    readonly sizeClass: number | null;
    readonly outcomes: Readonly<Record<string, number>>;
    readonly bytes: number;
    readonly tallies: Readonly<Record<Measured, Tally>>;
  }[];
  readonly functions: readonly {
    readonly comm: string;
    readonly func: string;
    readonly unseen: number;
    /** Collectives whose last rank is known, and how often each was it. */
    readonly named: number;
    readonly last: Readonly<Record<string, number>>;
  }[];
}

export interface Link extends Pick<
  LinkRow,
  'channel' | 'transfers' | 'bytes' | 'meanNs' | 'average' | 'least'
> {
  readonly comm: string;
  readonly source: string;
  /** 'other': further peers of this source together. */
  readonly destination: string;
}

export interface P2p {
  readonly comm: string;
  readonly func: string;
  readonly rank: string;
  readonly peer: string;
  readonly operations: number;
  readonly bytes: number;
  /** ns, and of how many it is known. */
  readonly tookNs: number;
  readonly timed: number;
}

export interface FunctionSends {
  readonly func: string;
  readonly transfers: number;
  /** null: NCCL did not report them. */
  readonly bytes: number | null;
  /** s on the wire; null: not known of any. */
  readonly mean: number | null;
}

/** Numbers of the records that one look saw. They are not summed over looks. */
export interface SeenWork {
  readonly ranks: readonly {
    readonly rank: string;
    /** s: from the first transfer that ended until the newest record. */
    readonly window: number;
    readonly transfers: number;
    /** Bytes per second since the look before; null: nothing was sent while the records here were made. */
    readonly sent: number | null;
    readonly waits: readonly { readonly func: string; readonly kind: string; readonly seconds: number }[];
    /** Sends over the network by the function that they are of; '': not known. */
    readonly functions: readonly FunctionSends[];
  }[];
  readonly pairs: readonly Link[];
  readonly channels: readonly Link[];
  readonly p2p: readonly P2p[];
}

export interface Work {
  readonly added: CountedWork;
  readonly counted: readonly Counted[];
  readonly seen: SeenWork;
}

export function workOf(studied: Study, numbers: CauseNumbers, before: readonly Counted[]): Work {
  return {
    ...countCollectives(numbers.collectives, Number(studied.clocks.solution.traceStart) / 1e9, before),
    seen: {
      ranks: ranksOf(studied, numbers),
      pairs: folded(numbers.pairs),
      channels: folded(numbers.links),
      p2p: p2pOf(studied),
    },
  };
}

/** s: clocks of two looks at the same records may differ by a little. */
const SAME_REPLAY = 1e-5;

/** `start`: of the rows' times, s since the Unix epoch. */
export function countCollectives(
  rows: readonly CollectiveRow[],
  start: number,
  before: readonly Counted[],
): Pick<Work, 'added' | 'counted'> {
  const known = new Map(before.map((one) => [`${one.comm} ${one.func}`, one]));
  const byFunction = new Map<string, CollectiveRow[]>();
  const ranks = new Map<string, number>();
  for (const row of rows) {
    if (row.seq < 0) continue;
    addTo(byFunction, `${row.commId} ${row.func}`, row);
    ranks.set(row.commId, Math.max(row.ranks, ranks.get(row.commId) ?? 0));
  }
  const groups = new Map<string, Group>();
  const functions: CountedWork['functions'][number][] = [];
  for (const [key, all] of byFunction) {
    const { commId: comm, func } = all[0]!;
    const last = known.get(key) ?? { comm, func, upTo: -1, pending: [], replays: [] };
    const isWhole = (row: CollectiveRow): boolean => row.ranks === ranks.get(comm);
    const { taken, counted, unseen } = takeNew(all, last, isWhole, start);
    known.set(key, counted);
    const lateness = new Map<string, number>();
    for (const row of taken) {
      const sizeClass = row.bytes === null ? null : sizeClassOf(row.bytes);
      entryOf(groups, `${key} ${sizeClass}`, () => new Group(comm, func, sizeClass)).add(row, isWhole(row));
      if (row.lateRank !== null)
        lateness.set(String(row.lateRank), (lateness.get(String(row.lateRank)) ?? 0) + 1);
    }
    const named = [...lateness.values()].reduce((sum, times) => sum + times, 0);
    functions.push({ comm, func, unseen, named, last: Object.fromEntries(lateness) });
  }
  return { added: { groups: [...groups.values()], functions }, counted: [...known.values()] };
}

function takeNew(
  rows: readonly CollectiveRow[],
  before: Counted,
  isWhole: (row: CollectiveRow) => boolean,
  start: number,
): { taken: CollectiveRow[]; counted: Counted; unseen: number } {
  // What returns after a look without it was replayed since, all of it.
  const here = new Set(rows.map(({ seq }) => seq));
  const replays = new Map(before.replays.filter(([seq]) => here.has(seq)));
  for (const { seq, replay } of rows) if (replay > 0 && !replays.has(seq)) replays.set(seq, -Infinity);
  const waitedFor = new Set(before.pending);
  const pending: number[] = [];
  const taken: CollectiveRow[] = [];
  const seen = new Set<number>();
  let upTo = before.upTo;
  for (const row of rows) {
    const { seq } = row;
    const wasSeen = waitedFor.has(seq);
    const isNew = seq > before.upTo;
    upTo = Math.max(upTo, seq);
    if (isNew || wasSeen) seen.add(seq);
    const replayed = replays.get(seq);
    if (replayed !== undefined) {
      const at = start + row.startNs / 1e9;
      if (row.outcome === 'open' || at <= replayed + SAME_REPLAY) continue;
      replays.set(seq, at);
      taken.push(row);
    } else if (!isNew && !wasSeen) continue;
    // The files are read one after the other, so the newest collectives may be in a part of them only.
    else if (row.outcome === 'open' || (!isWhole(row) && !wasSeen)) pending.push(seq);
    else taken.push(row);
  }
  const unseen = upTo - before.upTo + waitedFor.size - seen.size;
  const { comm, func } = before;
  return { taken, counted: { comm, func, upTo, pending, replays: [...replays] }, unseen };
}

class Group {
  readonly outcomes: Record<string, number> = {};
  bytes = 0;
  readonly tallies = Object.fromEntries(MEASURED.map((name) => [name, emptyTally(name)])) as Record<
    Measured,
    MutableTally
  >;

  constructor(
    readonly comm: string,
    readonly func: string,
    readonly sizeClass: number | null,
  ) {}

  /** Without the records of all ranks here a duration would be too short. */
  add(row: CollectiveRow, isWhole: boolean): void {
    this.outcomes[row.outcome] = (this.outcomes[row.outcome] ?? 0) + 1;
    this.bytes += row.bytes ?? 0;
    const per = (value: number | null, unit: number): number | null => value && value * unit;
    this.tally('duration', isWhole ? per(row.durationNs, 1e-9) : null);
    this.tally('skew', per(row.skewNs, 1e-9));
    this.tally('algbw', per(row.algbwGBs, 1e9));
    this.tally('busbw', per(row.busbwGBs, 1e9));
  }

  private tally(name: Measured, value: number | null): void {
    if (value === null) return;
    const place = LIMITS[name].findIndex((limit) => value <= limit);
    const tally = this.tallies[name];
    tally.counts[place < 0 ? LIMITS[name].length : place]!++;
    tally.sum += value;
  }
}

interface MutableTally {
  readonly counts: number[];
  sum: number;
}

const emptyTally = (name: Measured): MutableTally => ({ counts: [...LIMITS[name].map(() => 0), 0], sum: 0 });

const addTallies = (a: Tally, b: Tally): Tally => ({
  counts: a.counts.map((count, i) => count + b.counts[i]!),
  sum: a.sum + b.sum,
});

function addCounts(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = count + (sum[key] ?? 0);
  return sum;
}

/** The sums over all looks at a run. */
export class WorkTotals {
  counted: readonly Counted[] = [];
  seen: SeenWork = { ranks: [], pairs: [], channels: [], p2p: [] };
  private readonly groupSums = new Map<string, CountedWork['groups'][number]>();
  private readonly functionSums = new Map<string, CountedWork['functions'][number]>();

  get groups(): readonly CountedWork['groups'][number][] {
    return [...this.groupSums.values()];
  }

  get functions(): readonly CountedWork['functions'][number][] {
    return [...this.functionSums.values()];
  }

  take({ added, counted, seen }: Work): void {
    this.counted = counted;
    this.seen = seen;
    for (const one of added.groups) {
      const key = `${one.comm} ${one.func} ${one.sizeClass}`;
      const before = this.groupSums.get(key);
      this.groupSums.set(
        key,
        before === undefined
          ? one
          : {
              ...one,
              outcomes: addCounts(before.outcomes, one.outcomes),
              bytes: before.bytes + one.bytes,
              tallies: Object.fromEntries(
                MEASURED.map((name) => [name, addTallies(before.tallies[name], one.tallies[name])]),
              ) as Record<Measured, Tally>,
            },
      );
    }
    for (const one of added.functions) {
      const key = `${one.comm} ${one.func}`;
      const before = this.functionSums.get(key) ?? { ...one, unseen: 0, named: 0, last: {} };
      this.functionSums.set(key, {
        ...one,
        unseen: before.unseen + one.unseen,
        named: before.named + one.named,
        last: addCounts(before.last, one.last),
      });
    }
  }
}

function ranksOf({ run }: Study, { rankWaits, ranks }: CauseNumbers): SeenWork['ranks'] {
  return rankWaits.map(({ file, transfers, byFunc }) => {
    const { scan } = run.members[file]!;
    const { transfers: totals, lastTick, header } = scan;
    return {
      rank: labelText(ranks[file]!),
      window: transfers === 0 ? 0 : ((lastTick ?? totals.ended.first) - totals.ended.first) / header.tickHz,
      transfers,
      sent: transfers === 0 ? null : sentPerSecond(scan),
      waits: byFunc.flatMap(({ func, times }) =>
        Object.entries(times).map(([kind, ns]) => ({ func, kind, seconds: ns / 1e9 })),
      ),
      functions: functionSends(scan),
    };
  });
}

type Scan = Study['run']['members'][number]['scan'];

/** All communicators together, as their waits are. */
function functionSends({ transfers, header, communicators }: Scan): FunctionSends[] {
  const isSized = communicators.every(reportsSizes);
  const byFunc = new Map<string, { sends: number; bytes: number; timed: number; took: number }>();
  for (const { func, sends, bytes, timed, took } of transfers.calls) {
    const sum = entryOf(byFunc, func, () => ({ sends: 0, bytes: 0, timed: 0, took: 0 }));
    sum.sends += sends;
    sum.bytes += bytes;
    sum.timed += timed;
    sum.took += took;
  }
  return [...byFunc]
    .filter(([, { sends }]) => sends > 0)
    .map(([func, { sends, bytes, timed, took }]) => {
      const mean = timed === 0 ? null : took / timed / header.tickHz;
      return { func, transfers: sends, bytes: isSized ? bytes : null, mean };
    });
}

/** The records may cover only a part of that time, because older ones are overwritten. null: they cover none of it. */
function sentPerSecond({ transfers, window, lastSign, header }: Scan): number | null {
  const from = Math.max(window?.from ?? -Infinity, transfers.ended.first);
  const seconds = ((lastSign ?? 0) - from) / header.tickHz;
  return seconds > 0 ? transfers.sent / seconds : null;
}

const labelText = (label: RankLabel): string => (label === null ? '' : String(label));

/** Peers of a rank that are named. */
const MOST_PEERS = 64;
const OTHER = 'other';

/** The peers with the most bytes by name (the rows are in this order), the others of a source together. */
function folded(rows: readonly LinkRow[]): Link[] {
  const peers = new Map<string, Set<string>>();
  const others = new Map<string, { -readonly [Field in keyof Link]: Link[Field] }>();
  const named = rows.flatMap(
    ({ commId: comm, channel, transfers, bytes, meanNs, average, least, ...row }) => {
      const [source, destination] = [labelText(row.source), labelText(row.destination)];
      const own = entryOf(peers, source, () => new Set());
      if (own.size < MOST_PEERS) own.add(destination);
      if (own.has(destination))
        return [{ comm, channel, source, destination, transfers, bytes, meanNs, average, least }];
      const key = `${comm} ${channel} ${source}`;
      const other = others.get(key);
      if (other === undefined) {
        const nothing = { meanNs: null, average: null, least: null };
        others.set(key, { comm, channel, source, destination: OTHER, transfers, bytes, ...nothing });
      } else {
        other.transfers += transfers;
        other.bytes = addedBytes(other.bytes, bytes);
      }
      return [];
    },
  );
  return [...named, ...others.values()];
}

/** Sends and receives that have ended. Their time is from the call until the last transfer or kernel ended. */
function p2pOf({ run, clocks, ends, gpuLines }: Study): P2p[] {
  const labels = rankLabels(run);
  return clusterMembers(run, clocks.solution, ends, gpuLines).flatMap((member, file) => {
    const { works, communicators } = member;
    const found = new Map<string, { -readonly [Field in keyof P2p]: P2p[Field] }>();
    for (let row = 0; row < works.seq.length; row++) {
      if (works.seq[row]! >= 0) continue;
      const comm = communicators.find(({ number }) => number === works.comm[row]!);
      const over = overAt(member, row);
      if (comm === undefined || comm.commId === 0n || Number.isNaN(over)) continue;
      const func = works.funcs[works.func[row]!]!;
      const peer = labelText(labels.inComm(comm.commId, works.peer[row]!, null));
      const key = `${comm.number} ${func} ${peer}`;
      const rank = labelText(labels.inComm(comm.commId, comm.rank, file));
      const of = { comm: hex64(comm.commId), func, rank, peer };
      const one = entryOf(found, key, () => ({ ...of, operations: 0, bytes: 0, tookNs: 0, timed: 0 }));
      one.operations++;
      const element = ELEMENT_BYTES[works.datatypes[works.datatype[row]!]!];
      one.bytes += works.count[row]! * (element ?? 0);
      const took = over - member.time(works.arrival[row]!);
      if (!(took >= 0)) continue;
      one.tookNs += took;
      one.timed++;
    }
    return foldedPeers([...found.values()]);
  });
}

function foldedPeers(all: readonly P2p[]): P2p[] {
  const peers = [...new Set([...all].sort((a, b) => b.bytes - a.bytes).map(({ peer }) => peer))];
  const named = new Set(peers.slice(0, MOST_PEERS));
  const found = new Map<string, P2p>();
  for (const one of all) {
    const peer = named.has(one.peer) ? one.peer : OTHER;
    const key = `${one.comm} ${one.func} ${peer}`;
    const before = found.get(key);
    found.set(key, {
      ...one,
      peer,
      operations: one.operations + (before?.operations ?? 0),
      bytes: one.bytes + (before?.bytes ?? 0),
      tookNs: one.tookNs + (before?.tookNs ?? 0),
      timed: one.timed + (before?.timed ?? 0),
    });
  }
  return [...found.values()];
}
