/** Which times may be compared, and with which bound. */

import type { TraceNs } from '../base/time.js';
import { bound99At } from './clock_map.js';
import { domainOfFile, type ClockSolution } from './domains.js';

export interface Comparable {
  /** Whether the files are on one axis, within the bounds of their clocks. */
  readonly comparable: (files: readonly number[]) => boolean;
  /** Error between two files' clocks (99 %), ns; 0: one counter. */
  readonly clockBound: (fileA: number, fileB: number, at: TraceNs) => number;
  /** One file of each clock: many may share one. */
  readonly oneOfEachClock: (files: readonly number[]) => readonly number[];
}

export const comparableBy = (clocks: ClockSolution): Comparable => ({
  comparable: onOneAxis(clocks),
  clockBound: clockBound(clocks),
  oneOfEachClock: (files) => [...new Map(files.map((file) => [clocks.domainOf[file], file])).values()],
});

/** Ranks in one group of domains are comparable within their clocks' bounds. Between groups the error is not known. */
const onOneAxis =
  (clocks: ClockSolution) =>
  (files: readonly number[]): boolean =>
    new Set(files.map((file) => domainOfFile(clocks, file).group)).size <= 1;

/** Each clock has a bound against its group's reference. For two clocks the bounds add up. */
function clockBound({ domains, domainOf }: ClockSolution) {
  const bounds = domains.map(({ map }) => bound99At(map));
  return (fileA: number, fileB: number, at: TraceNs): number => {
    const [a, b] = [domainOf[fileA]!, domainOf[fileB]!];
    return a === b ? 0 : bounds[a]!(at) + bounds[b]!(at);
  };
}
