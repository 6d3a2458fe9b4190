/**
 * The least delay of one edge over a stretch of time, as a line: the delay of messages that never waited. The stretch is cut into
 * sub-windows, and each gives its least delay. (It is taken below the line's own slope. Otherwise minima would sit at the edges of the
 * sub-windows.) The line runs through the lowest of these minima, except a single odd one. A line needs the support of several sub-windows.
 * So one message that seems to arrive too early (a wrong pair) moves nothing.
 */

import { firstIndex } from '../base/first_index.js';
import type { EdgeEvidence } from './evidence.js';
import { HullBuilder, lowestIndex } from './lower_hull.js';

/** The line by its values at one or two times of the coarse axis, ns. */
export interface SupportLine {
  readonly times: readonly number[];
  readonly delays: readonly number[];
  /** How far the minima of sub-windows lie from the line, ns: half of them nearer, half farther. */
  readonly spread: number;
  /** The minima: time, delay, time, delay, ... */
  readonly minima: readonly number[];
}

const MAX_SUB_WINDOWS = 8;
/**
 * A minimum of fewer pairs shows too little. With more pairs per minimum, there would be too few minima where messages are few and clocks
 * bend.
 */
const PAIRS_PER_SUB_WINDOW = 3;
/** How far minima differ where there are too few to see, ns. */
const UNSEEN_SPREAD_NS = 5000;
/** No two counters run at rates farther apart, even against their nominal ones. */
const MAX_RATE_DIFFERENCE = 1e-3;
/** Which part of the minima may lie below the line. */
const QUANTILE = 0.15;

/** The support line of the windows inside [from, to); null where there is no pair. */
export function supportLine(edge: EdgeEvidence, from: number, to: number): SupportLine | null {
  const first = firstFrom(edge, from);
  const end = firstFrom(edge, to);
  let pairs = 0;
  HULL.clear();
  for (let at = first; at < end; at++) {
    const window = edge.windows[at]!;
    pairs += window.pairs;
    HULL.append(window.hull);
  }
  if (pairs === 0) return null;
  const steepness = HULL.middleSlope();
  const slope = Math.abs(steepness) <= MAX_RATE_DIFFERENCE ? steepness : 0;
  const count = Math.min(MAX_SUB_WINDOWS, Math.max(1, Math.floor(pairs / PAIRS_PER_SUB_WINDOW)));
  const minima = subWindowMinima(edge.windows, first, end, slope, count);
  return throughLowest(minima, slope);
}

/** The line that is being fitted. */
const HULL = new HullBuilder();

/** Place of the first window that begins at `time` or later. */
const firstFrom = ({ windows, windowNs }: EdgeEvidence, time: number): number =>
  firstIndex(windows.length, (place) => windows[place]!.index * windowNs >= time);

/** The windows from place `begin` to `end`. */
function subWindowMinima(
  windows: EdgeEvidence['windows'],
  begin: number,
  end: number,
  slope: number,
  count: number,
): number[] {
  const first = windows[begin]!.index;
  const span = windows[end - 1]!.index + 1 - first;
  const minima: number[] = [];
  let current = -1;
  let least = Infinity;
  for (let place = begin; place < end; place++) {
    const { index, hull } = windows[place]!;
    const subWindow = Math.floor(((index - first) * count) / span);
    if (subWindow !== current) {
      current = subWindow;
      least = Infinity;
      minima.push(0, 0);
    }
    const at = lowestIndex(hull, slope);
    const delay = hull[at + 1]! - slope * hull[at]!;
    if (delay >= least) continue;
    least = delay;
    minima[minima.length - 2] = hull[at]!;
    minima[minima.length - 1] = hull[at + 1]!;
  }
  return minima;
}

/** Quantile regression by reweighted least squares, centred on the first minimum. */
function throughLowest(minima: readonly number[], slope: number): SupportLine {
  const n = minima.length / 2;
  const t0 = minima[0]!;
  const y0 = minima[1]!;
  const last = minima[2 * n - 2]!;
  if (n === 1) return { times: [t0], delays: [y0], spread: UNSEEN_SPREAD_NS, minima };
  if (n === 2) return { times: [t0, last], delays: [y0, minima[3]!], spread: UNSEEN_SPREAD_NS, minima };
  for (let i = 0; i < n; i++) {
    X[i] = minima[2 * i]! - t0;
    Y[i] = minima[2 * i + 1]! - y0;
    WEIGHTS[i] = 1;
  }
  const line = { offset: 0, slope };
  for (let round = 0; round < ROUNDS; round++) {
    const { offset: before, slope: slopeBefore } = line;
    weightedLine(n, line);
    const moved = line.offset - before;
    const movedAtEnd = moved + (line.slope - slopeBefore) * (last - t0);
    if (Math.max(Math.abs(moved), Math.abs(movedAtEnd)) < STILL_NS) break;
    for (let i = 0; i < n; i++) {
      const r = Y[i]! - line.offset - line.slope * X[i]!;
      const distance = Math.abs(r);
      WEIGHTS[i] =
        (r > 0 ? QUANTILE : 1 - QUANTILE) /
        (distance > SMALLEST_RESIDUAL_NS ? distance : SMALLEST_RESIDUAL_NS);
    }
  }
  const { offset, slope: found } = line;
  for (let i = 0; i < n; i++) {
    const distance = Math.abs(Y[i]! - offset - found * X[i]!);
    let at = i;
    for (; at > 0 && DISTANCES[at - 1]! > distance; at--) DISTANCES[at] = DISTANCES[at - 1]!;
    DISTANCES[at] = distance;
  }
  return {
    times: [t0, last],
    delays: [y0 + offset, y0 + offset + found * (last - t0)],
    spread: DISTANCES[n >> 1]!,
    minima,
  };
}

/** A smaller residual is read-out noise. The limit keeps the weights finite. */
const SMALLEST_RESIDUAL_NS = 50;
const ROUNDS = 24;
/** A line that moves by less has settled. */
const STILL_NS = 1;

/** The minima of the line that is being found: there are many lines, and each has few. */
const X = new Float64Array(MAX_SUB_WINDOWS);
const Y = new Float64Array(MAX_SUB_WINDOWS);
const WEIGHTS = new Float64Array(MAX_SUB_WINDOWS);
/** Rising. */
const DISTANCES = new Float64Array(MAX_SUB_WINDOWS);

function weightedLine(n: number, line: { offset: number; slope: number }): void {
  let total = 0;
  let sumX = 0;
  let sumY = 0;
  for (let i = 0; i < n; i++) {
    const weight = WEIGHTS[i]!;
    total += weight;
    sumX += weight * X[i]!;
    sumY += weight * Y[i]!;
  }
  const meanX = sumX / total;
  const meanY = sumY / total;
  let xx = 0;
  let xy = 0;
  for (let i = 0; i < n; i++) {
    const x = X[i]! - meanX;
    const weighted = WEIGHTS[i]! * x;
    xx += weighted * x;
    xy += weighted * (Y[i]! - meanY);
  }
  line.slope = xx > 0 ? xy / xx : 0;
  line.offset = meanY - line.slope * meanX;
}
