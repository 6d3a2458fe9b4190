/**
 * Takes the events of a block, proves them, cuts them to the drawn part, and has them written.
 *
 * Rules for every caller: a track is described before its first event, its parent before it. Slices of one track are properly nested: an
 * end closes the innermost open slice of its track, and the caller names the slice it means. For each END the importer closes the innermost
 * one, even if another was meant, and swaps durations without a message. Times on one track never go back; at equal times ends come before
 * begins. Events of different tracks may come in any order; what comes in a few streams, each in order of time, costs the fewest bytes. A
 * violation is a bug of ours and stops the drawing.
 *
 * If only a part is drawn, no track needs to know windows. A slice that began before its window is drawn from the window's begin, with the
 * time cut off (`beforeWindowNs`). A slice that ends after the window is cut at its end (`afterWindowNs`). A slice that never ended stays
 * open. Counters and states enter the window with their values. Tracks without an event in their window are not described. A slice that
 * begins before the window is held until it certainly reaches into it. Then it is written at the window's begin.
 */

import { TallyRow } from '../result_rows';
import { ArgKind, Extra } from './extra';
import { describeTrack, isWatched } from './host';
import { EventType, Packets } from './packets';
import { Reason, refused } from './refused';
import { Ids } from './sequences';
import { Text } from './text';
import { Texts } from './texts';
import { OpenSlice, Track, TrackKind, What } from './tracks';
import { Detail, DETAILS, Window, Windows } from './windows';

/** The importer rejects more than 100 ancestors; process and group take two. */
const MAX_TRACK_DEPTH: i32 = 90;
/** The importer drops deeper slices. */
const MAX_DEPTH: i32 = 512;

export class Sink {
  readonly texts: Texts = new Texts();
  readonly packets: Packets;
  readonly tracks: Track[] = [];
  readonly tally: TallyRow = new TallyRow();
  /** null: everything is drawn. */
  windows: Windows | null = null;
  /** Arrows of the slices of a drawn part. Both ends of an arrow have the same id. */
  readonly flows: u64[] = [];

  /** Arguments and links of the next event. */
  private readonly next: Extra = new Extra();
  private readonly plain: Extra = new Extra();
  private root: f64 = 0;
  private slices: i32 = 0;
  private readonly step: Text = this.texts.fixed('step');

  constructor(
    readonly ids: Ids,
    internLimit: i32,
    private readonly named: f64,
  ) {
    this.packets = new Packets(ids, internLimit);
  }

  /** Before the first track. `root`: uuid of the track above all others; 0: none. */
  open(root: f64): void {
    this.root = root;
    this.packets.open();
  }

  /** After the last event. */
  close(): void {
    this.packets.out.flush();
  }

  /** Counted so far. */
  counts(): TallyRow {
    this.tally.bytes = this.packets.out.total;
    return this.tally;
  }

  // ---- tracks

  /** A track that the host describes. */
  addTrack(parent: Track | null, kind: TrackKind, detail: Detail, isInteger: bool): Track {
    const track = new Track(this.tracks.length, kind, isInteger, parent);
    this.tracks.push(track);
    if (parent !== null) track.depth = parent.depth + 1;
    if (track.depth > MAX_TRACK_DEPTH) refused(track, 0, Reason.TooDeep, track.depth);
    const windows = this.windows;
    if (windows === null) return track;
    if (detail == Detail.Inherited) track.detail = parent === null ? -1 : parent.detail;
    else if (detail != Detail.Always) track.detail = detail as i32;
    track.window = windows.of(
      detail == Detail.Always ? detail : track.detail < 0 ? Detail.Coll : (track.detail as Detail),
    );
    return track;
  }

  /** `a` to `d`: see `What`. */
  newTrack(
    parent: Track | null,
    kind: TrackKind,
    detail: Detail,
    what: What,
    a: f64 = 0,
    b: f64 = 0,
    c: f64 = 0,
    d: f64 = 0,
  ): Track {
    const track = this.addTrack(parent, kind, detail, kind == TrackKind.Counter && what != What.Rate);
    track.what = what;
    track.a = a;
    track.b = b;
    track.c = c;
    track.d = d;
    if (this.windows === null) this.describe(track);
    return track;
  }

  /** If everything is drawn, a track is described when it is made, else at its first event. Its parent is described first. */
  describe(track: Track): void {
    if (track.uuid != 0) return;
    const parent = track.parent;
    if (parent !== null) this.describe(parent);
    track.uuid = this.ids.nextUuid();
    const out = this.packets.out;
    const number = parent === null ? -1 : parent.number;
    const above = parent === null ? this.root : parent.uuid;
    const length = describeTrack(
      track.number,
      number,
      track.uuid,
      above,
      track.what as i32,
      track.a,
      track.b,
      track.c,
      track.d,
    );
    out.commit(out.end + <usize>length);
    track.isWatched = isWatched(track.number);
  }

  // ---- arguments and links of the next event

  @inline
  number(name: Text, value: f64): void {
    this.next.addNumber(name, value);
  }

  @inline
  text(name: Text, value: Text): void {
    this.next.add(name, ArgKind.Text, changetype<usize>(value));
  }

  @inline
  flag(name: Text, value: bool): void {
    this.next.add(name, ArgKind.Flag, value ? 1 : 0);
  }

  @inline
  long(name: Text, value: u64): void {
    this.next.add(name, ArgKind.Count, value);
  }

  @inline
  negative(name: Text, value: u64): void {
    this.next.add(name, ArgKind.Negative, value);
  }

  /** 0: none. */
  @inline
  correlate(correlation: f64): void {
    this.next.correlation = correlation;
  }

  @inline
  arrow(flow: u64): void {
    this.next.addFlow(flow);
  }

  // ---- events

  /** Returns the slice's number, for `end`. */
  begin(track: Track, at: f64, name: Text): i32 {
    const next = this.next;
    const window = track.window;
    if (track.holds && at >= window!.from && at <= window!.to) this.release(track);
    const slice = track.push();
    const id = this.slices++;
    slice.id = id;
    slice.at = at;
    slice.isWritten = false;
    if (this.windows === null) this.writeBegin(track, slice, at, name, next);
    else if (window !== null && window.from > at) hold(track, slice, name, next);
    else if (window !== null && at <= window.to) this.writePart(track, slice, at, name, next);
    next.clear();
    return id;
  }

  /** The arguments are merged with those of the begin. */
  @inline
  end(track: Track, at: f64, slice: i32): void {
    const place = track.openCount - 1;
    const innermost = place < 0 ? -1 : track.slice(place).id;
    if (innermost != slice) refused(track, at, Reason.NotInnermost, slice, innermost);
    this.endInnermost(track, at);
  }

  endInnermost(track: Track, at: f64): void {
    this.endWith(track, at, this.next);
  }

  /** Without the arguments, which belong to the event that follows. */
  endPlain(track: Track, at: f64): void {
    this.endWith(track, at, this.plain);
  }

  private endWith(track: Track, at: f64, extra: Extra): void {
    const window = track.window;
    const last = track.slice(track.openCount - 1);
    if (track.holds && last.at < window!.from && at > window!.from) this.release(track);
    track.openCount--;
    if (last.isWritten) {
      let end = at;
      if (window !== null && at > window.to) {
        extra.addNumber(this.texts.fixed('afterWindowNs'), at - window.to);
        end = window.to;
      }
      this.advance(track, end, TrackKind.Slices);
      track.pile = 0;
      track.written--;
      this.tally.openSlices -= 1;
      this.countTrack(track);
      this.packets.put(EventType.End, track, end, null, extra);
    }
    extra.clear();
  }

  instant(track: Track, at: f64, name: Text): void {
    const window = track.window;
    if (this.windows === null || (window !== null && window.has(at))) {
      if (track.holds) this.release(track);
      this.writeInstant(track, at, name);
    } else this.next.clear();
  }

  /** Also outside of its window. */
  writeInstant(track: Track, at: f64, name: Text): void {
    this.describe(track);
    if (at != track.lastAt) track.pile = 0;
    this.advance(track, at, TrackKind.Slices);
    // A file may have any number of records with one time. The importer would drop the rest.
    if (track.written + track.pile < MAX_DEPTH) {
      track.pile++;
      this.tally.slices += 1;
      this.tally.instants += 1;
      this.countTrack(track);
      this.packets.put(EventType.Instant, track, at, name, this.next);
    }
    this.next.clear();
  }

  /** A slice within a step that ends when it begins: one packet, which the importer keeps as a slice without a duration. */
  brief(track: Track, at: f64, name: Text): void {
    if (this.windows !== null) {
      this.begin(track, at, name);
      return;
    }
    this.advance(track, at, TrackKind.Slices);
    this.tally.slices += 1;
    this.packets.put(EventType.Instant, track, at, name, this.next);
    this.next.clear();
  }

  /** Absolute value: a safe integer on tracks of integers, any finite number on others. */
  counter(track: Track, at: f64, value: f64): void {
    const isDrawn = this.windows === null || this.isInWindow(track, at);
    if (!isAfterWindow(track, at)) track.value = value;
    if (isDrawn) this.writeCounter(track, at, value);
  }

  /** Enters a state; null leaves the track without one. Repeating the current state writes nothing. */
  state(track: Track, at: f64, name: Text | null): void {
    const isDrawn = this.windows === null || this.isInWindow(track, at);
    if (!isAfterWindow(track, at)) track.valueState = name;
    if (isDrawn) this.writeState(track, at, name);
  }

  /** Call it after the last event of a drawn part. Slices that still wait reach into its window. */
  finish(): void {
    for (let i = 0; i < this.tracks.length; i++) {
      const track = this.tracks[i];
      const window = track.window;
      if (window === null) continue;
      if (track.holds) this.release(track);
      if (track.isPending) this.enter(track, window);
      const isInState = track.kind == TrackKind.State && track.uuid != 0 && track.valueState !== null;
      if (isInState && window.to != Infinity) this.writeState(track, window.to, null);
    }
  }

  // ---- a part

  /** For a new value of the track: whether it is drawn. Its value before is written where its window begins. */
  private isInWindow(track: Track, at: f64): bool {
    const window = track.window;
    if (window === null || at > window.to) return false;
    if (window.from > at) {
      track.isPending = true;
      return false;
    }
    if (at > window.from && track.isPending) this.enter(track, window);
    track.isPending = false;
    return true;
  }

  private enter(track: Track, window: Window): void {
    track.isPending = false;
    if (track.kind == TrackKind.Counter) this.writeCounter(track, window.from, track.value);
    else if (track.valueState !== null) this.writeState(track, window.from, track.valueState);
  }

  /** Writes the slices from before the window that are still open. */
  private release(track: Track): void {
    const from = track.window!.from;
    track.holds = false;
    for (let place = 0; place < track.openCount; place++) {
      const slice = track.slice(place);
      if (slice.isWritten || slice.at >= from) continue;
      const extra = changetype<Extra>(slice.extra);
      extra.addNumber(this.texts.fixed('beforeWindowNs'), from - slice.at);
      this.writePart(track, slice, from, changetype<Text>(slice.name), extra);
    }
  }

  private writePart(track: Track, slice: OpenSlice, at: f64, name: Text, extra: Extra): void {
    this.describe(track);
    slice.at = at;
    this.writeBegin(track, slice, at, name, extra);
    if (track.detail >= 0) this.countDetail(track.detail);
    for (let i = 0; i < extra.flowCount; i++) this.flows.push(extra.flows[i]);
  }

  private countDetail(detail: i32): void {
    assert(detail < DETAILS);
    const tally = this.tally;
    if (detail == Detail.Step) tally.step += 1;
    else if (detail == Detail.Op) tally.op += 1;
    else tally.coll += 1;
  }

  // ---- proofs

  private writeBegin(track: Track, slice: OpenSlice, at: f64, name: Text, extra: Extra): void {
    this.advance(track, at, TrackKind.Slices);
    track.pile = 0;
    if (track.written >= MAX_DEPTH) refused(track, at, Reason.TooManySlices, MAX_DEPTH);
    track.written++;
    slice.isWritten = true;
    if (track.isWatched) {
      slice.step = this.stepIn(extra);
      if (extra.correlation == this.named) track.hasNamed = true;
    }
    this.tally.slices += 1;
    this.tally.openSlices += 1;
    this.countTrack(track);
    this.packets.put(EventType.Begin, track, at, name, extra);
  }

  private stepIn(extra: Extra): f64 {
    for (let i = 0; i < extra.count; i++)
      if (extra.at(i).name == changetype<usize>(this.step)) return <f64>(<i64>extra.at(i).value);
    return NaN;
  }

  private writeCounter(track: Track, at: f64, value: f64): void {
    this.describe(track);
    this.advance(track, at, TrackKind.Counter);
    const isWhole = value == Math.floor(value) && abs(value) <= <f64>f64.MAX_SAFE_INTEGER;
    if (track.isInteger ? !isWhole : !isFinite(value)) refused(track, at, Reason.NoCount, value);
    this.tally.counterSamples += 1;
    this.countTrack(track);
    this.packets.putCounter(track, at, value);
  }

  private writeState(track: Track, at: f64, name: Text | null): void {
    this.describe(track);
    this.advance(track, at, TrackKind.State);
    if (name === track.state) return;
    track.state = name;
    if (name !== null) this.tally.states += 1;
    this.countTrack(track);
    this.packets.put(EventType.State, track, at, name, this.plain);
  }

  /** Checks every event of a track. */
  @inline
  private advance(track: Track, at: f64, kind: TrackKind): void {
    if (track.kind != kind || !(at >= track.lastAt) || at != Math.floor(at) || at > <f64>f64.MAX_SAFE_INTEGER)
      wrongEvent(track, at, kind);
    track.lastAt = at;
  }

  @inline
  private countTrack(track: Track): void {
    if (track.hasData) return;
    track.hasData = true;
    this.tally.tracksWithData += 1;
  }
}

function isAfterWindow(track: Track, at: f64): bool {
  const window = track.window;
  return window === null || at > window.to;
}

/** Keeps a slice from before its window. */
function hold(track: Track, slice: OpenSlice, name: Text, extra: Extra): void {
  track.holds = true;
  slice.name = changetype<usize>(name);
  if (slice.extra == 0) slice.extra = changetype<usize>(new Extra());
  changetype<Extra>(slice.extra).copy(extra);
}

/** Not in `advance`, which is inlined while it is short. */
function wrongEvent(track: Track, at: f64, kind: TrackKind): void {
  if (track.kind != kind) refused(track, at, Reason.WrongKind, kind);
  if (!(at >= 0) || at != Math.floor(at) || at > <f64>f64.MAX_SAFE_INTEGER) refused(track, at, Reason.NoTime);
  refused(track, at, Reason.GoesBack, track.lastAt);
}
