/**
 * When a process last did anything with NCCL, and its longest pauses before: the pace of its job. Every call counts, also one without
 * further events. Polls and heartbeats do not count.
 */

import type { Ticks } from '../base/time.js';
import type { Span } from './control.js';
import type { HostSpan } from './host_span.js';
import type { Gap } from './recording.js';

/** The first pauses are the job's start: connecting, loading, compiling. */
const START_UP = 2;

/** Several pauses are kept, because records may turn out to be lost in some of them. */
const MOST = 16;

export class QuietTimes {
  /** NaN: never. */
  private newest = NaN;
  /** Longest first. */
  private readonly quiet: Span[] = [];
  /** Pauses up to this length are not kept. */
  private shortest = 0;
  private watchedFor = 0;
  private calls = 0;
  private works = 0;

  /** `unrecorded`: spans in which fewer calls were recorded, so a pause there proves nothing (control.ts). */
  constructor(private readonly unrecorded: readonly Span[] = []) {}

  /** A start or an end of any work, operation or kernel. In order. */
  moved(at: Ticks): void {
    const paused = at - this.newest;
    if (this.calls >= START_UP || this.works >= START_UP) {
      // Nearly all pauses are short.
      if (paused <= this.shortest && this.unrecorded.length === 0) this.watchedFor += paused;
      else this.pause(this.newest, at);
    }
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
    return Number.isNaN(this.newest) ? null : (this.newest as Ticks);
  }

  /** Ticks: length of the time in which pauses are known, without the job's start. */
  watched(gaps: readonly Gap[]): number {
    const lost = spansOf(gaps);
    return this.quiet.reduce(
      (rest, one) => (overlaps(one, lost) ? rest - lengthOf(one) : rest),
      this.watchedFor,
    );
  }

  /** Ticks, without the job's start. A pause in which records are lost (`gaps`) does not count. */
  longest(gaps: readonly Gap[]): number {
    const lost = spansOf(gaps);
    const known = this.quiet.find((one) => !overlaps(one, lost));
    // If records are lost in all kept pauses, the longest known one is at most as long as the shortest of them.
    const longest = known ?? (this.quiet.length < MOST ? undefined : this.quiet.at(-1));
    return longest ? lengthOf(longest) : 0;
  }

  private pause(from: number, end: number): void {
    const { quiet } = this;
    if (this.unrecorded.length > 0 && overlaps({ from, end }, this.unrecorded)) return;
    this.watchedFor += end - from;
    if (end - from <= this.shortest) return;
    const span = { from, end };
    const place = quiet.findIndex((one) => lengthOf(one) < lengthOf(span));
    quiet.splice(place < 0 ? quiet.length : place, 0, span);
    if (quiet.length > MOST) quiet.pop();
    if (quiet.length === MOST) this.shortest = lengthOf(quiet[MOST - 1]!);
  }
}

const lengthOf = ({ from, end }: Span): number => end - from;
const overlaps = ({ from, end }: Span, others: readonly Span[]): boolean =>
  others.some((other) => from < other.end && other.from < end);

const isCall = ({ kind }: HostSpan): boolean => kind !== 'NetPlugin' && kind !== 'unknown';

const spansOf = (gaps: readonly Gap[]): Span[] =>
  gaps.map(({ afterTick, beforeTick }) => ({ from: afterTick ?? 0, end: beforeTick ?? Infinity }));
