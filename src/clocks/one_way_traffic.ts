/**
 * Domains with traffic in one direction only. Their wall clock places them, and the evidence bounds them on one side. This may be enough to
 * show that the wall clock is wrong.
 */

import { correctionAt, knotTime } from './corrections.js';
import type { Alignment } from './alignment.js';
import { toTrace } from './clock_map.js';
import type { ClockSolution } from './domains.js';
import { localNs } from '../base/time.js';

export interface OneSidedBound {
  /** The domain against which it holds. */
  readonly against: number;
  /** Its times in the trace are too late by at most this many ns. Below 0: they are too early by at least this many. null: unbounded. */
  readonly late: number | null;
  /** In the same way: too early. */
  readonly early: number | null;
}

/** For a domain that is in no group with `reference`. null: there is no bound on either side. */
export function oneSidedBound(
  domain: number,
  reference: number,
  { domains }: ClockSolution,
  alignment: Alignment,
  coarse: readonly number[],
): OneSidedBound | null {
  const { knots, spans, corrections } = alignment;
  const placed = (of: number, time: number): number =>
    toTrace(domains[of]!.map, localNs(time - coarse[of]!)) - correctionAt(knots, corrections[of]!, time);
  let late = -Infinity;
  let early = -Infinity;
  for (let span = 0; span + 1 < spans.count; span++) {
    // How much the estimate of the domain may be too late and too early, at most, against the reference.
    const { below, above } = alignment.hardBetween(domain, reference, span);
    for (const end of [span, span + 1]) {
      // How much later the trace shows the domain than the estimate for which the bounds hold.
      const time = knotTime(spans, end);
      const later = placed(domain, time) - placed(reference, time);
      late = Math.max(late, below + later);
      early = Math.max(early, above - later);
    }
  }
  if (!Number.isFinite(late) && !Number.isFinite(early)) return null;
  return { against: reference, late: finite(late), early: finite(early) };
}

const finite = (ns: number): number | null => (Number.isFinite(ns) ? ns : null);
