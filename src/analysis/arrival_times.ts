/**
 * The time of transfers across ranks, until their arrival (clocks/evidence/transfer_times.ts), by connection and by pair of ranks, with the
 * bound of the two clocks. Connections whose clocks cannot be compared are left out.
 */

import type { TransferTimes } from '../clocks/evidence/transfer_times.js';
import { linkKey } from '../cluster/connections.js';
import { minOf } from '../base/extremes.js';

export interface OnTheWay {
  /** How many were timed. */
  readonly transfers: number;
  readonly meanNs: number;
  readonly leastNs: number;
  /** 99 % bound of the error of each time. 0: one clock. */
  readonly boundNs: number;
}

/** `bound`: of two files' clocks. */
export function onTheWay(
  all: readonly TransferTimes[],
  bound: (sender: number, receiver: number) => number,
): ReadonlyMap<string, OnTheWay> {
  const found = new Map<string, OnTheWay>();
  for (const times of all) {
    const { sizes, file, peerFile } = times;
    const boundNs = bound(file, peerFile);
    if (!Number.isFinite(boundNs)) continue;
    const transfers = sizes.reduce((sum, { sends }) => sum + sends, 0);
    const meanNs = sizes.reduce((sum, one) => sum + one.sum, 0) / transfers;
    const own = { transfers, meanNs, leastNs: minOf(sizes.map(({ least }) => least)), boundNs };
    for (const key of [linkKey(times), linkKey({ ...times, channel: null })])
      found.set(key, together(found.get(key), own));
  }
  return found;
}

function together(one: OnTheWay | undefined, other: OnTheWay): OnTheWay {
  if (!one) return other;
  const transfers = one.transfers + other.transfers;
  return {
    transfers,
    meanNs: (one.transfers * one.meanNs + other.transfers * other.meanNs) / transfers,
    leastNs: Math.min(one.leastNs, other.leastNs),
    boundNs: Math.max(one.boundNs, other.boundNs),
  };
}
