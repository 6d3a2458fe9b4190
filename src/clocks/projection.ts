/**
 * Moves the estimate to the nearest corrections that no pair contradicts: cyclic projection onto the half-spaces that the hulls of all
 * pairs describe. A hull of a whole piece is enough, because inside a piece all corrections are straight lines.
 */

import { pieceAt, shareAt, slack, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { isImpossibleAt } from './impossible_pairs.js';
import { alignedAt } from './corrected_times.js';

/** Distance to keep from the border if there is room, ns. Then rounding to whole nanoseconds turns no arrow. */
const MARGIN_NS = 20;
const ROUNDS = 2000;
/** After this many rounds, check whether a solution exists. */
const DOUBTFUL_ROUNDS = 50;
/**
 * After the rounds, references are put back. That moves both ends of a pair by the movement of their reference, but at two different times.
 * If the reference moved much within a delay, a small violation comes back. So the rounds are repeated, and the violation gets smaller each
 * time.
 */
const TURNS = 5;
/** ns: contradicting evidence leaves a larger violation. A smaller one only converges slowly. */
const NEARLY_NS = 1000;
/** Over-projection, which reaches the inside of narrow cones sooner. */
const RELAXATION = 1.5;

/** The clocks, and the pairs that they must hold. */
interface Held {
  readonly knots: Knots;
  readonly corrections: readonly Float64Array[];
  readonly hulls: readonly EdgeHull[];
}

/** Moves the corrections. Returns what remains violated: the worst, ns; 0 when all pairs hold. */
export function project(held: Held, references: readonly number[]): number {
  let violated = 0;
  const doubtful = worstInstant(held);
  for (let turn = 0; turn < TURNS; turn++) {
    const isReached = pushAll(held, doubtful);
    pinReferences(held.corrections, references);
    violated = worstViolation(held);
    if (violated === 0) break;
    // If evidence contradicts itself, another turn does not help either.
    if (!isReached && violated > NEARLY_NS) break;
  }
  return violated;
}

/** Whether all pairs hold within this many rounds. `doubtful`: the instant at which pairs may contradict each other. */
function pushAll(held: Held, doubtful: number): boolean {
  const { knots, corrections, hulls } = held;
  // A hull that held still holds if its two domains have not moved since.
  const moves = new Int32Array(corrections.length);
  const heldFrom = new Int32Array(hulls.length).fill(-1);
  const heldTo = new Int32Array(hulls.length).fill(-1);
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    for (let h = 0; h < hulls.length; h++) {
      const { from, to, hull } = hulls[h]!;
      if (heldFrom[h] === moves[from]! && heldTo[h] === moves[to]!) continue;
      let pushed = false;
      for (let i = 0; i < hull.length; i += 2)
        if (push(knots, corrections[from]!, corrections[to]!, hull[i]!, hull[i + 1]!)) pushed = true;
      if (pushed) {
        moved = true;
        moves[from]!++;
        moves[to]!++;
      } else {
        heldFrom[h] = moves[from]!;
        heldTo[h] = moves[to]!;
      }
    }
    if (!moved) return true;
    if (round === DOUBTFUL_ROUNDS && isHopeless(held, doubtful)) return false;
  }
  return false;
}

function isHopeless(held: Held, doubtful: number): boolean {
  if (worstViolation(held) <= NEARLY_NS) return false;
  const { knots, corrections, hulls } = held;
  return [doubtful, worstInstant(held)].some((at) => isImpossibleAt(knots, corrections, hulls, at));
}

/** When, on the common axis, the pair that is violated most began. */
function worstInstant({ knots, corrections, hulls }: Held): number {
  let worst = 0;
  let instant = knots.first;
  for (const { from, to, hull } of hulls) {
    const sender = corrections[from]!;
    for (let i = 0; i < hull.length; i += 2) {
      const violated = -slack(knots, sender, corrections[to]!, hull[i]!, hull[i + 1]!);
      if (violated <= worst) continue;
      worst = violated;
      instant = alignedAt(knots, sender, hull[i]!);
    }
  }
  return instant;
}

/** Moves both domains' knots just enough that the pair holds; false if it did. */
function push(knots: Knots, from: Float64Array, to: Float64Array, time: number, delay: number): boolean {
  const lacking = MARGIN_NS - slack(knots, from, to, time, delay);
  if (lacking <= MARGIN_NS / 2) return false;
  const a = pieceAt(knots, time);
  const b = pieceAt(knots, time + delay);
  const shareA = shareAt(knots, a, time);
  const shareB = shareAt(knots, b, time + delay);
  const norm = (1 - shareA) ** 2 + shareA ** 2 + (1 - shareB) ** 2 + shareB ** 2;
  const step = (RELAXATION * lacking) / norm;
  from[a]! -= step * (1 - shareA);
  from[a + 1]! -= step * shareA;
  to[b]! += step * (1 - shareB);
  to[b + 1]! += step * shareB;
  return true;
}

/** References do not move. The other domains of their group move instead. */
function pinReferences(corrections: readonly Float64Array[], references: readonly number[]): void {
  const moved = references.map((reference) => corrections[reference]!.slice());
  corrections.forEach((values, domain) => {
    for (let k = 0; k < values.length; k++) values[k]! -= moved[domain]![k]!;
  });
}

function worstViolation({ knots, corrections, hulls }: Held): number {
  let worst = 0;
  for (const hull of hulls) worst = Math.max(worst, violationOf(knots, corrections, hull).by);
  return worst;
}

/** The pair that is contradicted most: by how much, 0 for none, and when its sender sent it. */
export function violationOf(
  knots: Knots,
  corrections: readonly Float64Array[],
  { from, to, hull }: EdgeHull,
): { readonly by: number; readonly at: number } {
  let worst = 0;
  let at = knots.first;
  for (let i = 0; i < hull.length; i += 2) {
    const by = -slack(knots, corrections[from]!, corrections[to]!, hull[i]!, hull[i + 1]!);
    if (by <= worst) continue;
    worst = by;
    at = hull[i]!;
  }
  return { by: worst, at };
}
