/**
 * Estimates a trace's size before a packet is written, and says how much a browser can open. The estimate uses the scan's counts. Slices
 * are exact for a whole run and, for a window, within a time bin (1/128 to 1/64 of the run). Bytes are the mean sizes below.
 * `test/trace/budget.test.ts` compares both with what was written.
 */

import { commKey } from '../model/identity.js';
import { mostAtOnce } from '../base/intervals.js';
import type { ClusterComm } from '../cluster/types.js';
import { drawnUntil, hasBandwidth } from './tracks/cluster_tracks.js';
import { sampleInterval } from './sample_interval.js';
import { DETAILS, type Detail } from '../model/detail.js';
import type { DrawPlan, Window } from './tracks/selection.js';
import { DRAWN_KINDS, NO_COMM, type CommSize, type DrawnKind, type FileSize } from '../scan/drawn_size.js';
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
  /** The process is silent. This is drawn. */
  readonly isSilent: boolean;
  /** The file's tick at a trace time; infinite times stay infinite. */
  readonly tickAt: (at: number) => number;
  /** Trace time of its last record. */
  readonly end: number;
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
const RANK_BYTES = 550;
const SAMPLE_BYTES = 15;
/** Bytes and rate. */
const BYTE_COUNTERS = 2;

/** The size of one file's trace. */
export function sizeOf(file: SizedFile, plan: DrawPlan): Size {
  const { comms, directions, recorderTracks } = file.size;
  const selected = comms.filter(({ comm }) => isSelected(comm, plan));
  let size = tracksAlone(recorderTracks + Number(file.isSilent), RANK_BYTES);
  for (const detail of DETAILS) {
    const window = plan.windows[detail];
    if (!window) continue;
    const [from, to] = [file.tickAt(window.from), file.tickAt(window.to)];
    const threads = new Set<number>();
    for (const comm of selected) {
      size = added(size, sizeOfPart(comm, detail, from, to));
      if (detail === 'op' || countWithin(comm.counts[detail === 'coll' ? 'call' : 'net'], from, to) === 0)
        continue;
      for (const ring of comm.threads[detail]) threads.add(ring);
    }
    const inFlight = selected.some((comm) => countInFlight(comm, detail, to) > 0);
    const communicators = detail === 'coll' ? selected.filter(({ isInFile }) => isInFile).length : 0;
    size = added(size, tracksAlone(threads.size + Number(inFlight) + communicators));
  }
  if (!plan.windows.op) return size;
  // The byte counters also count steps that are not drawn.
  const { from, to } = plan.windows.op;
  const [first, last] = [file.tickAt(from), file.tickAt(to)];
  const steps = selected.reduce((sum, { counts }) => sum + countWithin(counts.step, first, last), 0);
  const peers = selected.reduce((sum, comm) => sum + comm.peers, 0);
  return added(size, counterSize(steps, (directions + peers) * BYTE_COUNTERS, plan.windows.op, file.end));
}

const tracksAlone = (tracks: number, more = 0): Size => ({
  slices: 0,
  tracks,
  bytes: tracks * TRACK_BYTES + more,
});

/** How many events change the counter of that detail: works, or operations that are not drawn as instants. */
function countInFlight({ counts, instants }: CommSize, detail: Detail, to: number): number {
  if (detail === 'step') return 0;
  if (detail === 'coll') return countWithin(counts.work, -Infinity, to);
  return countWithin(counts.op, -Infinity, to) - countWithin(instants, -Infinity, to);
}

const isSelected = (comm: string, { comms }: DrawPlan): boolean =>
  comms === null || comm === NO_COMM || comms.has(comm);

/** One communicator's share of one detail; `from`, `to` in ticks. */
function sizeOfPart({ counts, instants, tracks }: CommSize, detail: Detail, from: number, to: number): Size {
  let slices = 0;
  let events = 0;
  let bytes = 0;
  let before = 0;
  for (const [kind, depth] of Object.entries(DRAWN_KINDS) as [DrawnKind, Detail][]) {
    if (depth !== detail) continue;
    const count = countWithin(counts[kind], from, to);
    if (from > -Infinity) before += countWithin(counts[kind], -Infinity, from);
    bytes += count * BYTES[kind];
    events += count;
    if (kind !== 'ctrl') slices += count;
  }
  if (detail === 'op') {
    slices = Math.max(0, slices - countWithin(instants, from, to));
    if (from > -Infinity) before = Math.max(0, before - countWithin(instants, -Infinity, from));
  }
  // Slices that began before the window and reach into it. There are at most one or two per track.
  const reaching = Math.min(before, tracks[detail]);
  const used = Math.min(events + reaching, tracks[detail]);
  return {
    slices: slices + reaching,
    tracks: used,
    bytes: bytes + reaching * BYTES.work + used * TRACK_BYTES,
  };
}

function counterSize(steps: number, tracks: number, { from, to }: Window, end: number): Size {
  const span = Math.max(0, Math.min(to, end) - Math.max(from, 0));
  const samples = Math.min(steps, (2 * span) / sampleInterval(span));
  return { slices: 0, tracks, bytes: samples * SAMPLE_BYTES + tracks * TRACK_BYTES };
}

export function clusterSize(cluster: readonly ClusterComm[], plan: DrawPlan): Size {
  const window = plan.windows.coll;
  let slices = 0;
  let tracks = 0;
  for (const comm of cluster) {
    if (!window || !isSelected(commKey(comm), plan)) continue;
    const drawn = comm.collectives.filter(
      ({ firstArrival }) => firstArrival >= window.from && firstArrival <= window.to,
    );
    slices += drawn.length;
    tracks += mostAtOnce(
      Float64Array.from(drawn, ({ firstArrival }) => firstArrival),
      Float64Array.from(drawn, (one) => drawnUntil(one) ?? Infinity),
    );
    if (drawn.some((one) => hasBandwidth(one, comm))) tracks++;
  }
  return { slices, tracks, bytes: slices * COLLECTIVE_BYTES + tracks * TRACK_BYTES };
}

export const added = (a: Size, b: Size): Size => ({
  slices: a.slices + b.slices,
  tracks: a.tracks + b.tracks,
  bytes: a.bytes + b.bytes,
});
