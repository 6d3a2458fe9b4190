/**
 * How wrong the corrections can be. *Hard*: every pair says that its sender's clock is ahead of its receiver's by no more than the
 * pair's delay, and such statements add up along paths. Between pairs clocks may bend by a declared curvature, and nothing else is assumed.
 *
 * The statement of a path is made for one instant, when the group's reference shows it: the first arc is asked about that instant,
 * the next one about what the first one's receiver can have shown at most, and so on. An arc is asked once, for the instant as
 * it is estimated, and how fast its two clocks can drift apart says what the difference may add (`stretch`).
 *
 * Paths are summed at the knots and half-way between them. Between two such instants what a clock shows is a curve no farther above
 * its chord than the curvature allows, and the corrections are followed along that chord: also across knots, which clocks do
 * not reach at one instant.
 *
 * Near the ends of an edge's evidence its hull rests on pairs that happened to wait. There a tighter bound from further inside
 * counts, widened by how far rates can be off: a rate is bounded by the bounds at two instants of the same piece.
 */

import { MAX_RATE, mostAhead, type GainRates } from './arc_limit.js';
import { knotTime, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { adjacency, shortestPaths, type Adjacency, type Arc } from './graph.js';
import { appendToHull } from './lower_hull.js';
import { alignedAt, largestSlope, shownAt } from './shown.js';
import { INSTANTS_PER_PIECE, worstOfPiece, type Interval, type Readings } from './readings.js';

/** Where in a piece two instants are taken that bound a rate: far apart, or away from the ends where hulls are high. */
const RATE_SHARES = [0.1, 0.25];
const RATE_INSTANTS = [0.1, 0.25, 0.75, 0.9];
/** A curvature is per time of a clock, and clocks count true time with this error at most. */
const ANY_CLOCK = 1.001;

/** One arc's pairs of the whole run. */
interface ArcHull extends Arc {
  readonly hull: readonly number[];
}

/** All domains against one source, ns by domain: how far they can be behind or ahead of what is estimated. */
interface Reach {
  readonly below: Float64Array;
  readonly above: Float64Array;
}

export class HardBounds {
  private readonly arcs: readonly ArcHull[];
  private readonly out: Adjacency;
  private readonly into: Adjacency;
  /** Per piece and domain: how fast its clock gains on its group's reference. */
  private readonly rates: readonly GainRates[];
  /** At the knots and half-way between them, on the common axis. */
  private readonly instants: Float64Array;
  /** Per instant, per arc: by how much the receiver can be ahead of the sender beyond the estimate. */
  private readonly slacks: readonly Float64Array[];
  private readonly stretch: Float64Array;
  private readonly curvature: number;
  /** By reference. */
  private readonly groupSizes = new Map<number, number>();
  private readonly known = new Map<number, Readings>();

  /**
   * `hulls`: one arc after the other, each by rising time. `curvature`: most that a clock's rate changes, 1/ns; 0.1 ppm a minute
   * is 1.67e-18.
   */
  constructor(
    private readonly references: readonly number[],
    hulls: readonly EdgeHull[],
    readonly knots: Knots,
    private readonly corrections: readonly Float64Array[],
    curvature: number,
  ) {
    this.curvature = curvature * ANY_CLOCK;
    for (const reference of references)
      this.groupSizes.set(reference, (this.groupSizes.get(reference) ?? 0) + 1);
    this.arcs = joinPieces(hulls, this.curvature);
    this.out = adjacency(references.length, this.arcs, 'from');
    this.into = adjacency(references.length, this.arcs, 'to');
    this.rates = this.boundRates();
    const gains = this.arcs.map(({ from, to }) => this.gainBetween(from, to));
    this.instants = Float64Array.from({ length: INSTANTS_PER_PIECE * (knots.count - 1) + 1 }, (_, i) =>
      knotTime(knots, i / INSTANTS_PER_PIECE),
    );
    this.slacks = this.slacksAt(this.instants, gains);
    this.stretch = Float64Array.from(gains, (gain, i) => stretchOf(this.fastest(this.arcs[i]!, gain)));
  }

  /** truth - estimate of `a` against `b`, while either of them shows a time of the piece. */
  between(a: number, b: number, piece: number): Interval {
    if (this.isBetterSource(b, a)) return worstOfPiece(this.readings(b), a, piece);
    const { below, above } = worstOfPiece(this.readings(a), b, piece);
    return { below: above, above: below };
  }

  /** The one that many others are held against, so that paths are not looked for again and again. */
  private isBetterSource(a: number, b: number): boolean {
    if (this.known.has(a) || this.known.has(b)) return this.known.has(a);
    const size = (domain: number): number =>
      this.references[domain] === domain ? this.groupSizes.get(domain)! : 0;
    return size(a) >= size(b);
  }

  /** What every clock can show when `source` is estimated to be at each of the instants. */
  private readings(source: number): Readings {
    const known = this.known.get(source);
    if (known) return known;
    const reaches = this.slacks.map((lengths) => this.reach(source, lengths, this.stretch));
    const readings: Readings = {
      source,
      knots: this.knots,
      corrections: this.corrections,
      instants: this.instants,
      shown: this.instants.map((instant) => shownAt(this.knots, this.corrections[source]!, instant)),
      late: reaches.map(({ below }) => below),
      early: reaches.map(({ above }) => above),
      rates: (domain) => this.gainBetween(source, domain),
      curvature: this.curvature,
    };
    const kept = Math.max(2, Math.floor(CELLS_KEPT / (this.references.length * this.instants.length)));
    if (this.known.size >= kept) this.known.delete(this.known.keys().next().value!);
    this.known.set(source, readings);
    return readings;
  }

  private reach(source: number, lengths: Float64Array, stretch: Float64Array): Reach {
    return {
      below: shortestPaths(this.out, lengths, source, stretch),
      above: shortestPaths(this.into, lengths, source, stretch),
    };
  }

  /** By pairs, and by rates that no two counters exceed. */
  private boundRates(): GainRates[] {
    const { knots, arcs, corrections, references } = this;
    const pieces = knots.count - 1;
    const times = Float64Array.from({ length: pieces * RATE_INSTANTS.length }, (_, i) =>
      knotTime(knots, Math.floor(i / RATE_INSTANTS.length) + RATE_INSTANTS[i % RATE_INSTANTS.length]!),
    );
    const any = anyRate(pieces);
    const slacks = this.slacksAt(
      times,
      arcs.map(() => any),
    );
    const slope = corrections.reduce((most, values) => Math.max(most, largestSlope(knots, values)), 0);
    const stretch = new Float64Array(arcs.length).fill(stretchOf((MAX_RATE + 2 * slope) * ANY_CLOCK));
    const reaches = slacks.map((lengths) => this.ofGroups(lengths, stretch));
    return references.map((_, domain) => this.ratesOf(domain, times, reaches));
  }

  /** All domains against their own references. */
  private ofGroups(lengths: Float64Array, stretch: Float64Array): Reach {
    const { references } = this;
    const all = { below: new Float64Array(references.length), above: new Float64Array(references.length) };
    for (const [reference, size] of this.groupSizes) {
      if (size === 1) continue;
      const { below, above } = this.reach(reference, lengths, stretch);
      references.forEach((own, domain) => {
        if (own !== reference) return;
        all.below[domain] = below[domain]!;
        all.above[domain] = above[domain]!;
      });
    }
    return all;
  }

  private ratesOf(domain: number, times: Float64Array, reaches: readonly Reach[]): GainRates {
    const { knots, curvature } = this;
    const values = this.corrections[domain]!;
    const rates = anyRate(knots.count - 1);
    if (this.references[domain] === domain) {
      rates.least.fill(0);
      rates.most.fill(0);
      return rates;
    }
    // The clock reaches its knots earlier or later than its reference does.
    const apart = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const bend = 2 * curvature * (knots.step + apart);
    const latest = (at: number): number => shownAt(knots, values, times[at]! + reaches[at]!.below[domain]!);
    const earliest = (at: number): number => shownAt(knots, values, times[at]! - reaches[at]!.above[domain]!);
    for (let piece = 0; piece + 1 < knots.count; piece++) {
      for (let i = 0; i < RATE_SHARES.length; i++) {
        const first = piece * RATE_INSTANTS.length + i;
        const last = (piece + 1) * RATE_INSTANTS.length - 1 - i;
        const span = times[last]! - times[first]!;
        const most = (latest(last) - earliest(first)) / span - 1 + bend;
        const least = (earliest(last) - latest(first)) / span - 1 - bend;
        if (most < rates.most[piece]!) rates.most[piece] = most;
        if (least > rates.least[piece]!) rates.least[piece] = least;
      }
    }
    return rates;
  }

  /** How fast the clock of `to` gains on that of `from`. */
  private gainBetween(from: number, to: number): GainRates {
    const pieces = this.knots.count - 1;
    const rates = anyRate(pieces);
    if (this.references[from] !== this.references[to]) return rates;
    const sender = this.rates[from]!;
    const receiver = this.rates[to]!;
    for (let piece = 0; piece < pieces; piece++) {
      const most = (1 + receiver.most[piece]!) / (1 + sender.least[piece]!) - 1;
      const least = (1 + receiver.least[piece]!) / (1 + sender.most[piece]!) - 1;
      rates.most[piece] = Math.min(MAX_RATE, most);
      rates.least[piece] = Math.max(-MAX_RATE, least);
    }
    return rates;
  }

  /** Per instant of the common axis, per arc. Never below 0: a pair that the estimate contradicts was named before. */
  private slacksAt(instants: Float64Array, gains: readonly GainRates[]): Float64Array[] {
    const { knots, corrections, arcs, curvature } = this;
    const slacks = Array.from(instants, () => new Float64Array(arcs.length));
    const shown = corrections.map((values) => instants.map((instant) => shownAt(knots, values, instant)));
    arcs.forEach(({ from, to, hull }, arc) => {
      const times = shown[from]!;
      const ahead = mostAhead(hull, times, knots, gains[arc]!, curvature);
      for (let i = 0; i < instants.length; i++) {
        const late = alignedAt(knots, corrections[to]!, times[i]! + ahead[i]!) - instants[i]!;
        slacks[i]![arc] = Math.max(0, late);
      }
    });
    return slacks;
  }

  /** Of what two clocks are apart beyond the estimate: how fast it can change. */
  private fastest({ from, to }: Arc, { least, most }: GainRates): number {
    const { knots, corrections } = this;
    let fastest = 0;
    for (let piece = 0; piece + 1 < knots.count; piece++) {
      const sender = corrections[from]!;
      const receiver = corrections[to]!;
      const estimated =
        (knots.step + receiver[piece + 1]! - receiver[piece]!) /
        (knots.step + sender[piece + 1]! - sender[piece]!);
      fastest = Math.max(fastest, (1 + most[piece]!) * estimated - 1, 1 - (1 + least[piece]!) * estimated);
    }
    return fastest;
  }
}

/** Of readings, in all: some ten MB. */
const CELLS_KEPT = 1 << 21;

const anyRate = (pieces: number): GainRates => ({
  least: new Float64Array(pieces).fill(-MAX_RATE),
  most: new Float64Array(pieces).fill(MAX_RATE),
});

/** What comes before an arc makes the instant uncertain that it is asked about; likewise backwards. */
const stretchOf = (rate: number): number => 1 / (1 - rate);

function joinPieces(hulls: readonly EdgeHull[], curvature: number): ArcHull[] {
  const arcs: { from: number; to: number; hull: number[] }[] = [];
  for (const { from, to, hull } of hulls) {
    let arc = arcs.at(-1);
    if (arc?.from !== from || arc.to !== to) arcs.push((arc = { from, to, hull: [] }));
    appendToHull(arc.hull, hull, curvature);
  }
  return arcs;
}
