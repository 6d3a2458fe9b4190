/**
 * Checks that slices nest as the writer means, before the bytes are written. For each END the importer closes the innermost open slice,
 * even if another was meant, and swaps durations without a message. So each end names its slice, and times never go back. A violation is a
 * bug of ours and stops the writing.
 */

import { BugError } from '../../base/assert.js';
import type { TraceNs } from '../../base/time.js';
import type { SliceRef, TrackSpec } from '../tracks/sink.js';

/** The importer drops deeper slices. */
const MAX_DEPTH = 512;

export interface Track {
  readonly name: string;
  readonly kind: TrackSpec['kind'];
  /** Below the process or the root. */
  readonly depth: number;
  readonly uuid: number;
  /** A counter of bytes or things. */
  readonly isInteger: boolean;
  /** Innermost last. */
  readonly open: SliceRef[];
  /** On a track of steps: 1 in a step, 2 in a phase of it. */
  stepDepth: number;
  lastAt: number;
  /** Number of instants at `lastAt`. The importer treats them as nested slices. */
  pile: number;
  state: string | null;
  hasData: boolean;
}

export class Nesting {
  openSlices = 0;
  private slices = 0;

  begin(track: Track, at: TraceNs): SliceRef {
    this.advance(track, at, 'slices');
    track.pile = 0;
    if (track.open.length >= MAX_DEPTH) throw broken(track, at, `more than ${MAX_DEPTH} slices deep`);
    const slice = this.slices++ as SliceRef;
    track.open.push(slice);
    this.openSlices++;
    return slice;
  }

  end(track: Track, at: TraceNs, slice: SliceRef): void {
    this.advance(track, at, 'slices');
    track.pile = 0;
    const innermost = track.open.pop();
    if (innermost !== slice) {
      throw broken(track, at, `ends slice ${slice}, the innermost open one is ${innermost ?? 'none'}`);
    }
    this.openSlices--;
  }

  /** Returns whether the importer would keep it. A file may have any number of records with one time. */
  instant(track: Track, at: TraceNs): boolean {
    if (at !== track.lastAt) track.pile = 0;
    this.advance(track, at, 'slices');
    if (track.open.length + track.pile >= MAX_DEPTH) return false;
    track.pile++;
    return true;
  }

  counter(track: Track, at: TraceNs, value: number): void {
    this.advance(track, at, 'counter');
    const isFit = track.isInteger ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (!isFit) throw broken(track, at, `cannot count ${value}`);
  }

  /** Returns whether the state is new. A repeated one is checked, but is no event. */
  state(track: Track, at: TraceNs, name: string | null): boolean {
    this.advance(track, at, 'state');
    if (name === '') throw broken(track, at, 'a state without a name; null leaves the track without one');
    const isNew = name !== track.state;
    track.state = name;
    return isNew;
  }

  /** Checks every event of a track. */
  advance(track: Track, at: TraceNs, kind: TrackSpec['kind']): void {
    if (track.kind !== kind || !(at >= track.lastAt) || !Number.isSafeInteger(at))
      throw refused(track, at, kind);
    track.lastAt = at;
  }
}

/** Track of a TrackRef. */
export function trackOf(tracks: readonly Track[], ref: number): Track {
  const track = tracks[ref];
  if (track === undefined) throw new BugError(`track ${ref} was never described`);
  return track;
}

/** Not in `advance`, which V8 inlines only while it is short. */
function refused(track: Track, at: number, kind: TrackSpec['kind']): BugError {
  if (track.kind !== kind) return broken(track, at, `an event of a ${kind} track on a ${track.kind} track`);
  if (!Number.isSafeInteger(at) || at < 0) return broken(track, at, 'not a time of this trace');
  return broken(track, at, `earlier than the track's last event at ${track.lastAt}`);
}

const broken = (track: Track, at: number, what: string): BugError =>
  new BugError(`track "${track.name}" at ${at} ns: ${what}`);
