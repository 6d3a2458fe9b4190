/**
 * Totals of one file's network transfers for a report, summed up while its records are paired: per connection its bytes, its transfers'
 * waits, and their times by size. They are kept only if a report is requested, and grow with connections and sizes, not with the run. Ticks
 * are the file's own. A send's time on the wire is from its last poll of state 20 to its stop. A receive has no such time, because its wait
 * begins when it is posted and not when the peer sends.
 */

import type { Ticks } from '../base/time.js';
import type { CallTotalsRow } from '../kernel/result_rows.js';
import type { PeerTraffic } from '../model/peer_traffic.js';
import type { TimeCounts } from './time_counts.js';

/** Indices into `waits`: what a transfer waited for. */
export const WAITED = { gpu: 0, peer: 1, send: 2, recv: 3, flush: 4 } as const;
export const WAITS = Object.keys(WAITED) as (keyof typeof WAITED)[];

/** One end of a connection in one file. */
export interface EndTotals {
  /** Number of the communicator in its file; -1: not known, or another process's (PXN). */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly transfers: number;
  readonly bytes: number;
  /** Ticks, by WAITED. */
  readonly waits: readonly number[];
  /** Transfers that had not ended: begin of the oldest one's wait, and the wait (index of WAITED). */
  readonly open: { readonly since: Ticks; readonly wait: number; readonly transfers: number } | null;
  /** Bytes of the operations that this process started, which choose the counters that are drawn. */
  readonly drawn: number;
  /** The send that was on the wire longest. Ticks. */
  readonly longest: { readonly took: number; readonly since: Ticks; readonly step: number };
  /** Sends: times by size. */
  readonly sizes: readonly SizeTotals[];
}

/** Sends of one size; -1: not reported, up to interface v3, so only `times` counts them. Ticks. */
export interface SizeTotals {
  readonly bytes: number;
  readonly sumOfSquares: number;
  readonly least: number;
  /** Number and sum of the times, by the time of their end. Both have the same bins. */
  readonly counts: TimeCounts;
  readonly sums: TimeCounts;
  /** In bins (base/time_bins.ts). Empty: beyond the first sizes, or the communicator is not known. */
  readonly times: Uint32Array;
  /** Their sum without the time in which the rank's other sends used the wire (kernel/wire.ts). */
  readonly own: number;
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

/** One function of one communicator. Ticks. */
export interface CallTotals extends Omit<Readonly<CallTotalsRow>, 'func'> {
  readonly func: string;
  /** By WAITED. */
  readonly waits: readonly number[];
}

export interface TransferTotals {
  readonly ends: readonly EndTotals[];
  readonly calls: readonly CallTotals[];
  /** Bytes of the sends that ended since the beginning of the part that was asked for (RankScan.window). */
  readonly sent: number;
  /** Transfers that ended, and what they waited for (by WAITED), by the time of their end. All have the same bins. */
  readonly ended: TimeCounts;
  readonly waits: readonly TimeCounts[];
}
