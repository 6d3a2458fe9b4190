/**
 * Ends that are known early: the scan knows a collective's end when its start is drawn. They are written when the records reach them, so
 * that times on the tracks never go back.
 */

export abstract class Due {
  at: f64 = 0;
  /** Ends at the same time are written in the order in which they were scheduled. */
  number: f64 = 0;

  abstract end(at: f64): void;
}

export class DueEnds {
  /** A binary heap, the earliest first. A file may keep any number of things open at once. */
  private readonly heap: Due[] = [];
  private scheduled: f64 = 0;
  /** Time of the first one; Infinity: none. */
  private first: f64 = Infinity;

  schedule(at: f64, due: Due): void {
    const heap = this.heap;
    due.at = at;
    due.number = this.scheduled++;
    let place = heap.length;
    heap.push(due);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(due, heap[above])) break;
      heap[place] = heap[above];
      place = above;
    }
    heap[place] = due;
    this.first = heap[0].at;
  }

  /** Writes every end at or before `at`. */
  @inline
  flush(at: f64): void {
    if (this.first <= at) this.flushAll(at);
  }

  private flushAll(at: f64): void {
    while (this.first <= at && this.heap.length > 0) {
      const next = this.heap[0];
      this.removeFirst();
      this.first = this.heap.length == 0 ? Infinity : this.heap[0].at;
      next.end(next.at);
    }
  }

  private removeFirst(): void {
    const heap = this.heap;
    const last = heap.pop();
    const length = heap.length;
    if (length == 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below + 1 < length && isBefore(heap[below + 1], heap[below])) below++;
      if (below >= length || !isBefore(heap[below], last)) break;
      heap[place] = heap[below];
      place = below;
    }
    heap[place] = last;
  }
}

function isBefore(a: Due, b: Due): bool {
  return a.at < b.at || (a.at == b.at && a.number < b.number);
}
