/**
 * How wrong the corrections can be. *Hard*: every pair says that its sender's clock is ahead of its receiver's by no more than the pair's
 * delay, and such statements add up along paths. Between pairs clocks may bend by a declared curvature, and nothing else is assumed.
 *
 * The bound of a path is for one instant, by the clock it starts from. The first arc is asked about that instant, the next arc about the
 * latest time that the first arc's receiver can have shown then, and so on. Each arc is asked once, for the instant at which its clock is
 * estimated to be. How fast two clocks can drift apart bounds what a different instant would add (`stretch`).
 *
 * Paths are summed at the knots and at instants between them. The bounds at one instant also limit the clock at other instants
 * (tangents.ts). Between two instants the clock is never farther above the chord than the curvature allows.
 */

import { MAX_RATE, mostAhead } from './arc_limit.js';
import type { UnsteadyClock } from './contradictions.js';
import { alignedAt, largestSlope, shownAt } from './corrected_times.js';
import { knotTime, spansOf, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { adjacency, shortestPaths, type Adjacency, type Arc } from './graph.js';
import { HullBuilder, type PointList } from './lower_hull.js';
import { narrow } from './tangents.js';
import { findUnsteady } from './unsteady.js';

/** truth - estimate of a domain, against another, lies in [-below, above]; ns, Infinity: unbounded. */
export interface Interval {
  readonly below: number;
  readonly above: number;
}

/** Largest distance of instants, because clocks hardly change in between. With many arcs it is larger. */
const INSTANTS_APART_NS = 2.5e9;
/** The least and the largest number for one span, however long it is. */
const LEAST_INSTANTS = 2;
const MOST_INSTANTS = 24;
const ARCS_TIMES_INSTANTS = 20_000;
/** Curvatures are in a clock's own time, which is wrong by at most this factor. */
const ANY_CLOCK = 1.001;
/** Largest distance of other instants that are used. Farther away, clocks may have bent too much to show anything. */
const NEAR_NS = 240e9;
/** Least and largest number of them. */
const LEAST_NEAR = 4;
const MOST_NEAR = 96;
/** Clocks whose bounds against all others are kept. */
const SOURCES_KEPT = 64;

/** One arc's pairs of the whole run. */
interface ArcHull extends Arc {
  readonly hull: PointList;
}

/** What all clocks can show at the instants, against one of them: per instant and domain, beyond the estimate, ns. */
interface Source {
  readonly late: readonly Float64Array[];
  readonly early: readonly Float64Array[];
  /** By domain, made when asked for. */
  readonly spans: (readonly Interval[] | undefined)[];
}

export class HardBounds {
  /** Hard bounds hold for these. */
  readonly spans: Knots;
  /** The pairs that clocks as steady as declared cannot make. null: none. */
  readonly contradiction: UnsteadyClock | null;
  private readonly out: Adjacency;
  private readonly into: Adjacency;
  private readonly perSpan: number;
  /** At the ends of spans and between them, on the common axis. */
  private readonly instants: Float64Array;
  /** Per domain: what it shows at the instants as it is estimated. */
  private readonly shown: readonly Float64Array[];
  /** Per instant, per arc: how far the receiver can be ahead of the sender beyond the estimate. */
  private readonly slacks: readonly Float64Array[];
  private readonly stretch: Float64Array;
  private readonly curvature: number;
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
    const arcs = joinPieces(hulls, this.curvature);
    this.out = adjacency(references.length, arcs, 'from');
    this.into = adjacency(references.length, arcs, 'to');
    const affordable = Math.floor(ARCS_TIMES_INSTANTS / Math.max(1, arcs.length));
    const wanted = Math.min(MOST_INSTANTS, Math.ceil(this.spans.step / INSTANTS_APART_NS), affordable);
    this.perSpan = Math.max(LEAST_INSTANTS, wanted);
    const count = this.perSpan * (this.spans.count - 1) + 1;
    this.instants = Float64Array.from({ length: count }, (_, i) => knotTime(this.spans, i / this.perSpan));
    this.shown = corrections.map((values) => this.instants.map((instant) => shownAt(knots, values, instant)));
    this.slacks = this.slacksOf(arcs);
    const unsteady = findUnsteady(references.length, arcs, this.slacks);
    this.contradiction = unsteady && {
      what: 'clock-unsteady',
      domains: unsteady.domains,
      at: this.instants[unsteady.instant]!,
      by: unsteady.by,
    };
    // Each bound includes the estimate, though the truth may lie outside.
    for (const lengths of this.slacks)
      for (let arc = 0; arc < lengths.length; arc++) lengths[arc] = Math.max(0, lengths[arc]!);
    const slope = corrections.reduce((most, values) => Math.max(most, largestSlope(knots, values)), 0);
    this.stretch = new Float64Array(arcs.length).fill(1 / (1 - (MAX_RATE + 2 * slope) * ANY_CLOCK));
  }

  /** truth - estimate of `a` against `b`, while either of them shows a time of the span. */
  between(a: number, b: number, span: number): Interval {
    // A reference is compared with many others: its paths are searched once.
    if (!this.known.has(a) && (this.known.has(b) || this.references[b] === b))
      return this.against(b, a)[span]!;
    const { below, above } = this.against(a, b)[span]!;
    return { below: above, above: below };
  }

  private against(from: number, domain: number): readonly Interval[] {
    let source = this.known.get(from);
    if (!source) {
      source = {
        late: this.slacks.map((lengths) => shortestPaths(this.out, lengths, from, this.stretch)),
        early: this.slacks.map((lengths) => shortestPaths(this.into, lengths, from, this.stretch)),
        spans: [],
      };
      if (this.known.size >= SOURCES_KEPT) this.known.delete(this.known.keys().next().value!);
      this.known.set(from, source);
    }
    return (source.spans[domain] ??= this.worstOfSpans(source, from, domain));
  }

  /** Per span, truth - estimate of a domain against `from`. */
  private worstOfSpans({ late, early }: Source, from: number, domain: number): Interval[] {
    const { instants, knots, curvature, perSpan } = this;
    const values = this.corrections[domain]!;
    const own = this.shown[from]!;
    const ahead = (by: (i: number) => number): Float64Array =>
      instants.map((instant, i) => shownAt(knots, values, instant + by(i)) - own[i]!);
    const most = ahead((i) => late[i]![domain]!);
    const least = ahead((i) => -early[i]![domain]!);
    const near = Math.round((NEAR_NS * perSpan) / this.spans.step);
    const band = { times: own, most, least, guess: ahead(() => 0) };
    if (domain !== from) narrow(band, curvature, Math.min(MOST_NEAR, Math.max(LEAST_NEAR, near)));
    const error = (i: number, by: number): number =>
      Number.isFinite(by) ? Math.abs(alignedAt(knots, values, own[i]! + by) - instants[i]!) : Infinity;
    const below = most.map((by, i) => error(i, by));
    const above = least.map((by, i) => error(i, by));
    const apart = instants[1]! - instants[0]!;
    const reach = this.reachOf(from, domain) / apart;
    const swell = domain === from ? 0 : (curvature * apart * apart) / 4;
    return Array.from({ length: this.spans.count - 1 }, (_, span) => ({
      below: worstNear(below, perSpan * span, perSpan * (span + 1), reach) + swell,
      above: worstNear(above, perSpan * span, perSpan * (span + 1), reach) + swell,
    }));
  }

  /** A span is a stretch of the axis, and either clock may show its times this much earlier or later, ns. */
  private reachOf(a: number, b: number): number {
    let reach = 0;
    for (const values of [this.corrections[a]!, this.corrections[b]!])
      for (const value of values) reach = Math.max(reach, Math.abs(value));
    return reach;
  }

  /** Per instant, per arc. Below 0 if pairs at other times contradict the estimate there. */
  private slacksOf(arcs: readonly ArcHull[]): Float64Array[] {
    const { knots, corrections, curvature, instants, shown } = this;
    const slacks = Array.from(instants, () => new Float64Array(arcs.length));
    arcs.forEach(({ from, to, hull }, arc) => {
      const times = shown[from]!;
      const ahead = mostAhead(hull, times, curvature);
      for (let i = 0; i < instants.length; i++)
        slacks[i]![arc] = alignedAt(knots, corrections[to]!, times[i]! + ahead[i]!) - instants[i]!;
    });
    return slacks;
  }
}

/** The largest value from place `first - reach` to `last + reach`. Beyond the ends it goes on as it rises there. */
function worstNear(values: Float64Array, first: number, last: number, reach: number): number {
  const whole = Math.min(values.length, Math.floor(reach));
  const part = Math.min(1, reach - whole);
  let worst = 0;
  for (let i = Math.max(0, first - whole); i <= Math.min(values.length - 1, last + whole); i++)
    worst = Math.max(worst, values[i]!);
  for (const [end, beyond] of [
    [first - whole, -1],
    [last + whole, 1],
  ] as const) {
    const at = Math.min(values.length - 1, Math.max(0, end));
    const here = values[at]!;
    const next = values[at + beyond];
    const rise = next === undefined ? here - values[at - beyond]! : next - here;
    const far = next === undefined ? reach : part;
    if (rise > 0 && far > 0) worst = Math.max(worst, here + rise * far);
  }
  return worst;
}

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
