/**
 * Whether another tool's NCCL kernels are a rank's collectives, and how far apart the two clocks are. A kernel and a collective are the same
 * if their function and type agree and the kernel ends when the collective ends. Where the rank's records do not say when collectives ended
 * (nothing went over a network, and no KernelCh), both calls are compared. Position alone says nothing: a profiler sees a part of a run, and one
 * kernel may run several calls. The other clock may be wrong, so the shift is sought at which most kernels fit best.
 */

import { firstIndex } from '../../base/first_index.js';
import type { OurWork } from './our_works.js';

/** A kernel on the trace's axis. */
export interface PlacedKernel {
  readonly func: string | null;
  readonly type: string | null;
  /** TraceNs: its end, or its call. */
  readonly at: number;
}

export interface SameWork {
  /** By kernel: the index of its work, or null. */
  readonly works: readonly (number | null)[];
  /** Kernels in the time in which the rank has works. */
  readonly compared: number;
  readonly matched: number;
  /** ns: how much later kernels are than our works, the median, and the median distance from it. Null: nothing matched. */
  readonly residual: number | null;
  readonly spread: number | null;
}

/** ns: how far a kernel and its work may be apart. */
export const TOLERANCE = 1e6;
/** ns: how wrong the clock of a host may be. */
const FARTHEST = 10e9;
/** Bounds of the search. */
const SAMPLED = 200;
const CANDIDATES = 4000;
const SEEDS = 16;
/** The shift 0 is believed if it fits nearly as well as the best. */
const NEARLY = 1.5;
const NEARLY_NS = 5000;

/** Both in order of time. */
export function sameWork(kernels: readonly PlacedKernel[], works: readonly OurWork[]): SameWork {
  const byKey = new Map<string, number[]>();
  works.forEach((work, i) => {
    for (const key of new Set([keyOf(work.func, work.type), keyOf(work.func, null), ANY])) {
      const known = byKey.get(key);
      if (known) known.push(i);
      else byKey.set(key, [i]);
    }
  });
  const rowsOf = ({ func, type }: PlacedKernel): readonly number[] =>
    byKey.get(func === null ? ANY : keyOf(func, type)) ?? [];
  const shift = bestShift(kernels, works, rowsOf);
  const [from, to] = [(works[0]?.at ?? Infinity) - TOLERANCE, (works.at(-1)?.at ?? -Infinity) + TOLERANCE];
  const next = new Map<readonly number[], number>();
  const deltas: number[] = [];
  let compared = 0;
  const found = kernels.map((kernel) => {
    const at = kernel.at - shift;
    if (at < from || at > to) return null;
    compared++;
    const rows = rowsOf(kernel);
    // No work has two kernels.
    const place = nearest(rows, works, at, next.get(rows) ?? 0);
    const work = place === null ? null : rows[place]!;
    if (place === null || work === null || Math.abs(works[work]!.at - at) > TOLERANCE) return null;
    next.set(rows, place + 1);
    deltas.push(kernel.at - works[work]!.at);
    return work;
  });
  const residual = median(deltas);
  const spread = residual === null ? null : median(deltas.map((delta) => Math.abs(delta - residual)));
  return { works: found, compared, matched: deltas.length, residual, spread };
}

const ANY = '';
const keyOf = (func: string, type: string | null): string => `${func} ${type ?? ''}`;

function bestShift(
  kernels: readonly PlacedKernel[],
  works: readonly OurWork[],
  rowsOf: (kernel: PlacedKernel) => readonly number[],
): number {
  const sampled = evenly(kernels, SAMPLED);
  const costOf = (shift: number): number =>
    sampled.reduce((sum, kernel) => {
      const rows = rowsOf(kernel);
      const place = nearest(rows, works, kernel.at - shift, 0);
      const off = place === null ? TOLERANCE : Math.abs(works[rows[place]!]!.at - (kernel.at - shift));
      return sum + Math.min(off, TOLERANCE);
    }, 0);
  const candidates = evenly(kernels, SEEDS)
    .flatMap((kernel) => rowsOf(kernel).map((row) => kernel.at - works[row]!.at))
    .filter((shift) => Math.abs(shift) <= FARTHEST)
    .sort((a, b) => Math.abs(a) - Math.abs(b))
    .slice(0, CANDIDATES);
  const unmoved = costOf(0);
  let best = { shift: 0, cost: unmoved };
  for (const shift of candidates) {
    const cost = costOf(shift);
    if (cost < best.cost) best = { shift, cost };
  }
  return unmoved <= best.cost * NEARLY + NEARLY_NS * sampled.length ? 0 : best.shift;
}

/** Place in `rows` of the work that ends nearest to a time, from a place on; null: there is none. */
function nearest(
  rows: readonly number[],
  works: readonly OurWork[],
  at: number,
  least: number,
): number | null {
  const next = firstIndex(rows.length, (i) => works[rows[i]!]!.at >= at);
  const offAt = (place: number): number =>
    place < least || place >= rows.length ? Infinity : Math.abs(works[rows[place]!]!.at - at);
  const place = offAt(next - 1) <= offAt(next) ? next - 1 : next;
  if (offAt(place) < Infinity) return place;
  return least < rows.length ? least : null;
}

const evenly = <T>(all: readonly T[], count: number): readonly T[] =>
  all.length <= count
    ? all
    : Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!);

function median(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? null : sorted[sorted.length >>> 1]!;
}
