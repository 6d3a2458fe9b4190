/** The map of an aligned domain: a segment per span, and one before and one after if the recording is longer. */

import { maxOf } from '../base/extremes.js';
import { localNs } from '../base/time.js';
import type { Alignment } from './alignment.js';
import { MAX_RATE } from './arc_limit.js';
import type { ClockSegment } from './clock_map.js';
import { apartAt, clocksAt, correctionIn } from './clock_parts.js';
import { knotTime, pieceAt } from './corrections.js';

/** The alignment by traffic, and its coarse axis. */
export interface TrafficClocks {
  readonly alignment: Alignment;
  /** Per domain: LocalNs + this is the coarse axis. */
  readonly coarse: readonly number[];
}

/** A domain's place on the common axis at a LocalNs. */
export function onAxis({ alignment, coarse }: TrafficClocks, domain: number, local: number): number {
  const time = local + coarse[domain]!;
  return time + correctionIn(alignment, alignment.parts[domain]!, time);
}

/** `recorded`: LocalNs of the first and the last record of the domain. `place`: LocalNs → the trace's axis. */
export function alignedSegments(
  domain: number,
  { alignment, coarse }: TrafficClocks,
  recorded: { readonly from: number; readonly to: number },
  place: (local: number) => number,
  flags: readonly string[],
): ClockSegment[] {
  const { spans } = alignment;
  const parts = alignment.parts[domain]!;
  const ends = Array.from({ length: spans.count }, (_, span) => knotTime(spans, span));
  const jumps = parts.flatMap(({ from, to }) => [from, to]).filter(Number.isFinite);
  const first = Math.min(ends[0]!, recorded.from + coarse[domain]!);
  const last = Math.max(ends.at(-1)!, recorded.to + coarse[domain]!);
  const cuts = [first, ...ends, ...jumps, last].sort((a, b) => a - b);
  return cuts.slice(1).flatMap((to, i): ClockSegment[] => {
    const from = cuts[i]!;
    // The two times differ only by rounding.
    if (to - from < 1) return [];
    const [left, right] = [from - coarse[domain]!, to - coarse[domain]!];
    return [
      {
        from: localNs(left),
        to: localNs(right),
        offset: place(left) - left,
        drift: (place(right) - place(left)) / (right - left) - 1,
        ...boundsWithin(alignment, domain, from, to),
        source: 'traffic',
        flags,
      },
    ];
  });
}

type Bounds = Pick<ClockSegment, 'hardBound' | 'bound99'>;

/** While the counter jumps, times before and after the jump cannot be distinguished. */
function boundsWithin(alignment: Alignment, domain: number, from: number, to: number): Bounds {
  const { spans, references } = alignment;
  const middle = (from + to) / 2;
  const span = pieceAt(spans, middle);
  const beyond = Math.max(0, spans.first - from, to - knotTime(spans, spans.count - 1));
  const clocks = clocksAt(alignment.parts[domain]!, middle);
  const bounds = clocks.map(({ clock }) => boundsOf(alignment, clock, references[domain]!, span, beyond));
  const jump = apartAt(alignment, alignment.parts[domain]!, middle);
  return {
    hardBound: jump + maxOf(bounds.map(({ hardBound }) => hardBound)),
    bound99: jump + maxOf(bounds.map(({ bound99 }) => bound99)),
  };
}

/** Bounds of a clock in a span of the alignment, or `beyond` ns before the first or after the last span. */
function boundsOf(
  alignment: Alignment,
  clock: number,
  reference: number,
  span: number,
  beyond: number,
): Bounds {
  const { knots, spans, corrections, mostWander } = alignment;
  const perPiece = (spans.count - 1) / (knots.count - 1);
  const piece = Math.floor(span / perPiece);
  const likely = alignment.likely(clock, reference, piece);
  const [left, right] = [corrections[clock]![piece]!, corrections[clock]![piece + 1]!];
  const own = Math.abs((right - left) / knots.step);
  const widerBy = (width: number): number =>
    reference === clock || beyond === 0
      ? 0
      : beyond * widening(own, width / knots.step, mostWander * (knots.step + beyond));
  // The slope of a piece is wrong by the errors of its two ends, each of which may go in either direction.
  const ofPiece = alignment.hard.slice(piece * perPiece, (piece + 1) * perPiece).map((all) => all[clock]!);
  const turn = maxOf(ofPiece.map(({ below }) => below)) + maxOf(ofPiece.map(({ above }) => above));
  const { below, above } = alignment.hard[span]![clock]!;
  const hardBound = Math.max(below, above) + widerBy(turn);
  return { hardBound, bound99: Math.min(hardBound, likely + widerBy(2 * likely)) };
}

/**
 * Growth of a bound after the last evidence, per ns. The last piece's slope has the errors of its ends, and both rates may go on changing
 * as declared, by `curved` each. The rates of two counters differ by at most MAX_RATE, and their estimates by `own`.
 */
function widening(own: number, slope: number, curved: number): number {
  return Math.min(MAX_RATE + own, slope + 2 * curved);
}
