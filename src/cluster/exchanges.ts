/**
 * AlltoAlls as operations: each once for all its ranks. NCCL sees sends and receives. Those that a rank called in one group are its part,
 * and parts belong together if one sends what another receives: the n-th send from a rank to a peer is the n-th receive there. Nothing is
 * matched by time. This is known only if the records of all ranks reach back to the first send and receive.
 */

import { maxOf, minOf } from '../base/extremes.js';
import { addTo } from '../base/grouped.js';
import { median } from '../base/median.js';
import type { TraceNs } from '../base/time.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import type { ClockSolution } from '../clocks/domains.js';
import type { GpuLines } from '../clocks/evidence/gpu_clocks.js';
import type { Run } from '../runs/run.js';
import { type AmongAll, amongAll, isAmongAll, UNEVEN } from './among_all.js';
import { ELEMENT_BYTES } from './bandwidth.js';
import type { ClusterCommunicator, ClusterMember } from './collective_types.js';
import { clusterMembers } from './join_run.js';
import { overAt } from './work_end_times.js';

/** What all ranks of a communicator sent to each other. */
export interface CommExchanges extends Pick<AmongAll, 'commId' | 'name' | 'size'> {
  readonly pairs: readonly ExchangedPair[];
  /** That have it. */
  readonly files: readonly number[];
  /** By first call. */
  readonly exchanges: readonly Exchange[];
}

/** What one rank sent to another, in all of them. */
export interface ExchangedPair {
  /** Ranks of the communicator. */
  readonly source: number;
  readonly file: number;
  readonly destination: number;
  readonly sends: number;
  readonly bytes: number;
}

export interface Exchange {
  /** Number on its communicator, from 0. */
  readonly call: number;
  /** One for each rank that is seen to call it, by file. */
  readonly parts: readonly ExchangePart[];
  /** The first rank's call. */
  readonly start: TraceNs;
  /** Sent by all ranks, without what each keeps. */
  readonly bytes: number;
  /** The rank that receives or sends most, how much, and the median of the others. */
  readonly most: ExchangePart;
  readonly mostWay: 'receives' | 'sends';
  readonly mostBytes: number;
  readonly usualBytes: number;
}

/** One rank's part of an AlltoAll. */
export interface ExchangePart {
  readonly file: number;
  /** In the communicator. */
  readonly rank: number;
  readonly start: TraceNs;
  readonly enqueued: TraceNs;
  /** null: not ended, or not known. */
  readonly end: TraceNs | null;
  readonly state: 'ended' | 'open' | 'aborted' | 'not known';
  readonly sent: number;
  readonly received: number;
}

/** The last rank to end, and how long after the one before. null: a rank is not seen to end, or an abort ended its part. */
export function lastOf({ parts, most, mostBytes, usualBytes }: Exchange, size: number) {
  const ended = parts.flatMap(({ end, ...part }) =>
    end === null || part.state === 'aborted' ? [] : [{ ...part, end }],
  );
  const [last, before] = ended.sort((a, b) => b.end - a.end);
  if (!last || !before || ended.length < size) return null;
  // It is the rank with the most bytes, and they are far more than the others'.
  const isByBytes = last.rank === most.rank && mostBytes >= UNEVEN * usualBytes;
  return { last, before, by: last.end - before.end, isByBytes };
}

/** The AlltoAlls of each communicator that has some. `ends`, `gpuLines`: by file. */
export function runExchanges(
  run: Run,
  clocks: ClockSolution,
  ends: readonly WorkEndTable[],
  gpuLines: readonly GpuLines[],
): CommExchanges[] {
  const found = amongAll(run);
  const members = found.length === 0 ? [] : clusterMembers(run, clocks, ends, gpuLines);
  return found.map((comm) => exchangesOf(comm, members));
}

function exchangesOf(
  { commId, name, size, ranks }: AmongAll,
  members: readonly ClusterMember[],
): CommExchanges {
  const pairs: ExchangedPair[] = [];
  const joined = new JoinedParts(size);
  members.forEach((member, file) => {
    for (const own of member.communicators.filter((one) => one.commId === commId)) {
      const rows = sendsAndReceives(member, own);
      const sends = new Map<number, number[]>();
      for (const row of rows) if (isSend(member, row)) addTo(sends, member.works.peer[row]!, row);
      for (const [destination, all] of sends) {
        const bytes = sumOf(member, all);
        pairs.push({ source: own.rank, file, destination, sends: all.length, bytes });
      }
      joined.add(member, file, own.rank, rows);
    }
  });
  const files = [...new Set(ranks.map(({ file }) => file))];
  return { commId, name, size, pairs, files, exchanges: joined.exchanges() };
}

/** Without those of a rank to itself. */
const sendsAndReceives = ({ works }: ClusterMember, { number, rank }: ClusterCommunicator): number[] =>
  Array.from(works.seq, (_, row) => row).filter(
    (row) => works.seq[row]! < 0 && works.comm[row] === number && works.peer[row] !== rank,
  );

const isSend = ({ works }: ClusterMember, row: number): boolean => works.funcs[works.func[row]!] === 'Send';

const sumOf = ({ works }: ClusterMember, rows: readonly number[]): number =>
  rows.reduce(
    (sum, row) => sum + works.count[row]! * (ELEMENT_BYTES[works.datatypes[works.datatype[row]!]!] ?? 0),
    0,
  );

/** The ranks' parts, and which of them belong together. */
class JoinedParts {
  private readonly parts: ExchangePart[] = [];
  /** By part: another part of the same exchange, in the end the first one. */
  private readonly leads: number[] = [];
  /** By source and destination, then by ordinal: the first part that is seen to be at one of its ends. */
  private readonly transfers: (number[] | undefined)[] = [];
  private ranks = 0;

  constructor(private readonly size: number) {}

  /** Adds nothing if its first send or receive, or a group, is not known. */
  add(member: ClusterMember, file: number, rank: number, rows: readonly number[]): void {
    const { works } = member;
    const firsts = new Map<string, number>();
    for (const row of rows) {
      const key = `${works.peer[row]} ${works.func[row]}`;
      firsts.set(key, Math.min(firsts.get(key) ?? Infinity, works.ordinal[row]!));
    }
    const isWhole = [...firsts.values()].every((ordinal) => ordinal === 0);
    if (!isWhole || rows.some((row) => works.group[row]! < 0 || works.ordinalAbsolute[row] !== 1)) return;
    this.ranks++;
    const groups = new Map<number, number[]>();
    for (const row of rows) addTo(groups, works.group[row]!, row);
    for (const own of groups.values()) {
      const part = this.parts.push(partOf(member, file, rank, own)) - 1;
      this.leads.push(part);
      for (const row of own) this.join(part, this.pair(member, rank, row), works.ordinal[row]!);
    }
  }

  private pair(member: ClusterMember, rank: number, row: number): number {
    const peer = member.works.peer[row]!;
    return isSend(member, row) ? rank * this.size + peer : peer * this.size + rank;
  }

  private join(part: number, pair: number, ordinal: number): void {
    const seen = (this.transfers[pair] ??= []);
    const other = seen[ordinal];
    if (other === undefined) seen[ordinal] = part;
    else this.leads[this.leadOf(part)] = this.leadOf(other);
  }

  private leadOf(part: number): number {
    let lead = part;
    while (this.leads[lead] !== lead) lead = this.leads[lead] = this.leads[this.leads[lead]!]!;
    return lead;
  }

  /** None if a rank's parts are not known. */
  exchanges(): Exchange[] {
    if (this.ranks < this.size) return [];
    const pairs = new Map<number, number>();
    for (const seen of this.transfers)
      for (const lead of new Set(seen?.map((part) => this.leadOf(part))))
        pairs.set(lead, (pairs.get(lead) ?? 0) + 1);
    const together = new Map<number, ExchangePart[]>();
    this.parts.forEach((part, i) => {
      addTo(together, this.leadOf(i), part);
    });
    return [...together]
      .filter(([lead, parts]) => isAmongAll(pairs.get(lead) ?? 0, this.size) && isOnceEach(parts))
      .map(([, parts]) => exchangeOf(parts))
      .sort((a, b) => a.start - b.start)
      .map((exchange, call) => ({ call, ...exchange }));
  }
}

const isOnceEach = (parts: readonly ExchangePart[]): boolean =>
  new Set(parts.map(({ rank }) => rank)).size === parts.length;

function partOf(member: ClusterMember, file: number, rank: number, rows: readonly number[]): ExchangePart {
  const { works, ends, time } = member;
  const outcomes = new Set(rows.map((row) => outcomeAt(ends, row)));
  const over = maxOf(rows.map((row) => overAt(member, row)));
  const state = (['open', 'aborted'] as const).find((one) => outcomes.has(one));
  const isKnown = state !== 'open' && !Number.isNaN(over);
  return {
    ...{ file, rank },
    start: minOf(rows.map((row) => time(works.arrival[row]!))) as TraceNs,
    enqueued: maxOf(rows.map((row) => time(works.enqueued[row]!))) as TraceNs,
    end: isKnown ? (over as TraceNs) : null,
    state: state ?? (isKnown ? 'ended' : 'not known'),
    sent: sumOf(
      member,
      rows.filter((row) => isSend(member, row)),
    ),
    received: sumOf(
      member,
      rows.filter((row) => !isSend(member, row)),
    ),
  };
}

function exchangeOf(parts: readonly ExchangePart[]): Omit<Exchange, 'call'> {
  const by = (of: 'received' | 'sent') => {
    const most = parts.reduce((a, b) => (b[of] > a[of] ? b : a));
    const usual = median(parts.filter((one) => one !== most).map((one) => one[of]));
    return { most, mostBytes: most[of], usualBytes: usual! };
  };
  const [received, sent] = [by('received'), by('sent')];
  const isSent = sent.mostBytes > received.mostBytes;
  return {
    parts,
    start: minOf(parts.map(({ start }) => start)) as TraceNs,
    bytes: parts.reduce((sum, part) => sum + part.sent, 0),
    ...(isSent ? sent : received),
    mostWay: isSent ? 'sends' : 'receives',
  };
}
