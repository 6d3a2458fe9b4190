/**
 * A TrackSink that thins counters of totals to what a screen can show: a job of an hour has 36 million samples of 100 us on each rank, and
 * a screen a few thousand columns. Each remaining sample is exact for its time, and each counter keeps its first and last one. Rates, and
 * counters of every change, pass unchanged.
 */

import type { TraceNs } from '../../base/time.js';
import type { SliceExtra, SliceRef, StepSink, TrackRef, TrackSink, TrackSpec } from './sink.js';

/** Shortest interval of sampled totals (`SampledCounter`). */
const SHORTEST_NS = 100_000;
/** Samples per counter: more than a screen has columns, also when zoomed in to half. */
const MOST_SAMPLES = 8192;

/** ns between two samples of a counter that is drawn over `span`. */
export const sampleInterval = (span: number): number => Math.max(SHORTEST_NS, Math.ceil(span / MOST_SAMPLES));

interface Thinned {
  writtenAt: number;
  /** The newest sample if it was not written. */
  pending: { readonly at: TraceNs; readonly value: number } | null;
}

export class ThinnedSink implements TrackSink {
  private readonly counters = new Map<TrackRef, Thinned>();

  constructor(
    private readonly inner: TrackSink,
    private readonly interval: number,
  ) {}

  describe(spec: TrackSpec): TrackRef {
    const track = this.inner.describe(spec);
    const isTotal = spec.kind === 'counter' && spec.detail === 'op' && spec.unit !== 'GB/s';
    if (isTotal) this.counters.set(track, { writtenAt: -Infinity, pending: null });
    return track;
  }

  counter(track: TrackRef, at: TraceNs, value: number): void {
    const thinned = this.counters.get(track);
    if (thinned && at < thinned.writtenAt + this.interval) thinned.pending = { at, value };
    else {
      if (thinned) Object.assign(thinned, { writtenAt: at, pending: null });
      this.inner.counter(track, at, value);
    }
  }

  /** After the last event. */
  finish(): void {
    for (const [track, { pending }] of this.counters)
      if (pending) this.inner.counter(track, pending.at, pending.value);
  }

  begin(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): SliceRef {
    return this.inner.begin(track, at, name, extra);
  }

  end(track: TrackRef, at: TraceNs, slice: SliceRef, extra?: SliceExtra): void {
    this.inner.end(track, at, slice, extra);
  }

  instant(track: TrackRef, at: TraceNs, name: string, extra?: SliceExtra): void {
    this.inner.instant(track, at, name, extra);
  }

  state(track: TrackRef, at: TraceNs, name: string | null): void {
    this.inner.state(track, at, name);
  }

  steps(track: TrackRef): StepSink {
    return this.inner.steps(track);
  }
}
