/**
 * Ends that are known early: the scan knows a collective's end when its start is drawn. They are written when the records reach them, so
 * that times on the tracks never go back.
 */

import type { TraceNs } from '../../base/time.js';

interface Due {
  readonly at: TraceNs;
  readonly end: (at: TraceNs) => void;
}

export class DueEnds {
  /** Latest first, because the next one is taken from the end of the list. Few are open at a time. */
  private readonly queue: Due[] = [];

  schedule(at: TraceNs, end: (at: TraceNs) => void): void {
    let i = this.queue.length;
    while (i > 0 && this.queue[i - 1]!.at <= at) i--;
    this.queue.splice(i, 0, { at, end });
  }

  /** Writes every end at or before `at`. */
  flush(at: number): void {
    for (;;) {
      const next = this.queue.at(-1);
      if (!next || next.at > at) return;
      this.queue.pop();
      next.end(next.at);
    }
  }
}
