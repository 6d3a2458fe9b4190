/**
 * How fast clocks' rates change, as the corrections show it: a room that warms up, a fan that starts. The estimate first assumes small
 * bends; if pairs bend the corrections more, the assumption grows to match. Noise alone does not make it grow: of bends that only noise
 * supports the estimate keeps less than half. Measured against the group's reference, so it does not say which of two clocks changed.
 *
 * A rate that goes on changing bends a clock over a long distance by far more than independent bends would. So bends are compared over
 * several distances, and a silence counts with what spans of a like length show.
 */

import { median } from '../base/median.js';
import { pieceAt, type Knots } from './corrections.js';
import type { Link } from './links.js';
import type { Places, Rows } from './unknowns.js';

/**
 * Crystals at rest change by 0.1 ppm in a minute, at random. Over a shorter time they change less, but not in proportion. This is assumed
 * where pairs show less.
 */
const AT_REST = 1e-7 / 60e9;
const MINUTE_NS = 60e9;
const atRest = ({ step }: Knots): number => AT_REST * Math.sqrt(Math.max(1, MINUTE_NS / step));

/** Factor on the measured value, which is below the true one. Less than 2, or noise would amplify itself. */
const ROOM = 1.9;

/** Numbers that change by no more than this part have settled. */
const SETTLED = 0.1;

/** Bends are compared over 1, 2, 4, ... knots: so many distances. Over the first ones noise shows as well. */
const DISTANCES = 5;
const SHORT = 2;
const LEAST_BENDS = 4;

/** How much larger independent bends must be than those of a rate that goes on changing, to amount to as much over `far` knots. */
const persistent = (far: number): number => Math.sqrt((3 * far ** 3) / (2 * far ** 2 + 1));

/** How much rates change from knot to knot, as standard errors, 1/ns. Before anything is measured as much as any clock's may. */
export class Wander {
  /** By clock: where messages are heard. */
  private readonly heard: Float64Array;
  /** By distance and clock: in a silence twice as long. */
  private readonly silent: readonly Float64Array[];
  /** By clock and knot: which of these holds; less than SHORT: none. */
  private readonly silences: readonly Uint8Array[];

  /** `most`: that a rate changes against another one, 1/ns. */
  constructor(
    clocks: number,
    private readonly place: Places,
    links: readonly Link[],
    private readonly most: number,
  ) {
    this.heard = new Float64Array(clocks);
    this.silent = Array.from({ length: DISTANCES }, () => new Float64Array(clocks));
    this.silences = heardPieces(clocks, place.knots, links).map(silencesOf);
    this.forget();
  }

  of(clock: number): number {
    return this.heard[clock]!;
  }

  at(clock: number, knot: number): number {
    const distance = this.silences[clock]![knot]!;
    return distance < SHORT ? this.heard[clock]! : this.silent[distance]![clock]!;
  }

  forget(): void {
    // More than any clock may: with less, few messages of clocks that bend are taken for scatter, and it stays so.
    this.heard.fill(this.most * persistent(SHORT));
    this.silent.forEach((own, distance) => own.fill(this.most * persistent(2 ** distance)));
  }

  /** By the corrections, as `place` has them. Returns whether it has settled. */
  measure(corrections: Float64Array): boolean {
    const { place, most } = this;
    const near = place.solved.map(() => 0);
    const far = place.solved.map(() => 0);
    for (let distance = 0; distance < DISTANCES; distance++) {
      const reach = 2 ** distance;
      const spans = place.knots.count - 2 * reach;
      if (spans < Math.min(reach, LEAST_BENDS)) break;
      const isShort = distance < SHORT;
      // Few independent spans say little.
      const room = isShort ? ROOM : Math.sqrt(1 + (2 * reach) / spans);
      place.solved.forEach((clock, i) => {
        const bends = bendsOf(corrections, place, clock, reach);
        near[i] = Math.max(near[i]!, (ROOM * bends) / (isShort ? 1 : persistent(reach)));
        far[i] = Math.max(far[i]!, room * bends);
      });
      for (let longer = distance; longer < DISTANCES; longer++)
        this.set(this.silent[longer]!, far, most * persistent(reach));
    }
    return this.set(this.heard, near, most);
  }

  private set(known: Float64Array, shown: readonly number[], most: number): boolean {
    const { solved, knots } = this.place;
    // All clocks may change as fast as half of them are seen to, where messages are too few to show it.
    const least = Math.max(atRest(knots), median(shown) ?? 0);
    let settled = true;
    solved.forEach((clock, i) => {
      const now = Math.min(most, Math.max(least, shown[i]!));
      if (Math.abs(now - known[clock]!) > SETTLED * known[clock]!) settled = false;
      known[clock] = now;
    });
    return settled;
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

/** By knot: the distance of which a silence that it is in, or beside, holds two. */
function silencesOf(heard: Uint8Array): Uint8Array {
  const distances = new Uint8Array(heard.length + 1);
  for (let from = 0; from < heard.length; from++) {
    let to = from;
    while (to < heard.length && heard[to] === 0) to++;
    if (to >= from + 2)
      distances.fill(Math.min(DISTANCES - 1, Math.floor(Math.log2((to - from) / 2))), from, to + 1);
    from = to;
  }
  return distances;
}

/** Root mean square of a clock's bends over `far` knots, as large as independent bends at all knots would have to be, 1/ns. */
function bendsOf(corrections: Float64Array, place: Places, clock: number, far: number): number {
  const { knots } = place;
  const at = (knot: number): number => corrections[place.of(clock, knot)]!;
  let squares = 0;
  for (let k = far; k + far < knots.count; k++) squares += (at(k - far) - 2 * at(k) + at(k + far)) ** 2;
  // If the bends at all knots are independent, a bend over several knots is their sum, each weighed by its distance from the middle.
  const sum = (far * (2 * far ** 2 + 1)) / 3;
  return Math.sqrt(squares / (knots.count - 2 * far) / sum) / knots.step ** 2;
}

/**
 * The fastest change of each clock's rate that was seen, 1/ns: its corrections over half a minute and the next one, less the median of its
 * group. So if the reference changes, only the reference shows it. null: the run is too short.
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

/** Holds each clock's bends small: `sigma` is how large they are, 1/ns. Returns what sets the rows anew. */
export function addBendRows<Row>(
  system: Rows<Row>,
  place: Places,
  sigma: (domain: number, knot: number) => number,
): (set: (row: Row, sigma: number) => void) => void {
  const rows: { readonly row: Row; readonly domain: number; readonly knot: number }[] = [];
  const { knots } = place;
  for (const domain of place.solved) {
    for (let knot = 1; knot + 1 < knots.count; knot++) {
      const indices = [place.of(domain, knot - 1), place.of(domain, knot), place.of(domain, knot + 1)];
      const row = system.add(indices, [1, -2, 1], 0, sigma(domain, knot) * knots.step ** 2);
      rows.push({ row, domain, knot });
    }
  }
  return (set) => {
    for (const { row, domain, knot } of rows) set(row, sigma(domain, knot) * knots.step ** 2);
  };
}
