/**
 * How fast the rates of clocks change, as the corrections show it: a room warms up, a fan starts. The estimate first assumes that clocks bend
 * as much as they may. Then it assumes what the corrections show, with some room, until this settles. Noise alone does not keep the
 * assumption large, because the estimate keeps less than half of a bend that only noise supports.
 *
 * A rate that goes on changing bends a clock over a long distance by far more than independent bends would. So bends are compared over
 * several distances. What they show over longer distances widens the bounds of a pause without messages. The estimate does not use it:
 * inside a pause it would bend a clock in other places than just before and after it.
 *
 * All clocks of a group are solved on an axis of their own, to which each clock is near. So no clock is a straight line by definition, and
 * the numbers of hosts do not matter.
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

/** The estimate keeps only a part of each bend, so the true bends are larger, by about this factor. With 2, noise would amplify itself. */
const ROOM = 1.9;

/** Numbers that change by no more than this part have settled. */
const SETTLED = 0.1;

/** Number of distances over which bends are compared: 1, 2, 4, ... knots. */
const DISTANCES = 5;
/** Over this many of the shortest distances the estimate keeps only a part of a bend. Over the others it keeps nearly all of it. */
const SHORT = 2;
/** Fewer bends than this show nothing. Over less than this many knots, one bend per knot of the distance is enough. */
const LEAST_BENDS = 4;

/**
 * A clock that bends equally at all knots within `far` knots on either side goes as far off as one with independent bends that are larger by
 * this factor.
 */
const persistent = (far: number): number => Math.sqrt((3 * far ** 3) / (2 * far ** 2 + 1));

/** How much rates change from knot to knot, as standard errors, 1/ns. Before the first measurement: as much as any clock's rate may change. */
export class Wander {
  /** By clock: where it has messages. */
  private readonly heard: Float64Array;
  /** By distance and clock: in a pause that is about twice as long as the distance. */
  private readonly silent: readonly Float64Array[];
  /** By clock and knot: the distance that belongs to the pause around the knot. Below SHORT: there is no pause, or only a short one. */
  private readonly silences: readonly Uint8Array[];
  /** By clock: it is nearer to the mean of its group than to the truth, by this factor, because it is a part of the mean. */
  private readonly apart: readonly number[];

  /** `most`: how much a rate changes at most, 1/ns. */
  constructor(
    clocks: number,
    private readonly place: Places,
    links: readonly Link[],
    private readonly most: number,
  ) {
    this.heard = new Float64Array(clocks);
    this.silent = Array.from({ length: DISTANCES }, () => new Float64Array(clocks));
    this.silences = heardPieces(clocks, place.knots, links).map(silencesOf);
    const sizes = new Map<number, number>();
    for (const own of place.references) sizes.set(own, (sizes.get(own) ?? 0) + 1);
    this.apart = place.references.map((own) => Math.sqrt(sizes.get(own)! / Math.max(1, sizes.get(own)! - 1)));
    this.forget();
  }

  /** For the estimate. */
  of(clock: number): number {
    return this.heard[clock]!;
  }

  /** For the variances. */
  at(clock: number, knot: number): number {
    const distance = this.silences[clock]![knot]!;
    return distance < SHORT ? this.heard[clock]! : this.silent[distance]![clock]!;
  }

  forget(): void {
    // If it were less, the estimate would take bends that few messages show for scatter, and would never find them again.
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
      if (place.knots.count - 2 * reach < Math.min(reach, LEAST_BENDS)) break;
      const isShort = distance < SHORT;
      place.solved.forEach((clock, i) => {
        const shown = this.bendsOf(corrections, clock, reach);
        if (shown.spans < Math.min(reach, LEAST_BENDS)) return;
        const bends = this.apart[clock]! * shown.bends;
        // Spans that overlap say little more than one of them. With few spans, true bends may be larger than those seen.
        const room = isShort ? ROOM : Math.sqrt(1 + (2 * reach) / shown.spans);
        near[i] = Math.max(near[i]!, (ROOM * bends) / (isShort ? 1 : persistent(reach)));
        far[i] = Math.max(far[i]!, room * bends);
      });
      for (let longer = distance; longer < DISTANCES; longer++)
        this.set(this.silent[longer]!, far, most * persistent(reach));
    }
    return this.set(this.heard, near, most);
  }

  /**
   * Root mean square of a clock's bends over `far` knots, converted to independent bends at all knots, 1/ns. Knots in a pause are left out,
   * because nothing shows where the clock was.
   */
  private bendsOf(corrections: Float64Array, clock: number, far: number) {
    const { place } = this;
    const silences = this.silences[clock]!;
    const at = (knot: number): number => corrections[place.of(clock, knot)]!;
    let squares = 0;
    let spans = 0;
    for (let k = far; k + far < place.knots.count; k++) {
      if (silences[k - far]! + silences[k]! + silences[k + far]! > 0) continue;
      squares += (at(k - far) - 2 * at(k) + at(k + far)) ** 2;
      spans++;
    }
    // If the bends at all knots are independent, a bend over several knots is their sum, weighed by the distance from the middle.
    const sum = (far * (2 * far ** 2 + 1)) / 3;
    return { spans, bends: Math.sqrt(squares / spans / sum) / place.knots.step ** 2 };
  }

  private set(known: Float64Array, shown: readonly number[], most: number): boolean {
    const { solved, knots } = this.place;
    // Few messages may show no bend of a clock. It is taken to bend at least as much as half of the clocks do.
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

/** By knot: the distance that fits twice into the pause without messages at the knot or next to it. */
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
