/**
 * AlltoAlls as operations: what each pair of ranks exchanged, and each AlltoAll once for all its ranks. NCCL sees sends and receives; those that
 * a rank called in one group are its part of an AlltoAll, and the n-th part of each rank belongs to the n-th of the others. This is known
 * only if the records of all ranks reach back to the first one.
 */

import { maxOf, minOf } from '../base/extremes.js';
import { addTo } from '../base/grouped.js';
import { median } from '../base/median.js';
import { ELEMENT_BYTES } from '../cluster/bandwidth.js';
import type { ClusterMember } from '../cluster/collective_types.js';
import { clusterMembers } from '../cluster/join_run.js';
import { overAt } from '../cluster/work_end_times.js';
import { outcomeAt } from '../model/work_end_table.js';
import { hex64 } from '../base/hex.js';
import type { Study } from '../study/study.js';
import type { AllToAll } from './all_to_all.js';
import { type RankLabel, type RankLabels, rankLabels } from './rank_labels.js';

/** What one rank sent to another, in all AlltoAlls of a communicator. */
export interface ExchangeRow {
  readonly comm: string;
  readonly commId: string;
  readonly source: RankLabel;
  readonly destination: RankLabel;
  readonly sends: number;
  readonly bytes: number;
}

export interface AllToAllRow {
  readonly comm: string;
  readonly commId: string;
  readonly commSize: number;
  /** Number on its communicator, from 0. */
  readonly call: number;
  /** ns of the trace: the first rank's call. */
  readonly startNs: number;
  /** To the end of the last rank; null: a rank has not ended, or its end is not known. */
  readonly durationNs: number | null;
  /** Sent by all ranks, without what each keeps. */
  readonly bytes: number;
  /** The rank that receives or sends most, how much, and the median of the others. */
  readonly mostRank: RankLabel;
  readonly mostBytes: number;
  readonly mostWay: 'receives' | 'sends';
  readonly usualBytes: number;
  /** The rank whose end was the last, and how long after the one before it. null: as the duration. */
  readonly lastRank: RankLabel;
  readonly lastByNs: number | null;
  /** It is the rank with the most bytes, which are at least twice the others'. null: as the duration. */
  readonly isLastByBytes: boolean | null;
}

type Joined = Pick<Study, 'run' | 'clocks' | 'ends' | 'gpuLines'>;

/** One rank's part of an AlltoAll. */
interface Part {
  readonly rank: RankLabel;
  start: number;
  /** NaN: not ended, or not known. */
  end: number;
  sent: number;
  received: number;
}

/** `found`: the communicators that have AlltoAlls. */
export function exchanges(
  { run, clocks, ends, gpuLines }: Joined,
  found: readonly AllToAll[],
): { readonly pairs: ExchangeRow[]; readonly calls: AllToAllRow[] } {
  const labels = rankLabels(run);
  const members = clusterMembers(run, clocks.solution, ends, gpuLines);
  const each = found.map((one) => exchangesOf(one, members, labels));
  return { pairs: each.flatMap(({ pairs }) => pairs), calls: each.flatMap(({ calls }) => calls) };
}

function exchangesOf(
  { comm, commId, commSize }: AllToAll,
  members: readonly ClusterMember[],
  labels: RankLabels,
): { readonly pairs: ExchangeRow[]; readonly calls: AllToAllRow[] } {
  const pairs = new Map<string, ExchangeRow>();
  const parts: Part[][] = [];
  members.forEach((member, file) => {
    const own = member.communicators.find((one) => hex64(one.commId) === commId);
    if (own === undefined) return;
    const rank = labels.inComm(own.commId, own.rank, file);
    const rows = sendsAndReceives(member, own.number, own.rank);
    parts.push(partsOf(member, rows, rank));
    for (const row of rows) {
      if (!isSend(member, row)) continue;
      const destination = labels.inComm(own.commId, member.works.peer[row]!, null);
      const key = `${rank} ${destination}`;
      const { sends = 0, bytes = 0 } = pairs.get(key) ?? {};
      const pair = { comm, commId, source: rank, destination };
      pairs.set(key, { ...pair, sends: sends + 1, bytes: bytes + bytesOf(member, row) });
    }
  });
  const count = parts.length === commSize ? minOf(parts.map(({ length }) => length)) : 0;
  const calls = Array.from({ length: count }, (_, call) => ({
    ...{ comm, commId, commSize, call },
    ...allToAllOf(parts.map((own) => own[call]!)),
  }));
  return { pairs: [...pairs.values()], calls };
}

/** Without those of a rank to itself. */
const sendsAndReceives = ({ works }: ClusterMember, comm: number, self: number): number[] =>
  Array.from(works.seq, (_, row) => row).filter(
    (row) => works.seq[row]! < 0 && works.comm[row] === comm && works.peer[row] !== self,
  );

const isSend = ({ works }: ClusterMember, row: number): boolean => works.funcs[works.func[row]!] === 'Send';

const bytesOf = ({ works }: ClusterMember, row: number): number =>
  works.count[row]! * (ELEMENT_BYTES[works.datatypes[works.datatype[row]!]!] ?? 0);

/** In order of the calls. None if the first one, or a group, is not known. */
function partsOf(member: ClusterMember, rows: readonly number[], rank: RankLabel): Part[] {
  const { works, ends, time } = member;
  const firsts = new Map<string, number>();
  for (const row of rows) {
    const key = `${works.peer[row]} ${works.func[row]}`;
    firsts.set(key, Math.min(firsts.get(key) ?? Infinity, works.ordinal[row]!));
  }
  const isWhole = [...firsts.values()].every((ordinal) => ordinal === 0);
  if (!isWhole || rows.some((row) => works.group[row]! < 0 || works.ordinalAbsolute[row] !== 1)) return [];
  const groups = new Map<number, number[]>();
  for (const row of rows) addTo(groups, works.group[row]!, row);
  return [...groups.values()].map((own) => {
    const sum = (of: (row: number) => boolean): number =>
      own.filter(of).reduce((bytes, row) => bytes + bytesOf(member, row), 0);
    const over = own.map((row) => (outcomeAt(ends, row) === 'open' ? NaN : overAt(member, row)));
    return {
      rank,
      start: minOf(own.map((row) => time(works.arrival[row]!))),
      end: over.some(Number.isNaN) ? NaN : maxOf(over),
      sent: sum((row) => isSend(member, row)),
      received: sum((row) => !isSend(member, row)),
    };
  });
}

const UNEVEN = 2;

function allToAllOf(parts: readonly Part[]): Omit<AllToAllRow, 'comm' | 'commId' | 'commSize' | 'call'> {
  const by = (of: 'received' | 'sent') => {
    const most = parts.reduce((a, b) => (b[of] > a[of] ? b : a));
    return {
      most,
      bytes: most[of],
      usual: median(parts.filter((one) => one !== most).map((one) => one[of]))!,
    };
  };
  const [received, sent] = [by('received'), by('sent')];
  const { most, bytes, usual } = sent.bytes > received.bytes ? sent : received;
  const startNs = Math.round(minOf(parts.map(({ start }) => start)));
  const isKnown = !parts.some(({ end }) => Number.isNaN(end));
  const [last, before] = isKnown ? [...parts].sort((a, b) => b.end - a.end) : [];
  return {
    startNs,
    durationNs: last === undefined ? null : Math.round(last.end) - startNs,
    bytes: parts.reduce((sum, part) => sum + part.sent, 0),
    mostRank: most.rank,
    mostBytes: bytes,
    mostWay: sent.bytes > received.bytes ? 'sends' : 'receives',
    usualBytes: usual,
    lastRank: last?.rank ?? null,
    lastByNs: last === undefined || before === undefined ? null : Math.round(last.end - before.end),
    isLastByBytes: last === undefined ? null : last === most && bytes >= UNEVEN * usual,
  };
}
