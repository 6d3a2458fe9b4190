/**
 * Totals of one file's network transfers for a report, summed up while its records are paired: per connection its bytes, its transfers'
 * waits, and their times by size. They are kept only if a report is requested, and grow with connections and sizes, not with the run. Ticks
 * are the file's own. A send's time on the wire is from its last poll of state 20 to its stop. A receive has no such time, because its wait
 * begins when it is posted and not when the peer sends.
 */

import type { CallTotalsRow, ConnectionTotalsRow, SizeRow } from '../kernel/result_rows.js';
import type { PeerTraffic } from '../model/peer_traffic.js';
import type { TimeCounts } from './time_counts.js';

/** What a transfer waited for, in the order of a row's waits. */
export const WAITS = ['gpu', 'peer', 'send', 'recv', 'flush'] as const;

/** One end of a connection in one file: its row, and its sends by size. */
export interface EndTotals extends Omit<Readonly<ConnectionTotalsRow>, 'isSend'> {
  readonly isSend: boolean;
  readonly sizes: readonly SizeTotals[];
}

/** Sends of one size. If it is not reported, only `times` counts them. */
export interface SizeTotals extends Readonly<SizeRow> {
  /** Number and sum of the times, by the time of their end. Both have the same bins. */
  readonly counts: TimeCounts;
  readonly sums: TimeCounts;
  /** In bins (base/time_bins.ts). Empty: beyond the first sizes, or the communicator is not known. */
  readonly times: Uint32Array;
}

/** Peers per direction that get counters of their own. */
const BUSIEST_PEERS = 4;

/** The busiest of each direction, sends first. */
export function busiestPeers({ ends }: TransferTotals): PeerTraffic[] {
  const peers = new Map<string, PeerTraffic>();
  for (const { comm, peer, isSend, drawn } of ends) {
    const key = `${comm} ${peer} ${isSend}`;
    peers.set(key, { comm, peer, isSend, bytes: drawn + (peers.get(key)?.bytes ?? 0) });
  }
  const all = [...peers.values()].filter(({ bytes }) => bytes > 0);
  return [true, false].flatMap((isSend) =>
    all
      .filter((one) => one.isSend === isSend)
      .sort((a, b) => b.bytes - a.bytes || a.comm - b.comm || a.peer - b.peer)
      .slice(0, BUSIEST_PEERS),
  );
}

/** One function of one communicator. */
export interface CallTotals extends Omit<Readonly<CallTotalsRow>, 'func'> {
  readonly func: string;
}

export interface TransferTotals {
  readonly ends: readonly EndTotals[];
  readonly calls: readonly CallTotals[];
  /** Bytes of the sends that ended since the beginning of the part that was asked for (RankScan.window). */
  readonly sent: number;
  /** Transfers that ended, and what they waited for (by WAITS), by the time of their end. All have the same bins. */
  readonly ended: TimeCounts;
  readonly waits: readonly TimeCounts[];
}
