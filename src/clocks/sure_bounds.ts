/**
 * Hard bounds from certain evidence. If this leaves one side open (hosts that only received, and gave credits), credits count, too. They
 * are assumed to be true while nothing contradicts them. The result says for which domains this was assumed.
 */

import { HardBounds, type Interval } from './bounds.js';
import type { UnsteadyClock } from './contradictions.js';
import type { Knots } from './corrections.js';
import type { PieceHulls } from './edge_hulls.js';
import type { Estimate } from './estimate.js';
import type { EdgeEvidence } from './evidence.js';
import { groupReferences } from './graph.js';

export interface SureBounds {
  /** What bounds are stated for. */
  readonly spans: Knots;
  /** Certain evidence that steady clocks cannot make; null: none. */
  readonly contradiction: UnsteadyClock | null;
  /** truth - estimate of `a` against `b`, in a span. */
  readonly between: (a: number, b: number, span: number) => Interval;
  /** Per domain: its bound against its group's reference is by causality alone. */
  readonly sure: readonly boolean[];
}

/** `used`: all evidence of the estimate; `sure`: what needs no assumption. `curvature`: 1/ns. */
export function sureBounds(
  references: readonly number[],
  { knots, corrections }: Estimate,
  used: readonly EdgeEvidence[],
  sure: readonly EdgeEvidence[],
  pieces: PieceHulls,
  curvature: number,
): SureBounds {
  const boundsBy = (edges: readonly EdgeEvidence[]): HardBounds =>
    new HardBounds(references, pieces.of(edges), knots, corrections, curvature);
  const certain = boundsBy(sure);
  const connected = groupReferences(references.length, sure);
  const isSure = references.map((reference, domain) => connected[domain] === connected[reference]);
  const known = new Set(sure);
  // Receives that NCCL may report early are left out, because another stamp of these receives is certain.
  const credits = used.filter((edge) => edge.kind === 'credit' && !known.has(edge));
  const { spans, contradiction } = certain;
  if (credits.length === 0)
    return { spans, contradiction, between: (a, b, span) => certain.between(a, b, span), sure: isSure };
  let assumed: HardBounds | undefined;
  return {
    spans,
    contradiction,
    sure: isSure,
    between: (a, b, span) => {
      const interval = certain.between(a, b, span);
      if (Number.isFinite(interval.below) && Number.isFinite(interval.above)) return interval;
      assumed ??= boundsBy([...sure, ...credits]);
      const { below, above } = assumed.between(a, b, span);
      return {
        below: Number.isFinite(interval.below) ? interval.below : below,
        above: Number.isFinite(interval.above) ? interval.above : above,
      };
    },
  };
}
