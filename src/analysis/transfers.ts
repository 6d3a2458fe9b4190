/**
 * The transfers of all files together: where each rank's step time went, who waited for whom, and every link with the times of its
 * transfers. A send's time is measured at the sender, by its own counter. The time until arrival has the bound of both clocks beside it.
 */

import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import type { Run } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import { WAITED, WAITS, type EndTotals, type SizeTotals } from '../scan/transfer_totals.js';
import type { LinkTimes } from '../cluster/link_times.js';
import { lineTime, type LinkLine } from './latency_and_rate.js';
import { linkKey, onTheWay, type OnTheWay } from './arrival_times.js';
import { countsTogether, meansOverTime, sendSeries, type SendSeries } from './over_time.js';
import type { RankLabel, RankLabels } from './rank_labels.js';
import { slowLinkRows, type SlowLinkRow } from './slow_link_rows.js';

/** ns by what was waited for. */
export type WaitTimes = Readonly<Record<(typeof WAITS)[number], number>>;

export interface RankWaits {
  readonly file: number;
  /** That ended. */
  readonly transfers: number;
  readonly all: WaitTimes;
  /** By function, the longest first; '': not known. */
  readonly byFunc: readonly { readonly func: string; readonly times: WaitTimes }[];
  /** ns per transfer, by time. */
  readonly overTime: Readonly<Record<(typeof WAITS)[number], readonly number[]>>;
}

/** `rank` waited for `forRank`: for its data, or for room at its end. Summed over channels; transfers that run side by side count each. */
export interface WaitRow {
  readonly rank: RankLabel;
  readonly forRank: RankLabel;
  readonly comm: string;
  readonly commId: string;
  readonly waitsFor: 'data' | 'room';
  readonly transfers: number;
  readonly totalNs: number;
  /** Still waiting when the records end: ns of the trace since when, else null. */
  readonly openSinceNs: number | null;
}

export interface LinkRow {
  readonly comm: string;
  readonly commId: string;
  /** null: all channels together. */
  readonly channel: number | null;
  readonly source: RankLabel;
  readonly destination: RankLabel;
  readonly sourceHost: string;
  /** null: its file is not here. */
  readonly destinationHost: string | null;
  readonly transfers: number;
  readonly bytes: number;
  /** Mean of the sends' own times; null: none was timed. */
  readonly meanNs: number | null;
  readonly average: LinkLine | null;
  readonly least: LinkLine | null;
  /** Sizes that were timed. */
  readonly sizes: number;
  /** Across ranks; null: the clocks or the protocol do not show it. */
  readonly onTheWay: OnTheWay | null;
  /** The sender waited for its GPU, and for room at the receiver; the receiver for its GPU. null: its file is not here. */
  readonly senderGpuNs: number;
  readonly senderRoomNs: number;
  readonly receiverGpuNs: number | null;
}

export interface Transfers {
  readonly ranks: readonly RankWaits[];
  readonly waits: readonly WaitRow[];
  /** By channel, and by pair of ranks with all channels together. */
  readonly links: readonly LinkRow[];
  readonly pairs: readonly LinkRow[];
  /** By pair. */
  readonly sends: readonly (readonly SendSeries[])[];
  readonly slowLinks: readonly SlowLinkRow[];
}

/** `time`: of a file's tick on the trace's axis. `bound`: of the clocks of two files, ns. */
export function transfersOf(
  run: Run,
  labels: RankLabels,
  times: readonly TransferTimes[],
  time: (file: number, tick: number) => TraceNs,
  bound: (sender: number, receiver: number) => number,
): Transfers {
  const files = filesByRank(run);
  const ends = run.members.flatMap(({ scan }, file) =>
    (scan.transfers?.ends ?? []).flatMap((end) => namedEnd(end, file, scan, files) ?? []),
  );
  const senders = senderEnds(ends);
  const allPairs = allChannels(ends);
  const pairSenders = senderEnds(allPairs);
  const arrivals = onTheWay(times, bound);
  const rows = new Map(senders.map((end, row) => [linkKey(end), row]));
  const rowOf = ({ rank: source, peer: destination, ...link }: LinkTimes): number | undefined =>
    rows.get(linkKey({ ...link, source, destination }));
  return {
    ranks: run.members.map((_, file) => rankWaits(run, file)),
    waits: waitRows(ends, labels, time),
    links: linkRows(senders, ends, run, labels, arrivals),
    pairs: linkRows(pairSenders, allPairs, run, labels, arrivals),
    sends: pairSenders.map(sendSeries),
    slowLinks: slowLinkRows(run, times, bound, rowOf),
  };
}

/** The most bytes first. */
const senderEnds = <T extends AnyEnd>(ends: readonly T[]): T[] =>
  ends.filter(({ isSend, transfers }) => isSend && transfers > 0).sort((a, b) => b.bytes - a.bytes);

function linkRows(
  senders: readonly AnyEnd[],
  ends: readonly AnyEnd[],
  run: Run,
  labels: RankLabels,
  arrivals: ReadonlyMap<string, OnTheWay>,
): LinkRow[] {
  const receivers = new Map(ends.filter((end) => !end.isSend).map((end) => [linkKey(end), end]));
  return senders.map((end) => {
    const key = linkKey(end);
    return { ...linkRow(end, receivers.get(key) ?? null, run, labels), onTheWay: arrivals.get(key) ?? null };
  });
}

/** One end of a connection, with its communicator. Ticks are ns by its file's nominal rate. */
interface NamedEnd extends EndTotals {
  readonly file: number;
  readonly commId: bigint;
  readonly name: string;
  readonly source: number;
  readonly destination: number;
  readonly nsPerTick: number;
  /** File of the other end; null: not here. */
  readonly peerFile: number | null;
}

const rankKey = (commId: bigint, rank: number): string => `${commId} ${rank}`;

const filesByRank = ({ members }: Run): Map<string, number> =>
  new Map(
    members.flatMap(({ scan }, file) =>
      scan.communicators.map(({ commId, rank }) => [rankKey(commId, rank), file] as const),
    ),
  );

/** An end of one channel, or of all channels. */
type AnyEnd = Omit<NamedEnd, 'channel' | 'open'> & { readonly channel: number | null };

/** The channels of each pair, direction and communicator as one. */
function allChannels(ends: readonly NamedEnd[]): AnyEnd[] {
  const pairs = new Map<string, AnyEnd>();
  for (const end of ends) {
    const key = `${end.commId} ${end.source} ${end.destination} ${end.isSend}`;
    const before = pairs.get(key);
    pairs.set(key, before ? together(before, end) : { ...end, channel: null });
  }
  return [...pairs.values()];
}

const together = (a: AnyEnd, b: AnyEnd): AnyEnd => ({
  ...a,
  transfers: a.transfers + b.transfers,
  bytes: a.bytes + b.bytes,
  waits: a.waits.map((wait, i) => wait + b.waits[i]!),
  sizes: sizesTogether([...a.sizes, ...b.sizes]),
});

function sizesTogether(all: readonly SizeTotals[]): SizeTotals[] {
  const sizes = new Map<number, SizeTotals>();
  for (const one of all) {
    const before = sizes.get(one.bytes);
    sizes.set(
      one.bytes,
      before
        ? {
            bytes: one.bytes,
            transfers: before.transfers + one.transfers,
            sum: before.sum + one.sum,
            sumOfSquares: before.sumOfSquares + one.sumOfSquares,
            least: Math.min(before.least, one.least),
            counts: countsTogether(before.counts, one.counts),
            sums: countsTogether(before.sums, one.sums),
          }
        : one,
    );
  }
  return [...sizes.values()];
}

function namedEnd(
  end: EndTotals,
  file: number,
  { communicators, header }: RankScan,
  files: ReadonlyMap<string, number>,
): NamedEnd | null {
  const comm = communicators.find(({ number }) => number === end.comm);
  if (!comm || comm.commId === 0n) return null;
  const { commId, name, rank } = comm;
  const [source, destination] = end.isSend ? [rank, end.peer] : [end.peer, rank];
  const peerFile = files.get(rankKey(commId, end.peer)) ?? null;
  return { ...end, file, commId, name, source, destination, nsPerTick: 1e9 / header.tickHz, peerFile };
}

const timesOf = (waits: readonly number[], nsPerTick: number): WaitTimes =>
  Object.fromEntries(
    WAITS.map((name) => [name, Math.round((waits[WAITED[name]] ?? 0) * nsPerTick)]),
  ) as Record<(typeof WAITS)[number], number>;

export const sumOfTimes = (times: WaitTimes): number => WAITS.reduce((sum, name) => sum + times[name], 0);

function rankWaits({ members }: Run, file: number): RankWaits {
  const { transfers, header } = members[file]!.scan;
  const byFunc = new Map<string, number[]>();
  const all = WAITS.map(() => 0);
  for (const { func, waits } of transfers?.calls ?? []) {
    const sums = byFunc.get(func) ?? WAITS.map(() => 0);
    byFunc.set(func, sums);
    waits.forEach((wait, i) => {
      sums[i]! += wait;
      all[i]! += wait;
    });
  }
  const nsPerTick = 1e9 / header.tickHz;
  return {
    file,
    transfers: transfers?.ended.total ?? 0,
    all: timesOf(all, nsPerTick),
    byFunc: [...byFunc]
      .map(([func, waits]) => ({ func, times: timesOf(waits, nsPerTick) }))
      .sort((a, b) => sumOfTimes(b.times) - sumOfTimes(a.times)),
    overTime: Object.fromEntries(
      WAITS.map((name, i) => [
        name,
        transfers ? meansOverTime(transfers.ended, transfers.waits[i]!, nsPerTick) : [],
      ]),
    ) as unknown as RankWaits['overTime'],
  };
}

/** The longest first; those that still wait before all others. */
function waitRows(
  ends: readonly NamedEnd[],
  labels: RankLabels,
  time: (file: number, tick: number) => TraceNs,
): WaitRow[] {
  const rows = new Map<string, { -readonly [Field in keyof WaitRow]: WaitRow[Field] }>();
  for (const end of ends) {
    const { file, commId, name, peer, isSend, peerFile, nsPerTick, open } = end;
    const wait = isSend ? WAITED.peer : WAITED.recv;
    const openSince = open?.wait === wait ? Math.round(time(file, open.since)) : null;
    const total = end.waits[wait]! * nsPerTick;
    if (total === 0 && openSince === null) continue;
    const own = isSend ? end.source : end.destination;
    const key = `${commId} ${own} ${peer} ${isSend}`;
    const before = rows.get(key);
    if (before) {
      before.transfers += end.transfers;
      before.totalNs += Math.round(total);
      if (openSince !== null) before.openSinceNs = Math.min(before.openSinceNs ?? Infinity, openSince);
    } else
      rows.set(key, {
        rank: labels.inComm(commId, own, file),
        forRank: labels.inComm(commId, peer, peerFile),
        comm: name,
        commId: hex64(commId),
        waitsFor: isSend ? 'room' : 'data',
        transfers: end.transfers,
        totalNs: Math.round(total),
        openSinceNs: openSince,
      });
  }
  return [...rows.values()].sort(
    (a, b) => (a.openSinceNs ?? Infinity) - (b.openSinceNs ?? Infinity) || b.totalNs - a.totalNs,
  );
}

function linkRow(
  end: AnyEnd,
  receiver: AnyEnd | null,
  run: Run,
  labels: RankLabels,
): Omit<LinkRow, 'onTheWay'> {
  const { file, peerFile, nsPerTick, sizes, waits } = end;
  const timed = sizes.reduce((sum, { transfers }) => sum + transfers, 0);
  const total = sizes.reduce((sum, { sum: took }) => sum + took, 0);
  const ns = (ticks: number): number => Math.round(ticks * nsPerTick);
  return {
    comm: end.name,
    commId: hex64(end.commId),
    channel: end.channel,
    source: labels.inComm(end.commId, end.source, file),
    destination: labels.inComm(end.commId, end.destination, peerFile),
    sourceHost: run.members[file]!.scan.header.hostName,
    destinationHost: peerFile === null ? null : run.members[peerFile]!.scan.header.hostName,
    transfers: end.transfers,
    bytes: end.bytes,
    meanNs: timed === 0 ? null : ns(total / timed),
    average: lineTime(sizes, nsPerTick, 'average'),
    least: lineTime(sizes, nsPerTick, 'least'),
    sizes: sizes.length,
    senderGpuNs: ns(waits[WAITED.gpu]!),
    senderRoomNs: ns(waits[WAITED.peer]!),
    receiverGpuNs: receiver && Math.round(receiver.waits[WAITED.gpu]! * receiver.nsPerTick),
  };
}
