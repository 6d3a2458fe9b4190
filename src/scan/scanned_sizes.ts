/**
 * How large a file's trace would be, from the kernel's counts: things to draw, their starts, their communicators, and tracks. The counts
 * follow src/trace/tracks.
 */

import { mostAtOnce } from '../base/intervals.js';
import type { Numbers } from '../kernel/host/numbers.js';
import { commKey } from '../model/identity.js';
import type { PeerTraffic } from '../model/peer_traffic.js';
import { outcomeAt, type WorkEndTable } from '../model/work_end_table.js';
import type { Communicator } from '../rankfile/types.js';
import { type CommSize, type DrawnKind, type FileSize, KINDS, NO_COMM, UNKNOWN_COMM } from './drawn_size.js';
import { isColl, type WorkRows } from './scanned_works.js';
import { TimeCounter, type TimeCounts } from './time_counts.js';

export type SizeRows = ReturnType<typeof readSizes>;

export function readSizes(numbers: Numbers) {
  const callRings = new Set(numbers.bits());
  const free = readSize(numbers);
  return { callRings, free, comms: numbers.list(() => ({ comm: numbers.next(), ...readSize(numbers) })) };
}

function readSize(numbers: Numbers) {
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, readTimes(numbers)])) as Record<
    DrawnKind,
    TimeCounts
  >;
  const [proxyRings, coll, step] = [numbers.bits(), numbers.bits(), numbers.bits()];
  const [opTracks, stepTracks] = [numbers.next(), numbers.next()];
  const quiet = numbers.list(() => ({
    track: `${numbers.next()} ${numbers.next()}`,
    starts: readTimes(numbers),
  }));
  return {
    counts,
    threads: { coll, step },
    instants: instantsOf(quiet.map(({ starts }) => starts)),
    opTracks: proxyRings.length + opTracks + new Set(quiet.map(({ track }) => track)).size,
    stepTracks,
  };
}

export function readTimes(numbers: Numbers): TimeCounts {
  const [first, width, total] = [numbers.next(), numbers.next(), numbers.next()];
  return { first, width, counts: numbers.some(numbers.next()), total };
}

/** The operations of all connections on which nothing ever moved. */
function instantsOf(starts: readonly TimeCounts[]): TimeCounts {
  const instants = new TimeCounter();
  for (const one of [...starts].sort((a, b) => a.first - b.first)) instants.addAll(one);
  return instants.finish();
}

/** `communicators`: all of the file; each has a track, also without any event. */
export function fileSize(
  { free, comms, callRings }: SizeRows,
  works: WorkRows,
  ends: WorkEndTable,
  communicators: ReadonlyMap<number, Communicator>,
  busiest: readonly PeerTraffic[],
  more: Pick<FileSize, 'directions' | 'recorderTracks'>,
): FileSize {
  const lanes = lanesOf(works, ends);
  const sizeOf = (size: typeof free, comm: number | null): CommSize => {
    const known = comm === null ? undefined : communicators.get(comm);
    return {
      comm: comm === null ? NO_COMM : known ? commKey(known) : UNKNOWN_COMM,
      counts: size.counts,
      instants: size.instants,
      tracks: { coll: comm === null ? 0 : (lanes.get(comm) ?? 0), op: size.opTracks, step: size.stepTracks },
      threads: size.threads,
      isInFile: known !== undefined,
      peers: comm === null ? 0 : busiest.filter((one) => one.comm === comm).length,
    };
  };
  const named = new Set(comms.map(({ comm }) => comm));
  const others = [...communicators.keys()].filter((number) => !named.has(number));
  return {
    comms: [
      sizeOf(free, null),
      ...comms.map((size) => sizeOf(size, size.comm)),
      ...others.map((number) => sizeOf(NOTHING, number)),
    ],
    callRings,
    ...more,
  };
}

const NO_TIMES = new TimeCounter().finish();
const NOTHING: SizeRows['free'] = {
  counts: Object.fromEntries(KINDS.map((kind) => [kind, NO_TIMES])) as Record<DrawnKind, TimeCounts>,
  threads: { coll: [], step: [] },
  instants: NO_TIMES,
  opTracks: 0,
  stepTracks: 0,
};

/** How many lanes each communicator's works need. Works of one kind overlap if the host runs ahead. */
function lanesOf(works: WorkRows, ends: WorkEndTable): ReadonlyMap<number, number> {
  const byKind = new Map<string, number[]>();
  for (let row = 0; row < works.length; row++) {
    const key = `${works.comm[row]!} ${isColl(works, row)}`;
    const rows = byKind.get(key);
    if (rows) rows.push(row);
    else byKind.set(key, [row]);
  }
  const lanes = new Map<number, number>();
  for (const rows of byKind.values()) {
    const comm = works.comm[rows[0]!]!;
    const starts = Float64Array.from(rows, (row) => works.start[row]!);
    const until = Float64Array.from(rows, (row) => Math.max(works.start[row]!, drawnUntil(works, ends, row)));
    lanes.set(comm, (lanes.get(comm) ?? 0) + mostAtOnce(starts, until));
  }
  return lanes;
}

/** Until when a work is drawn, without operations of other processes. Infinity: left open. */
function drawnUntil({ enqueued, lastOp, noticed }: WorkRows, ends: WorkEndTable, row: number): number {
  const outcome = outcomeAt(ends, row);
  if (outcome === 'complete' || outcome === 'aborted')
    return Math.max(lastOp[row]! || 0, noticed[row]! || 0, ends.finalized.get(row) ?? 0);
  return outcome === 'open' || Number.isNaN(enqueued[row]) ? Infinity : enqueued[row]!;
}

/** Peers per direction that get counters of their own. */
const BUSIEST_PEERS = 4;

/** The busiest of each direction, sends first, and in how many directions any bytes went. */
export function readPeers(numbers: Numbers): { busiest: PeerTraffic[]; directions: number } {
  const directions = numbers.next();
  const all = numbers.list(() => ({
    comm: numbers.next(),
    peer: numbers.next(),
    isSend: numbers.flag(),
    bytes: numbers.next(),
  }));
  const busiest = [true, false].flatMap((isSend) =>
    all
      .filter((peer) => peer.bytes > 0 && peer.isSend === isSend)
      .sort((a, b) => b.bytes - a.bytes || a.comm - b.comm || a.peer - b.peer)
      .slice(0, BUSIEST_PEERS),
  );
  return { busiest, directions };
}
