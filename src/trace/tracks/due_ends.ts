/**
 * Ends that are known early: the scan knows a collective's end when its start is drawn. They are written when the records reach them, so
 * that times on the tracks never go back.
 */

import type { TraceNs } from '../../base/time.js';

interface Due {
  readonly at: TraceNs;
  readonly end: (at: TraceNs) => void;
  /** Ends at the same time are written in the order in which they were scheduled. */
  readonly number: number;
}

export class DueEnds {
  /** A binary heap, the earliest first. A file may keep any number of things open at once. */
  private readonly heap: Due[] = [];
  private scheduled = 0;

  schedule(at: TraceNs, end: (at: TraceNs) => void): void {
    const { heap } = this;
    const due = { at, end, number: this.scheduled++ };
    let place = heap.length;
    for (let above; place > 0 && isBefore(due, heap[(above = (place - 1) >> 1)]!); place = above)
      heap[place] = heap[above]!;
    heap[place] = due;
  }

  /** Writes every end at or before `at`. */
  flush(at: number): void {
    for (let next; (next = this.heap[0]) && next.at <= at;) {
      this.removeFirst();
      next.end(next.at);
    }
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (below >= heap.length || !isBefore(heap[below]!, last)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = last;
  }
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);
