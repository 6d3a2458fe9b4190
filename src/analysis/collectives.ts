/**
 * Each collective of the run as a row of a table, and groups of rows: by communicator, function and size class. A number is null if the
 * files do not show it. A skew needs all ranks and comparable clocks. A bandwidth needs all ends.
 */

import { addTo } from '../base/grouped.js';
import { hex64 } from '../base/hex.js';
import { bandwidthsOf } from '../cluster/bandwidth.js';
import type { Comparable } from '../clocks/comparable.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import type { RankLabel, RankLabels } from '../runs/rank_labels.js';
import { quantile, sortedNumbers } from '../base/quantile.js';

export type Outcome = 'complete' | 'open' | 'aborted' | 'end not known';

export type CollectiveRow = Readonly<ReturnType<typeof rowOf>>;

export type CollectiveGroup = Readonly<ReturnType<typeof groupOf>>;

/** In order of time. */
export function collectiveRows(
  comms: readonly ClusterComm[],
  labels: RankLabels,
  comparable: Comparable,
): CollectiveRow[] {
  return comms
    .flatMap((comm) => {
      const isComparable = comparable.comparable(comm.files);
      const commId = hex64(comm.commId);
      return comm.collectives.map((one) => rowOf(one, comm, commId, labels, isComparable, comparable));
    })
    .sort((a, b) => a.startNs - b.startNs);
}

function rowOf(
  one: Collective,
  comm: ClusterComm,
  commId: string,
  labels: RankLabels,
  isComparable: boolean,
  { clockBound }: Comparable,
) {
  const outcome = outcomeOf(one);
  const isWhole = one.arrived >= 2 && one.arrived === comm.nRanks && isComparable;
  const skew = isWhole ? one.lastArrival - one.firstArrival : null;
  const clocks = isWhole ? clockBound(one.firstFile, one.lastFile, one.lastArrival) : Infinity;
  const isNamed = skew !== null && skew > 0 && skew > clocks;
  const end = outcome === 'complete' && isComparable ? one.end : null;
  const { bytes, fromLast, fromFirst } = bandwidthsOf(one, comm.nRanks, isComparable);
  return {
    comm: comm.name,
    /** 16 hexadecimal digits. */
    commId,
    commSize: comm.nRanks,
    func: one.func,
    seq: one.seq,
    /** Which replay of a captured graph. */
    replay: one.ordinal,
    datatype: one.datatype,
    /** Algorithm and protocol, as RING/SIMPLE; several if its ranks differ; '': not known. */
    plan: one.plan,
    /** Channels; 0: not known. */
    channels: one.channels,
    /** ns of the trace: the first arrival. */
    startNs: Math.round(one.firstArrival),
    /** From the first arrival to the last end; null: not ended, or not known. */
    durationNs: end === null ? null : Math.round(Math.max(0, end - one.firstArrival)),
    /** First to last arrival. null: not all ranks came, or the clocks are not exact enough. */
    skewNs: skew === null || !Number.isFinite(clocks) ? null : Math.round(skew),
    /** Size as nccl-tests counts it; null: not known. */
    bytes,
    /** GB/s, from the last arrival, and from the first. */
    algbwGBs: three(fromLast?.algbw),
    busbwGBs: three(fromLast?.busbw),
    algbwFromFirstGBs: three(fromFirst?.algbw),
    busbwFromFirstGBs: three(fromFirst?.busbw),
    /** The last rank to come. null: the clocks are not exact enough. */
    lateRank: isNamed ? labels.inComm(comm.commId, one.lastRank, one.lastFile) : null,
    ranks: one.arrived,
    outcome,
  };
}

function outcomeOf({ open, cutOff, aborted, end }: Collective): Outcome {
  if (open.length > 0) return 'open';
  if (cutOff.length > 0) return 'end not known';
  if (aborted.length > 0) return 'aborted';
  return end === null ? 'end not known' : 'complete';
}

/** ns from the last arrival to the end; 0: not known. */
export const tookAlone = ({ durationNs, skewNs }: CollectiveRow): number => (durationNs ?? 0) - (skewNs ?? 0);

/** Three significant digits, because a measurement of this kind is not more exact. */
const three = (value: number | undefined): number | null =>
  value === undefined ? null : Number(value.toPrecision(3));

/** Lower end, bytes. Sizes that are compared are powers of four: "256 KiB" is from 256 KiB to below 1 MiB. */
export function sizeClassOf(bytes: number): number {
  let least = 1;
  while (least * 4 <= bytes) least *= 4;
  return bytes < 1 ? 0 : least;
}

/** By communicator, function and size class. */
export function byKind(rows: readonly CollectiveRow[]): Map<string, CollectiveRow[]> {
  const kinds = new Map<string, CollectiveRow[]>();
  for (const row of rows) {
    const key = `${row.commId} ${row.func} ${row.bytes === null ? '' : sizeClassOf(row.bytes)}`;
    addTo(kinds, key, row);
  }
  return kinds;
}

/** The most time first. */
export function collectiveGroups(rows: readonly CollectiveRow[]): CollectiveGroup[] {
  const groups = byKind(rows);
  const timeOf = (group: CollectiveRow[]): number =>
    group.reduce((sum, { durationNs }) => sum + (durationNs ?? 0), 0);
  return [...groups.values()]
    .map((group) => ({ group, time: timeOf(group) }))
    .sort((a, b) => b.time - a.time)
    .map(({ group }) => groupOf(group));
}

function groupOf(rows: readonly CollectiveRow[]) {
  const { comm, commId, commSize, func, bytes } = rows[0]!;
  const of = (pick: (row: CollectiveRow) => number | null): Float64Array =>
    sortedNumbers(rows.map(pick).filter((value) => value !== null));
  const at = (sorted: Float64Array, part: number): number | null =>
    sorted.length === 0 ? null : quantile(sorted, part);
  const durations = of((row) => row.durationNs);
  const skews = of((row) => row.skewNs);
  const late = new Map<RankLabel, number>();
  for (const { lateRank } of rows) if (lateRank !== null) late.set(lateRank, (late.get(lateRank) ?? 0) + 1);
  const [lateRank, lateIn] = [...late].reduce<[RankLabel, number]>(
    (a, b) => (b[1] > a[1] ? b : a),
    [null, 0],
  );
  return {
    ...{ comm, commId, commSize, func },
    /** Lower end of the size class, bytes; null: sizes are not known. */
    sizeClass: bytes === null ? null : sizeClassOf(bytes),
    count: rows.length,
    /** How many of them ended with a known duration. */
    ended: durations.length,
    durationP50Ns: at(durations, 0.5),
    durationP99Ns: at(durations, 0.99),
    durationMaxNs: at(durations, 1),
    skewP50Ns: at(skews, 0.5),
    skewMaxNs: at(skews, 1),
    bytes: at(
      of((row) => row.bytes),
      0.5,
    ),
    /** Medians. */
    algbwGBs: at(
      of((row) => row.algbwGBs),
      0.5,
    ),
    busbwGBs: at(
      of((row) => row.busbwGBs),
      0.5,
    ),
    busbwFromFirstGBs: at(
      of((row) => row.busbwFromFirstGBs),
      0.5,
    ),
    /** The rank that came last most often; `lateIn`: in how many of `named`. */
    lateRank,
    lateIn,
    /** Collectives in which a last rank could be named. */
    named: rows.filter((row) => row.lateRank !== null).length,
  };
}
