/**
 * How fast the rates of clocks change, as the corrections show it: a room warms up, a fan starts. The estimate first assumes that clocks bend
 * as much as they may. Then it assumes what the corrections show, with some room, until this settles. Noise alone does not keep the
 * assumption large, because the estimate keeps less than half of a bend that only noise supports.
 *
 * A rate that goes on changing bends a clock over a long distance by far more than independent bends would. In a pause without messages
 * nothing shows it, so there bounds assume the most that is declared.
 */

import { median } from '../base/median.js';
import { pieceAt, type Knots } from './corrections.js';
import type { SparseLeastSquares } from './least_squares.js';
import type { Link } from './links.js';
import type { Places } from './unknowns.js';

/**
 * Crystals at rest change by 0.1 ppm in a minute, at random. Over a shorter time they change less, but not in proportion. This is assumed
 * where pairs show less.
 */
const AT_REST = 1e-7 / 60e9;
const MINUTE_NS = 60e9;
const atRest = ({ step }: Knots): number => AT_REST * Math.sqrt(Math.max(1, MINUTE_NS / step));

/** The estimate keeps only a part of each bend, so the true bends are larger, by about this factor. With 2, noise would amplify itself. */
const ROOM = 1.9;
/** Fewer bends show nothing. */
const LEAST_BENDS = 4;

/**
 * A clock that bends equally at all knots within `far` knots on either side goes as far off as one with independent bends that are larger by
 * this factor.
 */
const persistent = (far: number): number => Math.sqrt((3 * far ** 3) / (2 * far ** 2 + 1));

/** A change of rate goes on for at least so many knots: what the estimate assumes at first. */
const SHORT = 2;

/** How much rates change from knot to knot, as standard errors, 1/ns. Before the first measurement: as much as any clock's rate may change. */
export class Wander {
  /** By clock: where it has messages. */
  private readonly heard: Float64Array;
  /** By clock and knot: half of the pause without messages around the knot, in knots. 0: there is no pause. */
  private readonly silences: readonly Uint16Array[];

  /** `most`: how much a rate changes at most, 1/ns. */
  constructor(
    clocks: number,
    private readonly place: Places,
    links: readonly Link[],
    private readonly most: number,
  ) {
    this.heard = new Float64Array(clocks).fill(most * persistent(SHORT));
    this.silences = heardPieces(clocks, place.knots, links).map(silencesOf);
  }

  /** For the estimate. */
  of(clock: number): number {
    return this.heard[clock]!;
  }

  /** For the variances. */
  at(clock: number, knot: number): number {
    const silence = this.silences[clock]![knot]!;
    return silence < SHORT ? this.of(clock) : Math.max(this.of(clock), this.most * persistent(silence));
  }

  /** By the corrections, as `place` has them. */
  measure(corrections: Float64Array): void {
    const { place, most, heard } = this;
    const { knots, solved } = place;
    if (knots.count - 2 < LEAST_BENDS) return;
    const shown = solved.map((clock) => ROOM * this.bendOf(corrections, clock));
    // Few messages may show no bend of a clock. It is taken to bend at least as much as half of the clocks do.
    const least = Math.max(atRest(knots), median(shown) ?? 0);
    solved.forEach((clock, i) => {
      heard[clock] = Math.min(most * persistent(SHORT), Math.max(least, shown[i]!));
    });
  }

  /** Root mean square of a clock's bends where it has messages, 1/ns. */
  private bendOf(corrections: Float64Array, clock: number): number {
    const { knots } = this.place;
    const at = (knot: number): number => corrections[this.place.of(clock, knot)]!;
    let [squares, bends] = [0, 0];
    for (let k = 1; k + 1 < knots.count; k++) {
      if (this.silences[clock]![k]! > 0) continue;
      squares += (at(k - 1) - 2 * at(k) + at(k + 1)) ** 2;
      bends++;
    }
    return bends === 0 ? 0 : Math.sqrt(squares / bends) / knots.step ** 2;
  }
}

/** By clock and piece: 1 where any of its links has a minimum. */
function heardPieces(clocks: number, knots: Knots, links: readonly Link[]): Uint8Array[] {
  const heard = Array.from({ length: clocks }, () => new Uint8Array(knots.count - 1));
  for (const { edge, minima } of links) {
    for (let i = 0; i < minima.length; i += 2) {
      const piece = pieceAt(knots, minima[i]!);
      heard[edge.from]![piece] = 1;
      heard[edge.to]![piece] = 1;
    }
  }
  return heard;
}

/** By knot: half of the pieces of the pause at the knot or next to it, if it has two or more. */
function silencesOf(heard: Uint8Array): Uint16Array {
  const distances = new Uint16Array(heard.length + 1);
  for (let from = 0; from < heard.length; from++) {
    let to = from;
    while (to < heard.length && heard[to] === 0) to++;
    if (to >= from + 2) distances.fill((to - from) >> 1, from, to + 1);
    from = to;
  }
  return distances;
}

/**
 * The fastest change of each clock's rate that was seen, 1/ns: its corrections over half a minute, compared with the next half minute,
 * minus the median of its group. So if the reference changes, only the reference shows it. null: the run is too short.
 */
export function seenWander(
  { knots, corrections }: { readonly knots: Knots; readonly corrections: readonly Float64Array[] },
  references: readonly number[],
): (number | null)[] {
  const far = Math.max(1, Math.round(HALF_MINUTE_NS / knots.step));
  const apart = far * knots.step;
  const seen = references.map((): number | null => (2 * far < knots.count ? 0 : null));
  for (let k = far; k + far < knots.count; k++) {
    const bends = corrections.map((own) => (own[k - far]! - 2 * own[k]! + own[k + far]!) / apart ** 2);
    const usual = new Map(
      [...new Set(references)].map((reference) => [
        reference,
        median(bends.filter((_, domain) => references[domain] === reference)) ?? 0,
      ]),
    );
    bends.forEach((bend, domain) => {
      seen[domain] = Math.max(seen[domain]!, Math.abs(bend - usual.get(references[domain]!)!));
    });
  }
  return seen;
}

const HALF_MINUTE_NS = 30e9;

/** Keeps each clock's bends small. `sigma`: how large they are, 1/ns. Returns a function that sets the rows again. */
export function addBendRows(
  system: SparseLeastSquares,
  place: Places,
  sigma: (domain: number, knot: number) => number,
): () => void {
  const rows: { readonly row: number; readonly domain: number; readonly knot: number }[] = [];
  const { knots } = place;
  for (const domain of place.solved) {
    for (let knot = 1; knot + 1 < knots.count; knot++) {
      const indices = [place.of(domain, knot - 1), place.of(domain, knot), place.of(domain, knot + 1)];
      const row = system.add(indices, [1, -2, 1], 0, sigma(domain, knot) * knots.step ** 2);
      rows.push({ row, domain, knot });
    }
  }
  return () => {
    for (const { row, domain, knot } of rows) system.setSigma(row, sigma(domain, knot) * knots.step ** 2);
  };
}
