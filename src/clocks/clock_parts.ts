/**
 * A counter that jumped is two clocks: one before the jump and one after it, each with the evidence of its time. Pairs that may belong to
 * either clock are not used. Both clocks are solved like any other clock, so no other code knows of jumps.
 */

import { entryOf } from '../base/grouped.js';
import { correctionAt, type Knots } from './corrections.js';
import { wireOf, type EdgeEvidence, type EvidenceWindow } from './evidence.js';
import type { Jump } from './jumps.js';

/** Corrections by clock, at common knots. */
interface Corrected {
  readonly knots: Knots;
  readonly corrections: readonly Float64Array[];
}

/** What a domain's clock is in [from, to], by its own time on the coarse axis. */
export interface ClockPart {
  /** Index of its corrections and bounds. */
  readonly clock: number;
  readonly from: number;
  readonly to: number;
  /** By how much the counter jumped before this part, ns. */
  readonly jump: number;
}

/** A clock of a domain that did not jump. */
export const wholeClock = (clock: number): readonly ClockPart[] => [
  { clock, from: -Infinity, to: Infinity, jump: 0 },
];

/** The parts of a domain after its part `clock` jumped. The part keeps its number before the jump, and is `next` after it. */
export function splitParts(
  parts: readonly ClockPart[],
  { clock, from, to, jump }: Jump,
  next: number,
): ClockPart[] {
  return parts.flatMap((part) =>
    part.clock === clock
      ? [
          { ...part, to: from },
          { clock: next, from: to, to: part.to, jump },
        ]
      : [part],
  );
}

/** Splits evidence in the same way. The result for an edge is always the same object. */
export function edgeSplitter(jump: Jump, next: number): (edges: readonly EdgeEvidence[]) => EdgeEvidence[] {
  const known = new Map<EdgeEvidence, readonly EdgeEvidence[]>();
  const split = (edge: EdgeEvidence): readonly EdgeEvidence[] => {
    const isInward = edge.to === jump.clock;
    if (!isInward && edge.from !== jump.clock) return [edge];
    const shown = (time: number, delay: number): number => (isInward ? time + delay : time);
    const before = partOf(edge, (time, delay) => shown(time, delay) <= jump.from);
    const behind = partOf(edge, (time, delay) => shown(time, delay) >= jump.to);
    const wire = wireOf(edge);
    const moved = { ...behind, ...(isInward ? { to: next } : { from: next }), wire };
    return [{ ...before, wire }, moved].filter(({ pairs }) => pairs > 0);
  };
  return (edges) => edges.flatMap((edge) => entryOf(known, edge, () => split(edge)));
}

function partOf(edge: EdgeEvidence, holds: (time: number, delay: number) => boolean): EdgeEvidence {
  const windows = edge.windows.flatMap((window): EvidenceWindow[] => {
    const hull: number[] = [];
    for (let i = 0; i < window.hull.length; i += 2)
      if (holds(window.hull[i]!, window.hull[i + 1]!)) hull.push(window.hull[i]!, window.hull[i + 1]!);
    if (hull.length === window.hull.length) return [window];
    const pairs = Math.ceil((window.pairs * hull.length) / window.hull.length);
    return hull.length === 0 ? [] : [{ ...window, hull, pairs }];
  });
  return { ...edge, windows, pairs: windows.reduce((sum, { pairs }) => sum + pairs, 0) };
}

/** The clock of a domain at a time of its own. During the jump: both clocks. */
export function clocksAt(parts: readonly ClockPart[], time: number): readonly ClockPart[] {
  const at = Math.max(
    0,
    parts.findLastIndex(({ from }) => from <= time),
  );
  return parts.slice(at, time <= parts[at]!.to ? at + 1 : at + 2);
}

const partsAt = (parts: readonly ClockPart[], time: number) =>
  clocksAt(parts, time) as [ClockPart, ClockPart | undefined];

/**
 * How far the clocks of a domain are apart at a time of its own, ns. During a jump at least as far as the counter jumped: if it jumped back
 * soon, its clocks before and behind are the same, and no messages show the time between.
 */
export function apartAt(
  { knots, corrections }: Corrected,
  parts: readonly ClockPart[],
  time: number,
): number {
  const [part, next] = partsAt(parts, time);
  if (next === undefined) return 0;
  const at = ({ clock }: ClockPart): number => correctionAt(knots, corrections[clock]!, time);
  return Math.max(Math.abs(next.jump), Math.abs(at(next) - at(part)));
}

/** A domain's correction at a time of its own. During the jump it goes from one part's correction to the next one's. */
export function correctionIn(
  { knots, corrections }: Corrected,
  parts: readonly ClockPart[],
  time: number,
): number {
  const [part, next] = partsAt(parts, time);
  if (next === undefined) return correctionAt(knots, corrections[part.clock]!, time);
  const before = correctionAt(knots, corrections[part.clock]!, part.to);
  const behind = correctionAt(knots, corrections[next.clock]!, next.from);
  return before + ((behind - before) * (time - part.to)) / (next.from - part.to);
}
