/**
 * How wrong the corrections can be. *Hard*: every pair says that its sender's clock is ahead of its receiver's by no more than the pair's
 * delay, and such statements add up along paths. Between pairs clocks may bend by a declared curvature, and nothing else is assumed.
 *
 * The bound of a path is for one instant, by the group's reference. The first arc is asked about that instant, the next arc about the
 * latest time that the first arc's receiver can have shown then, and so on. Each arc is asked once, for the instant at which its clock is
 * estimated to be. How fast its two clocks can drift apart bounds what a different instant would add (`stretch`).
 *
 * Paths are summed at the knots and at instants between them. The bounds at one instant also limit the clock at other instants
 * (tangents.ts). Between two instants the clock is never farther above the chord than the curvature allows. The corrections are followed
 * along that chord, also across knots, which clocks do not reach at one instant.
 *
 * This is done twice. The first time, the bounds of rates are those of any two counters. The result limits the rate of each clock in each
 * piece. The second time, these rates limit more closely what pairs at other times show.
 */

import { MAX_RATE, mostAhead, type GainRates } from './arc_limit.js';
import type { UnsteadyClock } from './contradictions.js';
import { knotTime, spansOf, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { adjacency, shortestPaths, type Adjacency, type Arc } from './graph.js';
import { HullBuilder, type PointList } from './lower_hull.js';
import { alignedAt, largestSlope, shownAt } from './corrected_times.js';
import { bandOf, worstOfSpans, type Interval, type Readings } from './readings.js';
import { anyRate, fastestDrift, gainOf, narrowRates } from './rates.js';
import { findUnsteady } from './unsteady.js';

/** Largest distance of instants, because clocks hardly change in between. With many arcs it is larger. */
const INSTANTS_APART_NS = 2.5e9;
/** The least and the largest number for one piece, however long it is. */
const MOST_INSTANTS = 24;
const LEAST_INSTANTS = 2;
const LEAST_IN_ALL = 4;
const ARCS_TIMES_INSTANTS = 20_000;
/** Curvatures are in a clock's own time, which is wrong by at most this factor. */
const ANY_CLOCK = 1.001;

/** One arc's pairs of the whole run. */
interface ArcHull extends Arc {
  readonly hull: PointList;
}

export class HardBounds {
  /** Hard bounds hold for these. */
  readonly spans: Knots;
  /** The pairs that clocks as steady as declared cannot make. null: none. */
  readonly contradiction: UnsteadyClock | null;
  private readonly arcs: readonly ArcHull[];
  private readonly out: Adjacency;
  private readonly into: Adjacency;
  private readonly perPiece: number;
  /** At the knots and between them, on the common axis. */
  private readonly instants: Float64Array;
  /** Per domain: what it shows at the instants as it is estimated. */
  private readonly shown: readonly Float64Array[];
  /** Per instant, per arc: how far the receiver can be ahead of the sender beyond the estimate. */
  private readonly slacks: readonly Float64Array[];
  private readonly stretch: Float64Array;
  private readonly curvature: number;
  /** By reference. */
  private readonly groupSizes = new Map<number, number>();
  private readonly known = new Map<number, Source>();

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
    this.spans = spansOf(knots);
    this.curvature = curvature * ANY_CLOCK;
    for (const reference of references)
      this.groupSizes.set(reference, (this.groupSizes.get(reference) ?? 0) + 1);
    this.arcs = joinPieces(hulls, this.curvature);
    this.out = adjacency(references.length, this.arcs, 'from');
    this.into = adjacency(references.length, this.arcs, 'to');
    const affordable = Math.floor(ARCS_TIMES_INSTANTS / Math.max(1, this.arcs.length));
    const least = Math.max(LEAST_INSTANTS, Math.ceil(LEAST_IN_ALL / (knots.count - 1)));
    this.perPiece = Math.max(
      least,
      Math.min(MOST_INSTANTS, Math.ceil(knots.step / INSTANTS_APART_NS), affordable),
    );
    this.instants = Float64Array.from({ length: this.perPiece * (knots.count - 1) + 1 }, (_, i) =>
      knotTime(knots, i / this.perPiece),
    );
    this.shown = corrections.map((values) => this.instants.map((instant) => shownAt(knots, values, instant)));
    const rates = this.boundRates();
    const any = anyRate(knots.count - 1);
    const gains = this.arcs.map(({ from, to }) =>
      references[from] === references[to] ? gainOf(rates[to]!, rates[from]!) : any,
    );
    const slacks = this.slacksBy(gains);
    const unsteady = findUnsteady(references.length, this.arcs, slacks);
    this.contradiction = unsteady && {
      what: 'clock-unsteady',
      domains: unsteady.domains,
      at: this.instants[unsteady.instant]!,
      by: unsteady.by,
    };
    this.slacks = clamped(slacks);
    this.stretch = Float64Array.from(this.arcs, ({ from, to }, arc) =>
      stretchOf(fastestDrift(knots, corrections[from]!, corrections[to]!, gains[arc]!)),
    );
  }

  /** truth - estimate of `a` against `b`, while either of them shows a time of the span. */
  between(a: number, b: number, span: number): Interval {
    if (this.isBetterSource(b, a)) return this.against(b, a)[span]!;
    const { below, above } = this.against(a, b)[span]!;
    return { below: above, above: below };
  }

  /** Per span, truth - estimate of a domain against `from`. */
  private against(from: number, domain: number): readonly Interval[] {
    const source = this.source(from);
    let spans = source.domains[domain];
    if (!spans) source.domains[domain] = spans = worstOfSpans(source.readings, domain, this.spans);
    return spans;
  }

  /** Prefers a domain that many others are compared with, to avoid repeated searches of paths. */
  private isBetterSource(a: number, b: number): boolean {
    if (this.known.has(a) || this.known.has(b)) return this.known.has(a);
    const size = (domain: number): number =>
      this.references[domain] === domain ? this.groupSizes.get(domain)! : 0;
    return size(a) >= size(b);
  }

  private source(domain: number): Source {
    const known = this.known.get(domain);
    if (known) return known;
    const source = { readings: this.readings(domain, this.slacks, this.stretch), domains: [] };
    const kept = Math.max(2, Math.floor(CELLS_KEPT / (this.references.length * this.instants.length)));
    if (this.known.size >= kept) this.known.delete(this.known.keys().next().value!);
    this.known.set(domain, source);
    return source;
  }

  /** What every clock can show when `source` is at each of the instants by estimate. */
  private readings(source: number, slacks: readonly Float64Array[], stretch: Float64Array): Readings {
    return {
      source,
      knots: this.knots,
      corrections: this.corrections,
      instants: this.instants,
      perPiece: this.perPiece,
      shown: this.shown[source]!,
      late: slacks.map((lengths) => shortestPaths(this.out, lengths, source, stretch)),
      early: slacks.map((lengths) => shortestPaths(this.into, lengths, source, stretch)),
      curvature: this.curvature,
    };
  }

  /** Per domain, how fast its clock gains on its group's reference: by pairs, and by rates that no two counters exceed. */
  private boundRates(): GainRates[] {
    const { knots, corrections, arcs, references, perPiece, curvature } = this;
    const apart = farthest(corrections);
    const any = anyRate(knots.count - 1);
    const slacks = clamped(this.slacksBy(arcs.map(() => any)));
    const slope = corrections.reduce((most, values) => Math.max(most, largestSlope(knots, values)), 0);
    const stretch = new Float64Array(arcs.length).fill(stretchOf((MAX_RATE + 2 * slope) * ANY_CLOCK));
    const rates = references.map(() => anyRate(knots.count - 1));
    for (const [reference, size] of this.groupSizes) {
      rates[reference]!.least.fill(0);
      rates[reference]!.most.fill(0);
      if (size === 1) continue;
      const readings = this.readings(reference, slacks, stretch);
      references.forEach((own, domain) => {
        if (own !== reference || domain === reference) return;
        const { band } = bandOf(readings, domain);
        narrowRates(rates[domain]!, { band, knots, perPiece, apart, curvature });
      });
    }
    return rates;
  }

  /** Per instant, per arc. Below 0 if pairs at other times contradict the estimate there. */
  private slacksBy(gains: readonly GainRates[]): Float64Array[] {
    const { knots, corrections, arcs, curvature, instants, shown } = this;
    const slacks = Array.from(instants, () => new Float64Array(arcs.length));
    arcs.forEach(({ from, to, hull }, arc) => {
      const times = shown[from]!;
      const ahead = mostAhead(hull, times, knots, gains[arc]!, curvature);
      for (let i = 0; i < instants.length; i++) {
        const late = alignedAt(knots, corrections[to]!, times[i]! + ahead[i]!) - instants[i]!;
        slacks[i]![arc] = late;
      }
    });
    return slacks;
  }
}

/** In place: widens each bound to include the estimate, though the truth may lie outside. */
function clamped(slacks: Float64Array[]): readonly Float64Array[] {
  for (const lengths of slacks)
    for (let arc = 0; arc < lengths.length; arc++) lengths[arc] = Math.max(0, lengths[arc]!);
  return slacks;
}

/** Bounds against one domain; the spans of others are added on request. */
interface Source {
  readonly readings: Readings;
  readonly domains: (readonly Interval[])[];
}

/** Limit of the readings that are kept in all: some ten MB. */
const CELLS_KEPT = 1 << 21;

/** The largest distance of a correction from 0. */
function farthest(corrections: readonly Float64Array[]): number {
  let far = 0;
  for (const values of corrections) for (const value of values) far = Math.max(far, Math.abs(value));
  return far;
}

/**
 * The factor by which an arc makes the path before it longer, because the arc's instant is uncertain. In the other direction the factor is
 * the same.
 */
const stretchOf = (rate: number): number => 1 / (1 - rate);

function joinPieces(hulls: readonly EdgeHull[], curvature: number): ArcHull[] {
  const builder = new HullBuilder(curvature);
  const arcs: ArcHull[] = [];
  for (let i = 0; i < hulls.length;) {
    const { from, to } = hulls[i]!;
    builder.clear();
    do builder.append(hulls[i++]!.hull);
    while (hulls[i]?.from === from && hulls[i]!.to === to);
    arcs.push({ from, to, hull: builder.hull() });
  }
  return arcs;
}
