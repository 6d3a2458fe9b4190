/**
 * When a process last did anything with NCCL, and its longest pauses before: the pace of its job. Every call counts, also one without
 * further events. Polls and heartbeats do not count.
 */

import { Host } from './event';
import { QuietRow, SpanRow } from './result_rows';

/** The first pauses are the job's start: connecting, loading, compiling. */
const START_UP: i32 = 2;
/** Several pauses are kept, because records may turn out to be lost in some of them. */
const MOST: i32 = 16;

export class Span extends SpanRow {
  constructor(from: f64, end: f64) {
    super();
    this.from = from;
    this.end = end;
  }

  get length(): f64 {
    return this.end - this.from;
  }
}

export class QuietTimes extends QuietRow {
  /** Longest first. */
  readonly quiet: Span[] = [];
  /** Spans in which fewer calls were recorded, so a pause there proves nothing. */
  readonly unrecorded: Span[] = [];
  /** Pauses up to this length are not kept. */
  private shortest: f64 = 0;
  private calls: i32 = 0;
  private works: i32 = 0;

  /** A start or an end of any work, operation or block. In order. */
  moved(at: f64): void {
    const paused = at - this.newest;
    if (this.calls >= START_UP || this.works >= START_UP) {
      // Nearly all pauses are short.
      if (paused <= this.shortest && this.unrecorded.length == 0) this.watchedFor += paused;
      else this.pause(this.newest, at);
    }
    this.newest = at;
  }

  workStarted(at: f64): void {
    this.moved(at);
    this.works++;
  }

  hostStarted(host: Host, at: f64): void {
    if (host.isWatched) return;
    this.moved(at);
    if (host.apiRow >= 0) this.calls++;
  }

  hostStopped(host: Host, at: f64): void {
    if (!host.isWatched) this.moved(at);
  }

  private pause(from: f64, end: f64): void {
    const quiet = this.quiet;
    if (this.isUnrecorded(from, end)) return;
    this.watchedFor += end - from;
    if (end - from <= this.shortest) return;
    let place = 0;
    while (place < quiet.length && quiet[place].length >= end - from) place++;
    quiet.push(new Span(from, end));
    for (let i = quiet.length - 1; i > place; i--) {
      const later = quiet[i];
      quiet[i] = quiet[i - 1];
      quiet[i - 1] = later;
    }
    if (quiet.length > MOST) quiet.pop();
    if (quiet.length == MOST) this.shortest = quiet[MOST - 1].length;
  }

  private isUnrecorded(from: f64, end: f64): bool {
    for (let i = 0; i < this.unrecorded.length; i++)
      if (from < this.unrecorded[i].end && this.unrecorded[i].from < end) return true;
    return false;
  }
}
