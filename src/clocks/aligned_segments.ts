/** The map of an aligned domain: a segment per span, and one before and one after if the recording is longer. */

import { maxOf } from '../base/extremes.js';
import { localNs } from '../base/time.js';
import type { Alignment } from './alignment.js';
import { MAX_RATE } from './arc_limit.js';
import type { ClockSegment } from './clock_map.js';
import { correctionAt, knotTime } from './corrections.js';

/** The alignment by traffic, and its coarse axis. */
export interface TrafficClocks {
  readonly alignment: Alignment;
  /** Per domain: LocalNs + this is the coarse axis. */
  readonly coarse: readonly number[];
}

/** A domain's place on the common axis at a LocalNs. */
export function onAxis({ alignment, coarse }: TrafficClocks, domain: number, local: number): number {
  const time = local + coarse[domain]!;
  return time + correctionAt(alignment.knots, alignment.corrections[domain]!, time);
}

/** `recorded`: LocalNs of the first and last that is known of the domain. `place`: LocalNs → the trace's axis. */
export function alignedSegments(
  domain: number,
  { alignment, coarse }: TrafficClocks,
  recorded: { readonly from: number; readonly to: number },
  place: (local: number) => number,
  flags: readonly string[],
): ClockSegment[] {
  const { spans } = alignment;
  const segment = (from: number, to: number, span: number, beyond: number): ClockSegment => ({
    from: localNs(from),
    to: localNs(to),
    offset: place(from) - from,
    drift: (place(to) - place(from)) / (to - from) - 1,
    ...boundsOf(alignment, domain, span, beyond),
    source: 'traffic',
    flags,
  });
  const count = spans.count - 1;
  const end = (span: number): number => knotTime(spans, span) - coarse[domain]!;
  const { from, to } = recorded;
  const before = from < end(0) ? [segment(from, end(0), 0, end(0) - from)] : [];
  const inside = Array.from({ length: count }, (_, span) => segment(end(span), end(span + 1), span, 0));
  const behind = to > end(count) ? [segment(end(count), to, count - 1, to - end(count))] : [];
  return [...before, ...inside, ...behind];
}

/** In a span of the alignment, or `beyond` ns outside of its first or last. */
function boundsOf(
  alignment: Alignment,
  domain: number,
  span: number,
  beyond: number,
): Pick<ClockSegment, 'hardBound' | 'bound99'> {
  const { knots, spans, references, corrections, mostWander } = alignment;
  const perPiece = (spans.count - 1) / (knots.count - 1);
  const piece = Math.floor(span / perPiece);
  const reference = references[domain]!;
  const likely = alignment.likely(domain, reference, piece);
  const [left, right] = [corrections[domain]![piece]!, corrections[domain]![piece + 1]!];
  const own = Math.abs((right - left) / knots.step);
  const widerBy = (width: number): number =>
    reference === domain || beyond === 0
      ? 0
      : beyond * widening(own, width / knots.step, mostWander * (knots.step + beyond));
  // A piece's slope is wrong by the errors of its two ends, each in either direction.
  const ofPiece = alignment.hard.slice(piece * perPiece, (piece + 1) * perPiece).map((all) => all[domain]!);
  const turn = maxOf(ofPiece.map(({ below }) => below)) + maxOf(ofPiece.map(({ above }) => above));
  const { below, above } = alignment.hard[span]![domain]!;
  const hardBound = Math.max(below, above) + widerBy(turn);
  return { hardBound, bound99: Math.min(hardBound, likely + widerBy(2 * likely)) };
}

/**
 * Growth of a bound after the last evidence, per ns. The last piece's slope has the errors of its ends, and both rates may go on changing
 * as declared, by `curved` each. Two counters differ by at most MAX_RATE, and their estimate by `own`.
 */
function widening(own: number, slope: number, curved: number): number {
  return Math.min(MAX_RATE + own, slope + 2 * curved);
}
