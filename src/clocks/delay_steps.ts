/**
 * Whether the least delays of one link step at a moment, and by how much. Two parallel lines are put below its minima, one before that
 * moment and one after it. A clock that bends at the declared limit looks like a small step, so the result says how large such a step can
 * be.
 */

import type { EdgeEvidence } from './evidence.js';
import { lowestIndex } from './lower_hull.js';
import { FLOOR_SIGMA_NS, type Link } from './links.js';

/** For each minimum of a link, except the outer ones: the step just before it. */
export interface Steps {
  /** When the minima were sent, and their delays. */
  readonly times: Float64Array;
  readonly delays: Float64Array;
  readonly step: Float64Array;
  /** How far the minima beside it scatter (standard error of one, ns), and the error of the step that follows. 0: there are too few minima. */
  readonly scatter: Float64Array;
  readonly gain: Float64Array;
  /** How far minima scatter as a standard error of one, ns: in most places. */
  readonly usual: number;
  /** The most that a rate change of 1/ns adds to it, ns². */
  readonly bend: Float64Array;
  /** So many minima on either side are compared, if there are as many. */
  readonly beside: number;
  /** The line before the step goes through this at the minimum. */
  readonly level: Float64Array;
  readonly slope: Float64Array;
}

/** Minima on each side, at least and at most. */
const LEAST_BESIDE = 2;
const MOST_BESIDE = 24;

/** How minima are chosen and compared. */
export interface StepSearch {
  /** Messages per minimum. The number is larger if there are too many messages to examine. */
  readonly pairs: number;
  /** A link with few messages has this many minima, each of fewer messages. Still fewer messages show no step. 0: no fewer messages. */
  readonly leastMinima: number;
  /** About this many minima at most. */
  readonly most: number;
  /** Most that the two clocks of a link bend against each other, 1/ns. */
  readonly curvature: number;
  /** Standard errors that prove a step. */
  readonly clear: number;
}

export function stepsOf(link: Link, { pairs, leastMinima, most, curvature, clear }: StepSearch): Steps {
  const few = Math.floor(link.edge.pairs / leastMinima);
  const own = few === 0 ? pairs : Math.min(pairs, few);
  const { times, delays } = minimaOf(link, Math.max(own, link.edge.pairs / most));
  const count = times.length;
  const empty = (): Float64Array => new Float64Array(count);
  const steps = {
    times,
    delays,
    step: empty(),
    scatter: empty(),
    gain: empty(),
    bend: empty(),
    level: empty(),
    slope: empty(),
    usual: link.spread,
    beside: LEAST_BESIDE,
  };
  if (count < 2 * LEAST_BESIDE) return steps;
  const beside = besideOf(times, link.spread, curvature, clear);
  for (let i = LEAST_BESIDE; i + LEAST_BESIDE <= count; i++) {
    const from = Math.max(0, i - beside);
    const end = Math.min(count, i + beside);
    steps.bend[i] = shape(times, from, i, end);
    twoLines(times, delays, from, i, end);
    steps.step[i] = LINES.after - LINES.before;
    steps.level[i] = LINES.before;
    steps.slope[i] = LINES.slope;
    steps.scatter[i] = LINES.scatter;
    steps.gain[i] = LINES.gain;
  }
  const inner = steps.scatter.slice(LEAST_BESIDE, count - LEAST_BESIDE + 1).sort();
  // A jump raises the scatter of the minima near it. In a short run these are half of the minima.
  const middle = inner.length > SHORT * beside ? inner[inner.length >> 1]! : 0;
  return { ...steps, beside, usual: Math.max(middle, QUIET * inner[inner.length >> 2]!) };
}

/** Factor from the lower quartile of scatters, each of few minima, to the usual scatter. */
const QUIET = 1.3;

/** A jump lies in few of the fits if all together cover this many times the range of one fit. */
const SHORT = 12;

/** The number of minima that shows a step best: more reduce the effect of scatter, fewer the effect of bends. */
function besideOf(times: Float64Array, scatter: number, curvature: number, clear: number): number {
  const apart = (times.at(-1)! - times[0]!) / (times.length - 1);
  const least = (count: number): number =>
    clear * Math.max(FLOOR_SIGMA_NS, scatter) * Math.sqrt(8 / count) +
    curvature * 0.045 * count ** 3 * apart ** 2;
  let best = LEAST_BESIDE;
  for (let count = LEAST_BESIDE + 1; count <= MOST_BESIDE; count++)
    if (least(count) < least(best)) best = count;
  return best;
}

/** Least delays of some messages each. */
function minimaOf({ edge, slope }: Link, pairs: number) {
  const rough = leastOfCells(edge, pairs, () => slope);
  // A jump spoils the slope of the whole link. Among slopes from one minimum to the next it spoils one.
  const slopes = rough.times.slice(1).map((_, i) => slopeOf(rough.times, rough.delays, i));
  return leastOfCells(edge, pairs, (cell) => {
    const near = slopes.slice(Math.max(0, cell - NEAR), cell + NEAR).sort();
    return near[near.length >> 1] ?? 0;
  });
}

/** Slopes to either side. */
const NEAR = 8;

function leastOfCells({ windows }: EdgeEvidence, pairs: number, slopeAt: (cell: number) => number) {
  const times: number[] = [];
  const delays: number[] = [];
  let known = Infinity;
  let least = Infinity;
  let slope = 0;
  for (const { hull, pairs: own } of windows) {
    if (known >= pairs) {
      known = 0;
      least = Infinity;
      slope = slopeAt(times.length);
      times.push(0);
      delays.push(0);
    }
    known += own;
    const at = lowestIndex(hull, slope);
    const height = hull[at + 1]! - slope * hull[at]!;
    if (height >= least) continue;
    least = height;
    times[times.length - 1] = hull[at]!;
    delays[delays.length - 1] = hull[at + 1]!;
  }
  return { times: Float64Array.from(times), delays: Float64Array.from(delays) };
}

function slopeOf(times: ArrayLike<number>, delays: ArrayLike<number>, i: number): number {
  const apart = times[i + 1]! - times[i]!;
  return apart > 0 ? (delays[i + 1]! - delays[i]!) / apart : 0;
}

/** The two lines at the place of the step, and their statistics. */
const LINES = { before: 0, after: 0, slope: 0, scatter: 0, gain: 0 };

/** Which part of the minima may lie below their line, and from the median above it to the line's standard error. */
const BELOW = 0.25;
const ERROR_PER_MEDIAN = 1.4;
const ROUNDS = 8;
const SMALLEST_NS = 50;

/** Two parallel lines below the minima from `from` to `end`, parted at `at`: quantile regression, reweighted. */
function twoLines(times: Float64Array, delays: Float64Array, from: number, at: number, end: number): void {
  const origin = times[at]!;
  const floor = delays[at]!;
  for (let i = from; i < end; i++) WEIGHTS[i - from] = 1;
  for (let round = 0; round <= ROUNDS; round++) {
    let [wB, tB, vB, wA, tA, vA] = [0, 0, 0, 0, 0, 0];
    for (let i = from; i < end; i++) {
      const weight = WEIGHTS[i - from]!;
      const t = weight * (times[i]! - origin);
      const v = weight * (delays[i]! - floor);
      if (i < at) {
        wB += weight;
        tB += t;
        vB += v;
      } else {
        wA += weight;
        tA += t;
        vA += v;
      }
    }
    tB /= wB;
    vB /= wB;
    tA /= wA;
    vA /= wA;
    let [squares, products] = [0, 0];
    for (let i = from; i < end; i++) {
      const t = times[i]! - origin - (i < at ? tB : tA);
      squares += WEIGHTS[i - from]! * t * t;
      products += WEIGHTS[i - from]! * t * (delays[i]! - floor - (i < at ? vB : vA));
    }
    const slope = squares > 0 ? products / squares : 0;
    LINES.slope = slope;
    LINES.before = vB - slope * tB + floor;
    LINES.after = vA - slope * tA + floor;
    for (let i = from; i < end; i++) {
      const rest = delays[i]! - slope * (times[i]! - origin) - (i < at ? LINES.before : LINES.after);
      REST[i - from] = rest;
      WEIGHTS[i - from] = (rest > 0 ? BELOW : 1 - BELOW) / Math.max(SMALLEST_NS, Math.abs(rest));
    }
  }
  const sorted = REST.subarray(0, end - from).sort();
  // The lines run through three of the minima, however much these scatter.
  LINES.scatter = ERROR_PER_MEDIAN * Math.max(sorted[(end - from + 3) >> 1]!, -sorted[0]!);
}

const WEIGHTS = new Float64Array(2 * MOST_BESIDE);
const REST = new Float64Array(2 * MOST_BESIDE);

/** Sets the factor from scatter to the step's error. Returns how large a step bends can make (Peano's kernel). */
function shape(times: Float64Array, from: number, at: number, end: number): number {
  const origin = times[at]!;
  let [tB, tA, squares] = [0, 0, 0];
  for (let i = from; i < at; i++) tB += (times[i]! - origin) / (at - from);
  for (let i = at; i < end; i++) tA += (times[i]! - origin) / (end - at);
  for (let i = from; i < end; i++) squares += (times[i]! - origin - (i < at ? tB : tA)) ** 2;
  let [gain, bend, kernel, weights, before] = [0, 0, 0, 0, 0];
  let last = times[from]! - origin;
  for (let i = from; i < end; i++) {
    const t = times[i]! - origin;
    const own = t - (i < at ? tB : tA);
    const weight = (i < at ? -1 / (at - from) : 1 / (end - at)) - ((tA - tB) * own) / squares;
    kernel += weights * (t - last);
    bend += ((Math.abs(kernel) + Math.abs(before)) / 2) * (t - last);
    before = kernel;
    last = t;
    weights += weight;
    gain += weight * weight;
  }
  LINES.gain = Math.sqrt(gain);
  return bend;
}
