/**
 * Estimates a trace's size before a packet is written, and says how much a browser can open. Slices are those that the scan counted, for a
 * window within a time bin (1/128 to 1/64 of the run). Bytes are the mean sizes below; tracks are those of a usual connection.
 * `test/trace/budget.test.ts` compares all three with what was written.
 */

import { commKey } from '../model/identity.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import { DETAILS, type Detail } from '../model/detail.js';
import type { DrawPlan } from './tracks/selection.js';
import { DRAWN_KINDS, NO_COMM, type DrawnKind, type FileSize } from '../scan/drawn_size.js';
import { countWithin } from '../scan/time_counts.js';

export interface Size {
  readonly slices: number;
  /** Tracks with an event. */
  readonly tracks: number;
  /** Uncompressed: the browser holds them, and several times as much in its tables. */
  readonly bytes: number;
}

export interface Budget extends Size {
  /** A browser may take this long to open it, by `secondsToOpen`; absent: no limit. */
  readonly seconds?: number;
}

/**
 * What ui.perfetto.dev (v58) opens in about 15 s. Measured on a machine of 2 cores: the native importer takes 1.65 to 1.8 us per slice. A
 * browser's own engine was not measured: it is taken to be three times as slow. 1.49 million slices, imported natively, were on the screen
 * after 17 to 22 s while the machine was busy, so the limit is not much higher. Up to 17,000 tracks take no time beyond the UI's start of 3
 * to 5 s. 49,000 tracks took 4 s more, and 75,000 took 11 s more. That is 0.1 to 0.2 ms per track.
 */
export const COMFORTABLE = {
  slices: 2e6,
  tracks: 40_000,
  bytes: 80e6,
  seconds: 15,
} as const satisfies Budget;
const SECONDS_PER_SLICE = 5e-6;
const SECONDS_PER_TRACK = 0.2e-3;

export const secondsToOpen = ({ slices, tracks }: Size): number =>
  slices * SECONDS_PER_SLICE + tracks * SECONDS_PER_TRACK;

/** A larger trace does not open, because the page needs the file in one buffer (2 GB), and 50 million slices fill its memory. */
export const UTMOST: Size = { slices: 50e6, tracks: 100_000, bytes: 2e9 };

export const fits = (size: Size, budget: Budget): boolean =>
  size.slices <= budget.slices &&
  size.tracks <= budget.tracks &&
  size.bytes <= budget.bytes &&
  secondsToOpen(size) <= (budget.seconds ?? Infinity);

/** One file, for the estimate. */
export interface SizedFile {
  readonly size: FileSize;
  /** Ends of connections in it. */
  readonly connections: number;
  /** The file's tick at a trace time; infinite times stay infinite. */
  readonly tickAt: (at: number) => number;
}

/** Mean bytes per drawn item, fitted to small and large recorded runs. Exact to 10 %, for wrapped rings to 30 %. */
const BYTES: Readonly<Record<DrawnKind, number>> = {
  call: 70,
  work: 110,
  op: 45,
  kernel: 62,
  ctrl: 18,
  step: 18,
  phase: 43,
  net: 95,
};
const COLLECTIVE_BYTES = 170;
const TRACK_BYTES = 260;

/** Tracks of a file, of a communicator (calls and works; kernels by channel), and of a connection's end (its lane; its step slots), as in usual runs. */
const FILE_TRACKS = 8;
const COMM_TRACKS: Readonly<Record<Detail, number>> = { coll: 6, op: 16, step: 0 };
const END_TRACKS: Readonly<Record<Detail, number>> = { coll: 0, op: 2, step: 8 };

/** The size of one file's trace. */
export function sizeOf({ size: { comms }, connections, tickAt }: SizedFile, plan: DrawPlan): Size {
  let [slices, bytes, tracks] = [0, 0, FILE_TRACKS];
  for (const detail of DETAILS) {
    const window = plan.windows[detail];
    if (!window) continue;
    const [from, to] = [tickAt(window.from), tickAt(window.to)];
    let all = 0;
    for (const { comm, counts } of comms) {
      if (!isSelected(comm, plan)) continue;
      let events = 0;
      for (const [kind, depth] of Object.entries(DRAWN_KINDS) as [DrawnKind, Detail][]) {
        if (depth !== detail) continue;
        const count = countWithin(counts[kind], from, to);
        events += count;
        bytes += count * BYTES[kind];
        if (kind !== 'ctrl') slices += count;
      }
      tracks += Math.min(events, COMM_TRACKS[detail]);
      all += events;
    }
    tracks += Math.min(all, connections * END_TRACKS[detail]);
  }
  return { slices, tracks, bytes: bytes + tracks * TRACK_BYTES };
}

const isSelected = (comm: string, { comms }: DrawPlan): boolean =>
  comms === null || comm === NO_COMM || comms.has(comm);

export function clusterSize(cluster: readonly ClusterComm[], plan: DrawPlan): Size {
  const window = plan.windows.coll;
  const drawn = cluster.flatMap((comm) =>
    comm.collectives.filter(
      ({ firstArrival: at }) =>
        window && isSelected(commKey(comm), plan) && at >= window.from && at <= window.to,
    ),
  );
  return { slices: drawn.length, tracks: cluster.length, bytes: drawn.length * COLLECTIVE_BYTES };
}

export const added = (a: Size, b: Size): Size => ({
  slices: a.slices + b.slices,
  tracks: a.tracks + b.tracks,
  bytes: a.bytes + b.bytes,
});
