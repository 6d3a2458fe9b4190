/** Links as rows: a channel from one rank to another, or a pair of ranks with all channels together. */

import { hex64 } from '../base/hex.js';
import type { Run } from '../runs/run.js';
import { WAITED } from '../scan/transfer_totals.js';
import { linkKey, type OnTheWay } from './arrival_times.js';
import type { Link } from './all_channels.js';
import { lineTime, type LinkLine } from './latency_and_rate.js';
import type { RankLabel, RankLabels } from './rank_labels.js';

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
  /** Waits of the sender for its GPU and for room at the receiver, and of the receiver for its GPU. null: that rank has no file. */
  readonly senderGpuNs: number;
  readonly senderRoomNs: number;
  readonly receiverGpuNs: number | null;
}

export function linkRows(
  senders: readonly Link[],
  ends: readonly Link[],
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

function linkRow(end: Link, receiver: Link | null, run: Run, labels: RankLabels): Omit<LinkRow, 'onTheWay'> {
  const { file, peerFile, nsPerTick, sizes, waits } = end;
  const timed = sizes.reduce((sum, { counts }) => sum + counts.total, 0);
  const total = sizes.reduce((sum, { sums }) => sum + sums.total, 0);
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
