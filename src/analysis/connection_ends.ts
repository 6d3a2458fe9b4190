/** The ends of all connections of a run, by channel or by pair of ranks. */

import type { Run } from '../runs/run.js';
import type { RankScan } from '../scan/scan.js';
import type { EndTotals, TimedSize } from '../scan/transfer_totals.js';
import { countsTogether } from './over_time.js';

/** One end of a connection, with its communicator. Ticks are ns by its file's nominal rate. */
export interface NamedEnd extends Omit<EndTotals, 'drawn' | 'longest' | 'sizes'> {
  readonly sizes: readonly TimedSize[];
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

export function namedEnds(run: Run): NamedEnd[] {
  const files = filesByRank(run);
  return run.members.flatMap(({ scan }, file) =>
    scan.transfers.ends.flatMap((end) => namedEnd(end, file, scan, files) ?? []),
  );
}

/** An end of one channel, or of all channels. */
export type AnyEnd = Omit<NamedEnd, 'channel' | 'open'> & { readonly channel: number | null };

/** The channels of each pair, direction and communicator as one. */
export function allChannels(ends: readonly NamedEnd[]): AnyEnd[] {
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

function sizesTogether(all: readonly TimedSize[]): TimedSize[] {
  const sizes = new Map<number, TimedSize>();
  for (const one of all) {
    const before = sizes.get(one.bytes);
    sizes.set(
      one.bytes,
      before
        ? {
            bytes: one.bytes,
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
  const sizes = end.sizes.filter(({ counts }) => counts.total > 0);
  return { ...end, sizes, file, commId, name, source, destination, nsPerTick: 1e9 / header.tickHz, peerFile };
}
