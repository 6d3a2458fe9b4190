/**
 * When a file's process last did anything with NCCL, and for how long it did nothing before: the pace of its job. Calls count, also
 * those of which nothing more was recorded; polls and heartbeats do not.
 */

import type { Ticks } from '../base/time.js';
import type { HostSpan } from './host_span.js';

/** What follows the first call is the job's start: it connects, loads, compiles. */
const START_UP = 2;

export class QuietTimes {
  private newest: Ticks | null = null;
  private longestQuiet = 0;
  private calls = 0;
  private works = 0;

  /** Of any work, operation or kernel: a start or an end. In order. */
  moved(at: Ticks): void {
    const { newest } = this;
    if (newest !== null && Math.max(this.calls, this.works) >= START_UP)
      this.longestQuiet = Math.max(this.longestQuiet, at - newest);
    this.newest = at;
  }

  workStarted(at: Ticks): void {
    this.moved(at);
    this.works++;
  }

  hostStarted(span: HostSpan, at: Ticks): void {
    if (!isCall(span)) return;
    this.moved(at);
    if (span.apiRow >= 0) this.calls++;
  }

  hostStopped(span: HostSpan, at: Ticks): void {
    if (isCall(span)) this.moved(at);
  }

  /** null: never. */
  get last(): Ticks | null {
    return this.newest;
  }

  /** Ticks; the start aside. */
  get longest(): number {
    return this.longestQuiet;
  }
}

const isCall = ({ kind }: HostSpan): boolean => kind !== 'NetPlugin' && kind !== 'unknown';
