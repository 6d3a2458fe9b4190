/** Which rank waited for which. */

import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { WAITS } from '../scan/transfer_totals.js';
import type { Connection } from '../cluster/connections.js';
import type { RankLabel, RankLabels } from '../runs/rank_labels.js';

/**
 * `rank` waited for `forRank`: for its data, or for room at its end. The sum over channels. Transfers that run at the same time count one
 * by one.
 */
export interface WaitRow {
  readonly rank: RankLabel;
  readonly forRank: RankLabel;
  readonly comm: string;
  readonly commId: string;
  readonly waitsFor: 'data' | 'room';
  readonly transfers: number;
  readonly totalNs: number;
  /** If the rank still waits when the records end: begin of the wait, ns of the trace. Otherwise null. */
  readonly openSinceNs: number | null;
}

/** Ranks that still wait come first, then the longest waits. */
export function waitRows(
  ends: readonly Connection[],
  labels: RankLabels,
  time: (file: number, tick: number) => TraceNs,
): WaitRow[] {
  const rows = new Map<string, { -readonly [Field in keyof WaitRow]: WaitRow[Field] }>();
  for (const end of ends) {
    const { file, commId, name, peer, isSend, peerFile, nsPerTick } = end;
    const wait = isSend ? 'peer' : 'recv';
    const isOpen = end.open > 0 && WAITS[end.openWait] === wait;
    const openSince = isOpen ? Math.round(time(file, end.openSince)) : null;
    const total = end[`${wait}Wait`] * nsPerTick;
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
