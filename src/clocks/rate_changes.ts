/**
 * How fast clocks' rates change, as the corrections show it: a room that warms up, a fan that starts. The estimate first assumes small
 * bends; if pairs bend the corrections more, the assumption grows to match. Noise alone does not make it grow: of bends that only noise
 * supports the estimate keeps less than half. Measured against the group's reference, so it does not say which of two clocks changed.
 */

import { median } from '../base/median.js';
import type { Knots } from './corrections.js';
import type { Places, Rows } from './unknowns.js';

/** As a standard error of rates' changes, 1/ns, by domain. */
export type Wander = Float64Array;

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

/** Before anything is measured; `most`: as much as any clock may. */
export const wanderAtRest = (domains: number, most: number): Wander => new Float64Array(domains).fill(most);

/** In place, by the corrections of `place`. Returns whether it has settled. */
export function measureWander(
  wander: Wander,
  corrections: Float64Array,
  place: Places,
  most: number,
): boolean {
  const shown = place.solved.map((domain) => ROOM * bendsOf(corrections, place, domain));
  const least = atRest(place.knots);
  // All clocks may change as fast as half of them are seen to, where messages are too few to show it.
  const usual = median(shown) ?? 0;
  let settled = true;
  place.solved.forEach((domain, i) => {
    const now = Math.min(most, Math.max(least, usual, shown[i]!));
    if (Math.abs(now - wander[domain]!) > SETTLED * wander[domain]!) settled = false;
    wander[domain] = now;
  });
  return settled;
}

/**
 * Root mean square of a clock's bends, 1/ns: over the distance of two knots, or of several, whichever shows more. If messages scatter much,
 * a bend from knot to knot is taken for scatter. A bend over several knots is not.
 */
function bendsOf(corrections: Float64Array, place: Places, domain: number): number {
  const { step, count } = place.knots;
  const at = (knot: number): number => corrections[place.of(domain, knot)]!;
  let most = 0;
  for (let far = 1; far <= MOST_APART && count - 2 * far >= Math.min(far, LEAST_BENDS); far *= 2) {
    let squares = 0;
    for (let k = far; k + far < count; k++) squares += (at(k - far) - 2 * at(k) + at(k + far)) ** 2;
    // If the bends at all knots are independent, a bend over several knots is their sum, each weighed by its distance from the middle.
    const sum = (far * (2 * far ** 2 + 1)) / 3;
    most = Math.max(most, squares / (count - 2 * far) / sum);
  }
  return Math.sqrt(most) / step ** 2;
}

/** Most knots between bends that are compared, and the number of bends for a mean. */
const MOST_APART = 2;
const LEAST_BENDS = 4;

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

/** The rows that hold each clock's bends small. */
export interface BendRows<Row> {
  readonly domain: number;
  readonly rows: readonly Row[];
}

export function addBendRows<Row>(system: Rows<Row>, place: Places, wander: Wander): BendRows<Row>[] {
  const { knots } = place;
  return place.solved.map((domain) => {
    const sigma = bendSigma(place, wander[domain]!);
    const rows: Row[] = [];
    for (let k = 1; k + 1 < knots.count; k++) {
      const indices = [place.of(domain, k - 1), place.of(domain, k), place.of(domain, k + 1)];
      rows.push(system.add(indices, [1, -2, 1], 0, sigma));
    }
    return { domain, rows };
  });
}

export function setBends<Row>(
  system: { setSigma(row: Row, sigma: number): void },
  bends: readonly BendRows<Row>[],
  place: Places,
  wander: Wander,
): void {
  for (const { domain, rows } of bends)
    for (const row of rows) system.setSigma(row, bendSigma(place, wander[domain]!));
}

const bendSigma = ({ knots }: Places, wander: number): number => wander * knots.step ** 2;
