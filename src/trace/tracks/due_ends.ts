/**
 * Ends that are known before their time: a collective's end is known from the scan when its start is drawn. They are
 * written when the stream of records reaches them, so that times on the tracks never go back.
 */

import type { TraceNs } from '../../base/time.js';

interface Due {
  readonly at: TraceNs;
  readonly end: (at: TraceNs) => void;
}

export class DueEnds {
  /** Latest first: the next one is popped from the end. Few are open at a time. */
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
