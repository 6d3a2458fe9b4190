/**
 * What a clock can show while another one, the source, shows a time: at most, and at least. Known at instants; in between each is
 * a chord, from which the truth differs by no more than the curvature allows; beyond the outer instants it goes on at the fastest
 * and slowest rates. The corrections are followed along these curves, so their knots count where the clocks reach them.
 */

import { knotTime, type Knots } from './corrections.js';
import { alignedAt, shownAt } from './shown.js';
import type { GainRates } from './arc_limit.js';

/** truth - estimate of a domain, against another, lies in [-below, above]; ns, Infinity: unbounded. */
export interface Interval {
  readonly below: number;
  readonly above: number;
}

export const INSTANTS_PER_PIECE = 2;

export interface Readings {
  readonly source: number;
  readonly knots: Knots;
  readonly corrections: readonly Float64Array[];
  /** Rising, on the common axis: when the source is estimated to be there. */
  readonly instants: Float64Array;
  /** What the source shows at the instants. */
  readonly shown: Float64Array;
  /** Per instant and domain, beyond the estimate and short of it, ns. */
  readonly late: readonly Float64Array[];
  readonly early: readonly Float64Array[];
  /** How fast a domain's clock gains on the source's. */
  readonly rates: (domain: number) => GainRates;
  /** Most that a clock's rate changes, 1/ns. */
  readonly curvature: number;
}

/** truth - estimate of a domain against the source, while either of them shows a time of the piece. */
export function worstOfPiece(readings: Readings, domain: number, piece: number): Interval {
  const { late, early, knots, instants, curvature } = readings;
  if (domain === readings.source) return { below: 0, above: 0 };
  const latest = Number.isFinite(late[0]![domain]!) ? new Curve(readings, domain, late, 1) : null;
  const earliest = Number.isFinite(early[0]![domain]!) ? new Curve(readings, domain, early, -1) : null;
  const left = knotTime(knots, piece);
  const right = knotTime(knots, piece + 1);
  const from = Math.min(left, (latest ?? earliest)?.whenShown(left) ?? left);
  const to = Math.max(right, (earliest ?? latest)?.whenShown(right) ?? right);
  const span = instants[1]! - instants[0]!;
  const swell = (curvature * span * span) / 4;
  return {
    below: latest === null ? Infinity : Math.max(0, latest.largestError(from, to) + swell),
    above: earliest === null ? Infinity : Math.max(0, earliest.largestError(from, to) + swell),
  };
}

class Curve {
  private readonly values: Float64Array;
  private readonly ownValues: Float64Array;
  /** What it goes on at before the first instant and behind the last one: shown time per time of the source. */
  private readonly rateBefore: number;
  private readonly rateBehind: number;

  /** `sign`: 1 for what is shown at most, -1 at least. */
  constructor(
    private readonly readings: Readings,
    private readonly domain: number,
    private readonly reach: readonly Float64Array[],
    private readonly sign: 1 | -1,
  ) {
    this.values = readings.corrections[domain]!;
    this.ownValues = readings.corrections[readings.source]!;
    const { least, most } = readings.rates(domain);
    this.rateBefore = 1 + (sign > 0 ? least : most)[0]!;
    this.rateBehind = 1 + (sign > 0 ? most : least).at(-1)!;
  }

  /** Of |estimate - truth| to this side, while the source shows [from, to]. */
  largestError(from: number, to: number): number {
    const { knots, shown } = this.readings;
    let worst = Math.max(this.error(from), this.error(to));
    const see = (time: number): void => {
      if (time > from && time < to) worst = Math.max(worst, this.error(time));
    };
    const knot = (time: number): number => (time - knots.first) / knots.step;
    for (let i = this.instantBefore(from); i < shown.length && shown[i]! < to; i++) see(shown[i]!);
    for (let k = Math.ceil(knot(from)); k <= knot(to); k++) see(knotTime(knots, k));
    const last = knot(this.at(to));
    for (let k = Math.ceil(knot(this.at(from))); k <= last; k++) see(this.whenShown(knotTime(knots, k)));
    return worst;
  }

  /** When, by the source, this curve comes to a time. */
  whenShown(time: number): number {
    const { shown } = this.readings;
    const last = shown.length - 1;
    let i = this.instantBefore(time);
    while (i > 0 && this.point(i) > time) i--;
    while (i < last - 1 && this.point(i + 1) <= time) i++;
    const before = this.point(i);
    const behind = this.point(i + 1);
    if (time < before) return shown[i]! - (before - time) / this.rateBefore;
    if (time > behind) return shown[i + 1]! + (time - behind) / this.rateBehind;
    return shown[i]! + ((shown[i + 1]! - shown[i]!) * (time - before)) / (behind - before);
  }

  private error(time: number): number {
    const { knots } = this.readings;
    const estimated = alignedAt(knots, this.values, this.at(time));
    return this.sign * (estimated - alignedAt(knots, this.ownValues, time));
  }

  private at(time: number): number {
    const { shown, curvature } = this.readings;
    const last = shown.length - 1;
    const before = shown[0]! - time;
    const behind = time - shown[last]!;
    if (before > 0) return this.point(0) - before * this.rateBefore + this.sign * curvature * before * before;
    if (behind > 0)
      return this.point(last) + behind * this.rateBehind + this.sign * curvature * behind * behind;
    const i = this.instantBefore(time);
    const share = (time - shown[i]!) / (shown[i + 1]! - shown[i]!);
    return this.point(i) + share * (this.point(i + 1) - this.point(i));
  }

  /** What it shows at an instant. */
  private point(i: number): number {
    const { knots, instants } = this.readings;
    return shownAt(knots, this.values, instants[i]! + this.sign * this.reach[i]![this.domain]!);
  }

  /** The last instant, but one at most, at which the source shows no more. */
  private instantBefore(time: number): number {
    const { shown, knots } = this.readings;
    const last = shown.length - 2;
    const near = Math.floor((time - shown[0]!) / (knots.step / INSTANTS_PER_PIECE));
    let i = Math.min(last, Math.max(0, near));
    while (i > 0 && shown[i]! > time) i--;
    while (i < last && shown[i + 1]! <= time) i++;
    return i;
  }
}
