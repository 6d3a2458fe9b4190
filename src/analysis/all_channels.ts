/** The channels of each pair of ranks, direction and communicator as one connection. */

import type { Connection } from '../cluster/connections.js';
import type { SizeTotals } from '../scan/transfer_totals.js';
import { countsTogether } from '../cluster/over_time.js';

/** A connection of one channel, or of all channels of a pair. */
export interface Link extends Pick<Connection, Identity | Summed> {
  /** null: all. */
  readonly channel: number | null;
}
type Identity =
  'commId' | 'name' | 'file' | 'peer' | 'peerFile' | 'source' | 'destination' | 'isSend' | 'nsPerTick';
type Summed = 'transfers' | 'bytes' | 'gpuWait' | 'peerWait' | 'sizes';

/** null: not known of both. */
export const addedBytes = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

export function allChannels(ends: readonly Link[]): Link[] {
  const pairs = new Map<string, Link>();
  for (const end of ends) {
    const key = `${end.commId} ${end.source} ${end.destination} ${end.isSend}`;
    const before = pairs.get(key);
    pairs.set(key, before ? together(before, end) : { ...end, channel: null });
  }
  return [...pairs.values()];
}

const together = (a: Link, b: Link): Link => ({
  ...a,
  transfers: a.transfers + b.transfers,
  bytes: addedBytes(a.bytes, b.bytes),
  gpuWait: a.gpuWait + b.gpuWait,
  peerWait: a.peerWait + b.peerWait,
  sizes: sizesTogether([...a.sizes, ...b.sizes]),
});

function sizesTogether(all: readonly SizeTotals[]): SizeTotals[] {
  const sizes = new Map<number, SizeTotals>();
  for (const one of all) {
    const before = sizes.get(one.bytes);
    sizes.set(one.bytes, before ? sizeTogether(before, one) : one);
  }
  return [...sizes.values()];
}

const sizeTogether = (a: SizeTotals, b: SizeTotals): SizeTotals => ({
  bytes: a.bytes,
  sumOfSquares: a.sumOfSquares + b.sumOfSquares,
  least: Math.min(a.least, b.least),
  counts: countsTogether(a.counts, b.counts),
  sums: countsTogether(a.sums, b.sums),
  own: a.own + b.own,
  times: Uint32Array.from({ length: Math.max(a.times.length, b.times.length) }, (_, bin) =>
    [a, b].reduce((sum, { times }) => sum + (times[bin] ?? 0), 0),
  ),
});
