/**
 * A TrackSink that passes on the events in the windows of a plan, so that no track needs to know windows. A slice that began before its
 * window is drawn from the window's begin, with the time cut off (`beforeWindowNs`). A slice that ends after the window is cut at the
 * window's end (`afterWindowNs`). A slice that never ended stays open. Counters and states enter the window with their values. Tracks
 * without an event in their window are not described.
 *
 * A slice that begins before the window is held until it certainly reaches into the window. Then it is written at the window's begin. That
 * is later than its time, but a sink allows it.
 */

import { assert } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { Detail } from '../../model/detail.js';
import { ALWAYS, type Window, type Windows } from './selection.js';
import type { SliceExtra, SliceRef, TrackRef, TrackSink, TrackSpec } from './sink.js';
import { StepSlices, StepsOneByOne } from './step_slices.js';

interface OpenSlice {
  readonly ref: SliceRef;
  readonly at: TraceNs;
  readonly name: string;
  readonly extra: SliceExtra | undefined;
  /** null: not written yet, perhaps never. */
  written: SliceRef | null;
}

interface ClippedTrack {
  readonly spec: TrackSpec;
  /** null: the recording's own tracks, drawn as long as collectives and not counted. */
  readonly detail: Detail | null;
  readonly window: Window | null;
  /** null: not described yet. */
  inner: TrackRef | null;
  readonly open: OpenSlice[];
  /** A slice of `open` waits for the window. */
  holds: boolean;
  /** The track's value before the window begins or after it ends. */
  value: number | string | null;
  isPending: boolean;
}

export class ClippedSink implements TrackSink {
  private readonly stepsOneByOne = new StepsOneByOne(this);
  readonly steps = new StepSlices((slices, rows) => {
    this.stepsOneByOne.take(slices, rows);
  });
  private readonly tracks: ClippedTrack[] = [];
  private slices = 0;
  private readonly begun: Record<Detail, number> = { coll: 0, op: 0, step: 0 };
  private readonly flows: number[] = []; // low and high word of each

  constructor(
    private readonly inner: TrackSink,
    private readonly windows: Windows,
  ) {}

  /** Slices written, by their tracks' detail, without instants. */
  get drawn(): Readonly<Record<Detail, number>> {
    return this.begun;
  }

  /** Ends of written arrows; both ends of an arrow have the same id. */
  flowEnds(): BigUint64Array {
    return new BigUint64Array(Uint32Array.from(this.flows).buffer);
  }

  describe(spec: TrackSpec): TrackRef {
    const above = spec.parent === undefined ? undefined : this.track(spec.parent);
    const isAlways = spec.detail === 'always';
    const detail = spec.detail === 'always' ? null : (spec.detail ?? above?.detail ?? null);
    const window = isAlways ? ALWAYS : this.windows[detail ?? 'coll'];
    const open: OpenSlice[] = [];
    this.tracks.push({
      ...{ spec, detail, window, inner: null, open, holds: false, value: null, isPending: false },
    });
    return (this.tracks.length - 1) as TrackRef;
  }

  begin(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    this.steps.flush();
    const track = this.track(ref);
    const slice: OpenSlice = { ref: this.slices++ as SliceRef, at, name, extra, written: null };
    const { window } = track;
    if (window !== null && at < window.from) track.holds = true;
    else if (isWithin(window, at)) {
      this.release(track, window);
      this.write(track, slice, at, extra);
    }
    track.open.push(slice);
    return slice.ref;
  }

  end(ref: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    this.steps.flush();
    const track = this.track(ref);
    const { window, open } = track;
    const last = open.at(-1);
    assert(last?.ref === slice, `track "${track.spec.name}" ends a slice that is not its innermost`);
    if (window !== null && last.at < window.from && at > window.from) this.release(track, window);
    open.pop();
    if (last.written === null || window === null || track.inner === null) return;
    if (at <= window.to) this.inner.end(track.inner, at, last.written, extra);
    else {
      const args = [...(extra?.args ?? []), ['afterWindowNs', at - window.to] as const];
      this.inner.end(track.inner, window.to, last.written, { ...extra, args });
    }
  }

  instant(ref: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.steps.flush();
    const track = this.track(ref);
    const { window } = track;
    if (!isWithin(window, at)) return;
    this.release(track, window);
    this.inner.instant(this.described(track), at, name, extra);
  }

  counter(ref: TrackRef, at: TraceNs, value: number): void {
    this.steps.flush();
    this.setValue(this.track(ref), at, value);
  }

  state(ref: TrackRef, at: TraceNs, name: string | null): void {
    this.steps.flush();
    this.setValue(this.track(ref), at, name);
  }

  /** Called after the last event. Slices that still wait reach into the window. */
  finish(): void {
    this.steps.flush();
    for (const track of this.tracks) {
      const { window } = track;
      if (window === null) continue;
      this.release(track, window);
      this.enter(track, window);
      const isInState = track.spec.kind === 'state' && track.inner !== null && track.value !== null;
      if (isInState && window.to !== Infinity) this.inner.state(track.inner!, window.to, null);
    }
  }

  private setValue(track: ClippedTrack, at: TraceNs, value: number | string | null): void {
    const { window } = track;
    if (window === null) return;
    if (at < window.from) {
      track.value = value;
      track.isPending = true;
    } else if (at <= window.to) {
      if (at > window.from) this.enter(track, window);
      track.isPending = false;
      track.value = value;
      this.putValue(track, at, value);
    }
  }

  /** Writes a track's value at its window's start. */
  private enter(track: ClippedTrack, { from }: Window): void {
    if (!track.isPending) return;
    track.isPending = false;
    if (track.value !== null) this.putValue(track, from, track.value);
  }

  private putValue(track: ClippedTrack, at: TraceNs, value: number | string | null): void {
    const inner = this.described(track);
    if (track.spec.kind === 'counter') this.inner.counter(inner, at, value as number);
    else this.inner.state(inner, at, value as string | null);
  }

  /** Writes slices from before the window that are still open. */
  private release(track: ClippedTrack, { from }: Window): void {
    if (!track.holds) return;
    track.holds = false;
    for (const slice of track.open) {
      if (slice.written !== null || slice.at >= from) continue;
      const args = [...(slice.extra?.args ?? []), ['beforeWindowNs', from - slice.at] as const];
      this.write(track, slice, from, { ...slice.extra, args });
    }
  }

  private write(track: ClippedTrack, slice: OpenSlice, at: TraceNs, extra: SliceExtra | undefined): void {
    slice.written = this.inner.begin(this.described(track), at, slice.name, extra);
    if (track.detail !== null) this.begun[track.detail]++;
    if (extra?.flow !== undefined) this.flows.push(extra.flow.lo, extra.flow.hi);
  }

  private described(track: ClippedTrack): TrackRef {
    if (track.inner === null) {
      const { parent } = track.spec;
      const above = parent === undefined ? undefined : this.described(this.track(parent));
      track.inner = this.inner.describe({ ...track.spec, parent: above });
    }
    return track.inner;
  }

  private track(ref: TrackRef): ClippedTrack {
    const track = this.tracks[ref];
    assert(track !== undefined, `track ${ref} was never described`);
    return track;
  }
}

function isWithin(window: Window | null, at: TraceNs): window is Window {
  return window !== null && at >= window.from && at <= window.to;
}
