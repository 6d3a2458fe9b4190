/** Links as rows: a channel from one rank to another, or a pair of ranks with all channels together. */

import { hex64 } from '../base/hex.js';
import type { Run } from '../runs/run.js';
import { linkKey } from '../cluster/connections.js';
import { linkEnds, meanTime } from '../cluster/link_faults.js';
import type { OnTheWay } from './arrival_times.js';
import type { Link } from './all_channels.js';
import { lineTime } from './latency_and_rate.js';
import type { RankLabels } from '../runs/rank_labels.js';

export type LinkRow = Readonly<ReturnType<typeof linkRows>[number]>;

export function linkRows(
  senders: readonly Link[],
  ends: readonly Link[],
  run: Run,
  labels: RankLabels,
  arrivals: ReadonlyMap<string, OnTheWay>,
) {
  const receivers = new Map(ends.filter((end) => !end.isSend).map((end) => [linkKey(end), end]));
  return senders.map((end) => {
    const key = linkKey(end);
    /** `onTheWay`: across ranks; null: the clocks or the protocol do not show it. */
    return { ...linkRow(end, receivers.get(key) ?? null, run, labels), onTheWay: arrivals.get(key) ?? null };
  });
}

function linkRow(end: Link, receiver: Link | null, run: Run, labels: RankLabels) {
  const { nsPerTick, sizes } = end;
  const ns = (ticks: number): number => Math.round(ticks * nsPerTick);
  const meanNs = meanTime(end);
  return {
    comm: end.name,
    commId: hex64(end.commId),
    /** null: all channels together. */
    channel: end.channel,
    ...linkEnds(end, run, labels),
    transfers: end.transfers,
    /** null: NCCL did not report them. */
    bytes: end.bytes,
    /** Mean of the sends' own times; null: none was timed. */
    meanNs: meanNs === null ? null : Math.round(meanNs),
    average: lineTime(sizes, nsPerTick, 'average'),
    least: lineTime(sizes, nsPerTick, 'least'),
    /** Sizes that were timed. */
    sizes: sizes.length,
    /** Waits of the sender for its GPU and for room at the receiver, and of the receiver for its GPU. null: that rank has no file. */
    senderGpuNs: ns(end.gpuWait),
    senderRoomNs: ns(end.peerWait),
    receiverGpuNs: receiver && Math.round(receiver.gpuWait * receiver.nsPerTick),
  };
}
