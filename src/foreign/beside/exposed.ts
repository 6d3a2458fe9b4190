/**
 * Exposed communication of a process: how long NCCL's kernels ran, and how much of it no other kernel covered. With N the union of the times of
 * NCCL's kernels and C that of all other kernels, over all streams: `nccl` is |N|, `overlapped` |N ∩ C|, `exposed` |N| - |N ∩ C|. Copies are
 * neither. HolisticTraceAnalysis calls |N ∩ C| / |N| the communication computation overlap. A step counts what runs between its begin and its end.
 */

import { firstIndex } from '../../base/first_index.js';

export interface Exposure {
  /** ns, all of them. */
  readonly nccl: number;
  readonly overlapped: number;
  readonly exposed: number;
}

/** Begins and ends, alternating, ns, in any order of the spans. */
export type Spans = ArrayLike<number>;

/** For any window. */
export function exposureOf(nccl: Spans, compute: Spans): (from: number, to: number) => Exposure {
  const [busy, other] = [union(nccl), union(compute)];
  const ofNccl = measure(busy);
  const shared = measure(intersection(busy, other));
  return (from, to) => {
    const [all, overlapped] = [ofNccl(from, to), shared(from, to)];
    return { nccl: all, overlapped, exposed: all - overlapped };
  };
}

/** What is exposed within a window, ascending. */
export function exposedSpans(nccl: Spans, compute: Spans, from: number, to: number): number[] {
  const busy = union(within(nccl, from, to));
  const shared = intersection(busy, union(within(compute, from, to)));
  const made: number[] = [];
  let next = 0;
  for (let i = 0; i < busy.length; i += 2) {
    const end = busy[i + 1]!;
    let at = busy[i]!;
    for (; next < shared.length && shared[next]! < end; next += 2) {
      if (shared[next]! > at) made.push(at, shared[next]!);
      at = shared[next + 1]!;
    }
    if (at < end) made.push(at, end);
  }
  return made;
}

function within(spans: Spans, from: number, to: number): number[] {
  const made: number[] = [];
  for (let i = 0; i < spans.length; i += 2)
    if (spans[i]! < to && spans[i + 1]! > from)
      made.push(Math.max(from, spans[i]!), Math.min(to, spans[i + 1]!));
  return made;
}

/** Spans that neither overlap nor touch, ascending. */
function union(spans: Spans): Float64Array {
  const order = Float64Array.from({ length: spans.length / 2 }, (_, i) => i).sort(
    (a, b) => spans[2 * a]! - spans[2 * b]!,
  );
  const made = new Float64Array(spans.length);
  let length = 0;
  for (const i of order) {
    const [start, end] = [spans[2 * i]!, spans[2 * i + 1]!];
    if (length > 0 && start <= made[length - 1]!) made[length - 1] = Math.max(made[length - 1]!, end);
    else {
      made[length++] = start;
      made[length++] = end;
    }
  }
  return made.subarray(0, length);
}

function intersection(a: Float64Array, b: Float64Array): Float64Array {
  const made: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [start, end] = [Math.max(a[i]!, b[j]!), Math.min(a[i + 1]!, b[j + 1]!)];
    if (start < end) made.push(start, end);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return Float64Array.from(made);
}

/** How long the spans are within a window. */
function measure(spans: Float64Array): (from: number, to: number) => number {
  const count = spans.length / 2;
  const before = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) before[i + 1] = before[i]! + spans[2 * i + 1]! - spans[2 * i]!;
  const until = (at: number): number => {
    const next = firstIndex(count, (i) => spans[2 * i + 1]! >= at);
    return before[next]! + (next < count ? Math.max(0, at - spans[2 * next]!) : 0);
  };
  return (from, to) => until(to) - until(from);
}

/** PyTorch's name of a training step, and how people call one in NVTX and user annotations: `step 7`, `iteration_7`. */
export const isStep = (name: string): boolean =>
  /^(?:ProfilerStep#|(?:train(?:ing)?[ _]?)?(?:step|iteration|iter)[ _#:=-]{0,2})\d+$/i.test(name);
