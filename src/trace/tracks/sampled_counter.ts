/**
 * A counter that changes too often to draw every change. It has at most one sample per `interval`. Each sample is exact for its time, and
 * the last value before a pause is always drawn. 0 ns: every change. With samples every 100 us, a job of an hour would have 36 million on
 * each rank, and a screen has a few thousand columns. So the interval grows with the time that is drawn.
 */

import type { TraceNs } from '../../base/time.js';
import type { TrackRef, TrackSink } from './sink.js';

const SHORTEST_NS = 100_000;
/** Intervals of a counter, with at most two samples each. Half of them are still more than a screen has columns. */
const MOST_INTERVALS = 4096;

/** ns between two samples of a counter that is drawn over `span`. */
export const sampleInterval = (span: number): number =>
  Math.max(SHORTEST_NS, Math.ceil(span / MOST_INTERVALS));

export class SampledCounter {
  private value = 0;
  /** NaN: never. With null instead, each time would become an object. */
  private changedAt = NaN;
  private sampledAt = -Infinity;
  private sampledValue = 0;

  /** The counter begins at 0, which the caller draws. */
  constructor(
    private readonly sink: TrackSink,
    private readonly track: TrackRef,
    private readonly interval: number,
  ) {}

  /** `at` never goes back. */
  add(amount: number, at: TraceNs): void {
    if (at - this.changedAt >= this.interval) this.sample(this.changedAt);
    this.value = Math.min(this.value + amount, Number.MAX_SAFE_INTEGER);
    this.changedAt = at;
    if (at - this.sampledAt >= this.interval) this.sample(at);
  }

  finish(): void {
    if (!Number.isNaN(this.changedAt)) this.sample(this.changedAt);
  }

  private sample(at: number): void {
    if (this.value === this.sampledValue) return;
    this.sink.counter(this.track, at as TraceNs, this.value);
    this.sampledAt = at;
    this.sampledValue = this.value;
  }
}
