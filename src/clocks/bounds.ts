/**
 * How wrong the corrections can be. *Hard*: every pair says that its sender's clock is ahead of its receiver's by no more than the
 * pair's delay, and such statements add up along paths. Between pairs clocks may bend by a declared curvature, and nothing else is assumed.
 *
 * With both clocks bending by at most k (1/ns), a bound that holds at t1 and t2 holds between them with
 * k (t - t1)(t2 - t) added. That is: lift all points by k t², take the lower hull, subtract k t².
 *
 * Near the ends of an edge's evidence its hull rests on pairs that happened to wait. There a tighter bound from further inside
 * counts, widened by how far rates can be off: a rate is bounded by the bounds at two instants of the same piece.
 */

import { correctionAt, knotTime, type Knots } from './corrections.js';
import type { EdgeEvidence } from './evidence.js';
import { adjacency, shortestPaths, type Adjacency, type Arc } from './graph.js';
import { lowerHull } from './lower_hull.js';

/** truth - estimate of a domain, against another, lies in [-below, above]; ns, Infinity: unbounded. */
export interface Interval {
  readonly below: number;
  readonly above: number;
}

/** Where in a piece two instants are taken that bound a rate: far apart, or away from the ends where hulls are high. */
const RATE_SHARES = [0.1, 0.25];

/** Per arc, dimensionless: of what `from` is ahead of `to` beyond the estimate. */
interface ArcRates {
  readonly rising: Float64Array;
  readonly falling: Float64Array;
}

export class HardBounds {
  private readonly arcs: readonly Arc[];
  private readonly out: Adjacency;
  private readonly into: Adjacency;
  /** Per instant, per arc: by how much the sender's clock may still be put forward against the receiver's. */
  private readonly slacks: readonly Float64Array[];
  /** Between two instants a bound may swell by this, ns. */
  private readonly swell: number;

  /** `curvature`: most that a clock's rate changes, 1/ns; 0.1 ppm a minute is 1.67e-18. */
  constructor(
    private readonly references: readonly number[],
    edges: readonly EdgeEvidence[],
    readonly knots: Knots,
    corrections: readonly Float64Array[],
    private readonly curvature: number,
  ) {
    const byArc = groupByArc(edges);
    this.arcs = byArc.map(({ arc }) => arc);
    this.out = adjacency(references.length, this.arcs, 'from');
    this.into = adjacency(references.length, this.arcs, 'to');
    const limits = byArc.map(({ arc, edges: own }) => new ArcLimit(knots, corrections, arc, own, curvature));
    const rates = Array.from({ length: knots.count - 1 }, (_, piece) => this.rates(limits, piece));
    this.slacks = Array.from({ length: 2 * knots.count - 1 }, (_, instant) => {
      const left = rates[Math.max(0, Math.ceil(instant / 2) - 1)]!;
      const right = rates[Math.min(knots.count - 2, Math.floor(instant / 2))]!;
      return Float64Array.from(limits, (limit, i) =>
        limit.at(
          knotTime(knots, instant / 2),
          Math.max(left.rising[i]!, right.rising[i]!),
          Math.max(left.falling[i]!, right.falling[i]!),
        ),
      );
    });
    this.swell = (curvature * knots.step ** 2) / 16;
  }

  /** How fast the true distance of an arc's two clocks can grow and shrink against the estimate, in and beside a piece. */
  private rates(limits: readonly ArcLimit[], piece: number): ArcRates {
    const { knots } = this;
    const rise = new Float64Array(this.references.length).fill(Infinity);
    const fall = new Float64Array(this.references.length).fill(Infinity);
    for (const share of RATE_SHARES) {
      const earlier = this.at(limits, knotTime(knots, piece + share));
      const later = this.at(limits, knotTime(knots, piece + 1 - share));
      const span = (1 - 2 * share) * knots.step;
      for (let domain = 0; domain < rise.length; domain++) {
        const risen = earlier.below[domain]! + later.above[domain]!;
        const fallen = earlier.above[domain]! + later.below[domain]!;
        rise[domain] = Math.min(rise[domain]!, risen / span);
        fall[domain] = Math.min(fall[domain]!, fallen / span);
      }
    }
    const bend = 4 * this.curvature * knots.step;
    const rate = (up: Float64Array, down: Float64Array): Float64Array =>
      Float64Array.from(this.arcs, ({ from, to }) => {
        if (this.references[from] !== this.references[to]) return UNKNOWN;
        return up[from]! + down[to]! + bend;
      });
    return { rising: rate(rise, fall), falling: rate(fall, rise) };
  }

  /** All domains against their references at one instant, by pairs and nothing else. */
  private at(limits: readonly ArcLimit[], time: number): { below: Float64Array; above: Float64Array } {
    const lengths = Float64Array.from(limits, (limit) => limit.at(time, UNKNOWN, UNKNOWN));
    const all = {
      below: new Float64Array(this.references.length),
      above: new Float64Array(this.references.length),
    };
    for (const reference of new Set(this.references)) {
      const { below, above } = this.paths(reference, lengths);
      this.references.forEach((own, domain) => {
        if (own !== reference) return;
        all.below[domain] = below[domain]!;
        all.above[domain] = above[domain]!;
      });
    }
    return all;
  }

  private paths(reference: number, lengths: Float64Array) {
    const domains = this.references.length;
    return {
      below: shortestPaths(domains, this.arcs, this.out, lengths, reference, 'from'),
      above: shortestPaths(domains, this.arcs, this.into, lengths, reference, 'to'),
    };
  }

  /** Of all domains against `reference`, over the whole of a piece. */
  against(reference: number, piece: number): Interval[] {
    const worst = this.references.map(() => ({ below: 0, above: 0 }));
    for (let instant = 2 * piece; instant <= 2 * piece + 2; instant++) {
      const { below, above } = this.paths(reference, this.slacks[instant]!);
      worst.forEach((interval, domain) => {
        interval.below = Math.max(interval.below, below[domain]!);
        interval.above = Math.max(interval.above, above[domain]!);
      });
    }
    return worst.map(({ below, above }, domain) =>
      domain === reference ? { below, above } : { below: below + this.swell, above: above + this.swell },
    );
  }
}

function groupByArc(edges: readonly EdgeEvidence[]): { arc: Arc; edges: EdgeEvidence[] }[] {
  const arcs = new Map<string, { arc: Arc; edges: EdgeEvidence[] }>();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`;
    const known = arcs.get(key);
    if (known) known.edges.push(edge);
    else arcs.set(key, { arc: { from: edge.from, to: edge.to }, edges: [edge] });
  }
  return [...arcs.values()];
}

/** What all pairs of one arc say, at any time. */
class ArcLimit {
  private readonly hull: readonly number[];
  /** At the hull's points: slack, and how far the estimated corrections are apart. */
  private readonly slacks: Float64Array;
  private readonly differences: Float64Array;
  private readonly from: Float64Array;
  private readonly to: Float64Array;

  constructor(
    private readonly knots: Knots,
    corrections: readonly Float64Array[],
    arc: Arc,
    edges: readonly EdgeEvidence[],
    private readonly curvature: number,
  ) {
    this.from = corrections[arc.from]!;
    this.to = corrections[arc.to]!;
    const lifted: number[] = [];
    for (const { windows } of edges) {
      for (const { hull } of windows) {
        for (let i = 0; i < hull.length; i += 2) {
          const time = hull[i]!;
          lifted.push(time, this.atOneTime(time, hull[i + 1]!) + this.parabola(time));
        }
      }
    }
    this.hull = lowerHull(lifted);
    const times = Array.from({ length: this.hull.length / 2 }, (_, i) => this.hull[2 * i]!);
    this.differences = Float64Array.from(times, (time) => this.difference(time));
    this.slacks = Float64Array.from(
      times,
      (time, i) => this.hull[2 * i + 1]! - this.parabola(time) - this.differences[i]!,
    );
  }

  /**
   * The hull at `time`, or less where a pair nearby says more: with the estimated rates off by `rising` at most (before
   * `time`) or `falling` (after it), or whatever was estimated, with counters at most MAX_RATE apart. Never below 0: a pair
   * that the estimate contradicts was named before.
   */
  at(time: number, rising: number, falling: number): number {
    const { hull, slacks } = this;
    const last = hull[hull.length - 2]!;
    let least = Infinity;
    if (time >= hull[0]! && time <= last)
      least = Math.max(0, interpolate(hull, time) - this.parabola(time) - this.difference(time));
    const here = this.difference(time);
    for (let i = 0; i < slacks.length; i++) {
      const slackThere = Math.max(0, slacks[i]!);
      const distance = Math.abs(time - hull[2 * i]!);
      const rate = hull[2 * i]! < time ? rising : falling;
      const difference = this.differences[i]!;
      least = Math.min(least, Math.max(0, slackThere + difference - here + MAX_RATE * distance));
      if (distance < this.knots.step) least = Math.min(least, slackThere + rate * distance);
    }
    return least;
  }

  /** A pair's delay as if both stamps had been taken at the cause's time: the receiver's clock went on meanwhile. */
  private atOneTime(time: number, delay: number): number {
    const estimated =
      correctionAt(this.knots, this.to, time + delay) - correctionAt(this.knots, this.to, time);
    const most = (MAX_RATE / 2) * Math.abs(delay);
    return delay + (Math.abs(estimated) <= most ? estimated : most);
  }

  private parabola(time: number): number {
    const fromStart = time - this.knots.first;
    return this.curvature * fromStart * fromStart;
  }

  private difference(time: number): number {
    return correctionAt(this.knots, this.from, time) - correctionAt(this.knots, this.to, time);
  }
}

/** Two counters against each other, each by its nominal rate. */
export const MAX_RATE = 400e-6;
/** Of a rate that nothing bounds yet. Finite: times a distance of 0 it is 0. */
const UNKNOWN = Number.MAX_VALUE;

function interpolate(hull: readonly number[], time: number): number {
  let low = 0;
  let high = hull.length / 2 - 1;
  if (high === 0) return hull[1]!;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (hull[2 * middle]! <= time) low = middle;
    else high = middle;
  }
  const ax = hull[2 * low]!;
  const ay = hull[2 * low + 1]!;
  return ay + ((hull[2 * high + 1]! - ay) * (time - ax)) / (hull[2 * high]! - ax);
}
