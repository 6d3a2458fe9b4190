/** Counts what was written, in the terms of trace_processor's tables, to check a finished trace. */

import type { Track } from './nesting.js';

export interface BlockCounts {
  /** Rows of `slice`, instants included. */
  readonly slices: number;
  /** How many of these slices never ended. */
  readonly openSlices: number;
  /** Without phases of steps that ended when they began. Those are written as instants, too. */
  readonly instants: number;
  readonly counterSamples: number;
  /** Rows of `state`. Leaving a state is not a row. */
  readonly states: number;
  readonly tracksWithData: number;
  /** Written or buffered. */
  readonly bytes: number;
}

export class Tally {
  slices = 0;
  instants = 0;
  counterSamples = 0;
  states = 0;
  private tracksWithData = 0;

  /** Called for every event. */
  event(track: Track): void {
    if (!track.hasData) {
      track.hasData = true;
      this.tracksWithData++;
    }
  }

  counts(openSlices: number, bytes: number): BlockCounts {
    const { slices, instants, counterSamples, states, tracksWithData } = this;
    return { slices, openSlices, instants, counterSamples, states, tracksWithData, bytes };
  }
}
