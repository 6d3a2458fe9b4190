/** Which times may be compared with each other, and the error of their clocks. */

import { clockBound, onOneAxis } from '../clocks/comparable.js';
import type { ClockSolution } from '../clocks/domains.js';
import type { TraceNs } from '../base/time.js';

export interface Comparable {
  readonly areOnOneAxis: (files: readonly number[]) => boolean;
  /** ns, 99 %; 0: one counter. */
  readonly bound: (fileA: number, fileB: number, at: TraceNs) => number;
}

export const comparableBy = (clocks: ClockSolution): Comparable => ({
  areOnOneAxis: onOneAxis(clocks),
  bound: clockBound(clocks),
});
