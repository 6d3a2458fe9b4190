/**
 * The latest and the earliest time that a clock can show while another one, the source, shows a given time. The bounds are known at
 * instants. Between instants they follow a chord, and the truth differs from the chord by no more than the curvature allows. Beyond the
 * outer instants they go on at the fastest possible rate. The corrections are followed along these curves, so a knot counts when the clock
 * reaches it.
 */

import { firstIndex } from '../base/first_index.js';
import { knotTime, type Knots } from './corrections.js';
import { alignedAt, shownAt } from './corrected_times.js';
import { narrow, type Band } from './tangents.js';

/** truth - estimate of a domain, against another, lies in [-below, above]; ns, Infinity: unbounded. */
export interface Interval {
  readonly below: number;
  readonly above: number;
}

export interface Readings {
  readonly source: number;
  readonly knots: Knots;
  readonly corrections: readonly Float64Array[];
  /** Rising, on the common axis: when the source is estimated to be there. */
  readonly instants: Float64Array;
  /** How many of them a piece has. */
  readonly perPiece: number;
  /** What the source shows at the instants. */
  readonly shown: Float64Array;
  /** Bounds per instant and domain, above and below the estimate, ns. */
  readonly late: readonly Float64Array[];
  readonly early: readonly Float64Array[];
  /** Most that a clock's rate changes, 1/ns. */
  readonly curvature: number;
}

/** Largest distance of other instants that are used. Farther away, clocks may have bent too much to show anything. */
const NEAR_NS = 240e9;
/** Least and largest number of instants. */
const LEAST_NEAR = 4;
const MOST_NEAR = 96;

/** How far a domain can be ahead of the source, by all evidence at all instants. */
export function bandOf(readings: Readings, domain: number) {
  const { knots, corrections, instants, perPiece, shown, late, early, curvature } = readings;
  const values = corrections[domain]!;
  const count = instants.length;
  const most = new Float64Array(count);
  const least = new Float64Array(count);
  const guess = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const instant = instants[i]!;
    most[i] = shownAt(knots, values, instant + late[i]![domain]!) - shown[i]!;
    least[i] = shownAt(knots, values, instant - early[i]![domain]!) - shown[i]!;
    guess[i] = shownAt(knots, values, instant) - shown[i]!;
  }
  const near = Math.min(MOST_NEAR, Math.max(LEAST_NEAR, Math.round((NEAR_NS * perPiece) / knots.step)));
  const band: Band = { times: shown, most, least, guess };
  return { band, openings: narrow(band, curvature, near) };
}

/** Per span, truth - estimate of a domain against the source, while either of them shows a time of the span. */
export function worstOfSpans(readings: Readings, domain: number, spans: Knots): Interval[] {
  const { late, early, instants, curvature } = readings;
  const all = Array.from({ length: spans.count - 1 }, (_, span) => span);
  if (domain === readings.source) return all.map(() => ({ below: 0, above: 0 }));
  const { band, openings } = bandOf(readings, domain);
  const { before, behind } = openings;
  const latest = Number.isFinite(late[0]![domain]!)
    ? new Curve(readings, domain, 1, band.most, before.most, behind.most)
    : null;
  const earliest = Number.isFinite(early[0]![domain]!)
    ? new Curve(readings, domain, -1, band.least, before.least, behind.least)
    : null;
  const apart = instants[1]! - instants[0]!;
  const swell = (curvature * apart * apart) / 4;
  return all.map((span) => {
    const left = knotTime(spans, span);
    const right = knotTime(spans, span + 1);
    const from = Math.min(left, (latest ?? earliest)?.whenShown(left) ?? left);
    const to = Math.max(right, (earliest ?? latest)?.whenShown(right) ?? right);
    return {
      below: latest === null ? Infinity : Math.max(0, latest.largestError(from, to) + swell),
      above: earliest === null ? Infinity : Math.max(0, earliest.largestError(from, to) + swell),
    };
  });
}

class Curve {
  private readonly values: Float64Array;
  private readonly ownValues: Float64Array;
  /** What it shows at the instants. */
  private readonly points: Float64Array;
  /** Its rate before the first instant and after the last one: shown time per time of the source. */
  private readonly rateBefore: number;
  private readonly rateBehind: number;

  /**
   * `sign`: 1 for the most that the clock can show, -1 for the least. `ahead`: how far it is ahead of the source at the instants. `before`
   * and `behind`: how fast this grows.
   */
  constructor(
    private readonly readings: Readings,
    domain: number,
    private readonly sign: 1 | -1,
    ahead: Float64Array,
    before: number,
    behind: number,
  ) {
    this.values = readings.corrections[domain]!;
    this.ownValues = readings.corrections[readings.source]!;
    this.points = ahead.map((value, i) => readings.shown[i]! + value);
    this.rateBefore = 1 - sign * before;
    this.rateBehind = 1 + sign * behind;
  }

  /** The largest |estimate - truth| on this side, while the source shows [from, to]. */
  largestError(from: number, to: number): number {
    const { knots, shown } = this.readings;
    let worst = Math.max(this.error(from), this.error(to));
    const see = (time: number): void => {
      if (time > from && time < to) worst = Math.max(worst, this.error(time));
    };
    // Outside of the knots the corrections do not bend. A clock that is years away may reach far there.
    const knot = (time: number): number =>
      Math.max(-1, Math.min(knots.count, (time - knots.first) / knots.step));
    for (let i = this.instantBefore(from); i < shown.length && shown[i]! < to; i++)
      if (shown[i]! > from) worst = Math.max(worst, this.errorAt(shown[i]!, this.points[i]!));
    for (let k = Math.ceil(knot(from)); k <= knot(to); k++) see(knotTime(knots, k));
    const last = knot(this.at(to));
    for (let k = Math.ceil(knot(this.at(from))); k <= last; k++) see(this.whenShown(knotTime(knots, k)));
    return worst;
  }

  /** The source's time at which this curve reaches a time. */
  whenShown(time: number): number {
    const { points } = this;
    const { shown } = this.readings;
    const last = shown.length - 1;
    let i = this.instantBefore(time);
    // Mostly the guess is right. One impossible stamp may put the place thousands of instants away.
    if (points[i]! > time || points[i + 1]! <= time) i = firstIndex(last - 1, (k) => points[k + 1]! > time);
    const before = points[i]!;
    const behind = points[i + 1]!;
    if (time < before) return shown[i]! - (before - time) / this.rateBefore;
    if (time > behind) return shown[i + 1]! + (time - behind) / this.rateBehind;
    return shown[i]! + ((shown[i + 1]! - shown[i]!) * (time - before)) / (behind - before);
  }

  private error(time: number): number {
    return this.errorAt(time, this.at(time));
  }

  /** The error when the source shows `time` and this curve shows `own`. */
  private errorAt(time: number, own: number): number {
    const { knots } = this.readings;
    return this.sign * (alignedAt(knots, this.values, own) - alignedAt(knots, this.ownValues, time));
  }

  private at(time: number): number {
    const { points } = this;
    const { shown, curvature } = this.readings;
    const last = shown.length - 1;
    const before = shown[0]! - time;
    const behind = time - shown[last]!;
    if (before > 0) return points[0]! - before * this.rateBefore + this.sign * curvature * before * before;
    if (behind > 0) return points[last]! + behind * this.rateBehind + this.sign * curvature * behind * behind;
    const i = this.instantBefore(time);
    const share = (time - shown[i]!) / (shown[i + 1]! - shown[i]!);
    return points[i]! + share * (points[i + 1]! - points[i]!);
  }

  /** The last instant at which the source shows at most this time, but never the very last instant. */
  private instantBefore(time: number): number {
    const { shown, knots, perPiece } = this.readings;
    const last = shown.length - 2;
    const near = Math.floor(((time - shown[0]!) * perPiece) / knots.step);
    let i = Math.min(last, Math.max(0, near));
    while (i > 0 && shown[i]! > time) i--;
    while (i < last && shown[i + 1]! <= time) i++;
    return i;
  }
}
