/**
 * What all readers of foreign files do alike: events get times from the first one, tracks get numbers, kernels of NCCL are noted, and what
 * cannot be read as an event is counted. A reader knows its format and nothing of this.
 */

import { ArrowEnds, EventStore } from './event_store.js';
import type { ForeignStep, ForeignTrace, ForeignTrack, NcclKernel, Numbered } from './foreign_trace.js';
import { isStep } from './exposed.js';
import { kernelName } from './kernel_names.js';

/** ns from the first event of a file: farther than any job runs, and exact in a double. */
const FARTHEST = 2 ** 51;
const MOST_TRACKS = 100_000;
const MOST_STEPS = 100_000;

export class TraceBuilder {
  readonly arrows = new ArrowEnds();
  private readonly events: EventStore;
  private readonly tracks = new Map<string, number>();
  private readonly kernels: (NcclKernel & { readonly launch: unknown })[] = [];
  private readonly calls = new Map<unknown, { readonly row: number; readonly numbered: Numbered | null }>();
  private readonly gpu = { nccl: [] as number[], compute: [] as number[] };
  private readonly gpuTracks = new Set<number>();
  private readonly steps: ForeignStep[] = [];
  private readonly leftOut = new Map<string, number>();
  private firstNumber = NaN;
  private from = Infinity;
  private to = -Infinity;
  /** The first time as it is written, ns; all times count from there. Null: no event had one. */
  first: bigint | null = null;

  /** `sideFile`: path of a file for names and arguments. */
  constructor(sideFile: string) {
    this.events = new EventStore(sideFile);
  }

  /** ns from the first event; null: it cannot be placed, and is counted. */
  timeOf(ns: number | bigint | null): number | null {
    if (ns === null) {
      this.leave('events without a time');
      return null;
    }
    if (this.first === null) {
      this.first = BigInt(ns);
      this.firstNumber = Number(ns);
    }
    const at = typeof ns === 'number' ? ns - this.firstNumber : Number(ns - this.first);
    if (Math.abs(at) < FARTHEST) return at;
    this.leave('events weeks away from the first one');
    return null;
  }

  /** Number of the track with this key; null: there are too many, and this event is counted. */
  track(key: string): number | null {
    const known = this.tracks.get(key);
    if (known !== undefined) return known;
    if (this.tracks.size === MOST_TRACKS) {
      this.leave(`events beyond ${MOST_TRACKS} threads`);
      return null;
    }
    this.tracks.set(key, this.tracks.size);
    return this.tracks.size - 1;
  }

  /** `duration` in ns; NaN: an instant. `json`: what ForeignTrace.shown is given. Returns the event's row. */
  add(track: number, at: number, duration: number, json: string): number {
    this.reach(at, duration);
    return this.events.add(track, at, duration, json);
  }

  addSample(track: number, at: number, value: number): void {
    this.reach(at, 0);
    this.events.add(track, at, NaN, String(value));
  }

  /** Notes a kernel. `launch`: what its call has, too. */
  addKernel(
    row: number,
    name: string,
    duration: number,
    launch: unknown,
    numbered: Numbered | null = null,
  ): void {
    const nccl = kernelName(name);
    const start = this.events.start(row);
    this.gpu[nccl === null ? 'compute' : 'nccl'].push(row);
    if (nccl === null) return;
    this.kernels.push({ row, call: null, launch, ...nccl, start, end: start + duration, numbered });
  }

  /** Notes that a track shows what a GPU does. */
  addGpuTrack(track: number): void {
    this.gpuTracks.add(track);
  }

  /** Notes a training step, if the name is that of one. */
  addStep(row: number, name: string, duration: number): void {
    if (!isStep(name)) return;
    if (this.steps.length === MOST_STEPS) {
      this.leave(`training steps beyond ${MOST_STEPS}`);
      return;
    }
    const start = this.events.start(row);
    this.steps.push({ name, start, end: start + duration });
  }

  /** The event that launched the kernels with this `launch`; the first counts. */
  addCall(launch: unknown, row: number, numbered: Numbered | null = null): void {
    if (!this.calls.has(launch)) this.calls.set(launch, { row, numbered });
  }

  leave(what: string, times = 1): void {
    const key = this.leftOut.size < 100 || this.leftOut.has(what) ? what : 'other events';
    this.leftOut.set(key, (this.leftOut.get(key) ?? 0) + times);
  }

  get isEmpty(): boolean {
    return this.to < this.from;
  }

  close(): void {
    this.events.close();
  }

  /** `place`: where a track stands among the others, number by number, and its title. */
  finish(place: (key: string) => PlacedTrack): Omit<ForeignTrace, 'tool' | 'origin' | 'says' | 'shown'> {
    const { events, arrows, leftOut, gpu, from, to, calls } = this;
    events.finish(this.tracks.size);
    const lone = arrows.finish();
    if (lone > 0) this.leave('arrow ends without another end', lone);
    const kernels = this.kernels.map(({ launch, numbered, ...kernel }) => {
      const call = calls.get(launch);
      return { ...kernel, call: call?.row ?? null, numbered: numbered ?? call?.numbered ?? null };
    });
    return {
      ...{ events, arrows, leftOut, gpu },
      steps: this.steps.sort((a, b) => a.start - b.start),
      span: { from, to },
      tracks: ordered([...this.tracks.keys()].map(place)).map((track, number) => ({
        ...track,
        isOnGpu: this.gpuTracks.has(number),
      })),
      kernels: kernels.sort((a, b) => a.end - b.end),
    };
  }

  private reach(at: number, duration: number): void {
    this.from = Math.min(this.from, at);
    this.to = Math.max(this.to, at + (duration || 0));
  }
}

type PlacedTrack = Omit<ForeignTrack, 'order' | 'isOnGpu'> & { readonly at: readonly number[] };

function ordered(tracks: readonly PlacedTrack[]): Omit<ForeignTrack, 'isOnGpu'>[] {
  const sorted = tracks
    .map(({ at }, number) => ({ at, number }))
    .sort((a, b) => a.at.reduce((so, one, i) => so || one - b.at[i]!, 0) || a.number - b.number);
  const order = new Map(sorted.map(({ number }, i) => [number, i]));
  return tracks.map(({ title, kind }, number) => ({ title, kind, order: order.get(number)! }));
}

/** ns; null: none that an event can have. */
export const spanOf = (ns: number | bigint | null): number | null => {
  const span = Number(ns ?? NaN);
  return span >= 0 && span < FARTHEST ? span : null;
};
