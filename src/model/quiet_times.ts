/**
 * When a file's process last did anything with NCCL, and for how long it did nothing before: the pace of its job. Calls count, also
 * those of which nothing more was recorded; polls and heartbeats do not.
 */

import type { Ticks } from '../base/time.js';
import type { Span } from './control.js';
import type { HostSpan } from './host_span.js';
import type { Gap } from './recording.js';

/** What follows the first call is the job's start: it connects, loads, compiles. */
const START_UP = 2;

/** The longest ones are kept: of some it turns out that records of that time are lost. */
const MOST = 16;

export class QuietTimes {
  private newest: Ticks | null = null;
  /** Longest first. */
  private readonly quiet: Span[] = [];
  private watchedFor = 0;
  private calls = 0;
  private works = 0;

  /** `untold`: when nothing that was recorded says nothing (control.ts). */
  constructor(private readonly untold: readonly Span[] = []) {}

  /** Of any work, operation or kernel: a start or an end. In order. */
  moved(at: Ticks): void {
    const { newest } = this;
    if (newest !== null && Math.max(this.calls, this.works) >= START_UP) this.pause(newest, at);
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

  /** Ticks: of so long a time, the start aside, the pauses are known. */
  get watched(): number {
    return this.watchedFor;
  }

  /** Ticks; the start aside. Nothing is known of a pause in which records are lost: `gaps`. */
  longest(gaps: readonly Gap[]): number {
    const lost = gaps.map(({ afterTick, beforeTick }): Span => ({
      from: afterTick ?? 0,
      end: beforeTick ?? Infinity,
    }));
    const known = this.quiet.find((one) => !overlaps(one, lost));
    // Where none of them is known the next one, of which nobody kept more than that it is no longer.
    const longest = known ?? (this.quiet.length < MOST ? undefined : this.quiet.at(-1));
    return longest ? lengthOf(longest) : 0;
  }

  /** Nearly all of them are short: those make no object. */
  private pause(from: number, end: number): void {
    const { quiet } = this;
    if (this.untold.length > 0 && overlaps({ from, end }, this.untold)) return;
    this.watchedFor += end - from;
    const shortest = quiet.length < MOST ? 0 : lengthOf(quiet[MOST - 1]!);
    if (end - from <= shortest) return;
    const span = { from, end };
    const place = quiet.findIndex((one) => lengthOf(one) < lengthOf(span));
    quiet.splice(place < 0 ? quiet.length : place, 0, span);
    if (quiet.length > MOST) quiet.pop();
  }
}

const lengthOf = ({ from, end }: Span): number => end - from;
const overlaps = ({ from, end }: Span, others: readonly Span[]): boolean =>
  others.some((other) => from < other.end && other.from < end);

const isCall = ({ kind }: HostSpan): boolean => kind !== 'NetPlugin' && kind !== 'unknown';
