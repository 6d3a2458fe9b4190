/** What was written, in the terms of trace_processor's tables, so that a finished trace can be checked against it. */

import type { SliceExtra } from '../tracks/sink.js';
import type { Track } from './nesting.js';

export interface BlockCounts {
  /** Rows of `slice`, instants included. */
  readonly slices: number;
  /** Of these, never ended. */
  readonly openSlices: number;
  readonly instants: number;
  readonly counterSamples: number;
  /** Rows of `state`: leaving a state is none. */
  readonly states: number;
  readonly tracksWithData: number;
  /** Events that name a flow; two of one id make an arrow. */
  readonly flowEnds: number;
  /** Written, or waiting to be. */
  readonly bytes: number;
}

export class Tally {
  slices = 0;
  instants = 0;
  counterSamples = 0;
  states = 0;
  private tracksWithData = 0;
  private flowEnds = 0;

  /** Every event comes by here. */
  event(track: Track, extra?: SliceExtra): void {
    if (!track.hasData) {
      track.hasData = true;
      this.tracksWithData++;
    }
    if (extra?.flow !== undefined) this.flowEnds++;
  }

  /** A slice or an instant of a step's track. */
  slice(track: Track, hasFlow: boolean): void {
    this.slices++;
    this.event(track);
    if (hasFlow) this.flowEnds++;
  }

  counts(openSlices: number, bytes: number): BlockCounts {
    const { slices, instants, counterSamples, states, tracksWithData, flowEnds } = this;
    return { slices, openSlices, instants, counterSamples, states, tracksWithData, flowEnds, bytes };
  }
}
