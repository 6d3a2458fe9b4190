/** Tracks of a block, and the slices that are open on them. */

import { Text } from './text';
import { Window } from './windows';

export const enum TrackKind {
  Group,
  Slices,
  State,
  Counter,
}

/** What a track shows, and the numbers that name it (src/trace/tracks/specs.ts). A communicator is named by its number; -1: not known. */
export const enum What {
  /** The host described it. */
  OfHost,
  /** Group of a communicator: its number. */
  Comm,
  /** Operations for another process: the group's place, pid, high and low half of the context. */
  Foreign,
  /** Works: communicator, whether they are collectives, lane. */
  Works,
  /** Operations: communicator, channel and peer, lane and direction (`Direction` of connection.ts). */
  Ops,
  /** A slot of steps: its number. */
  Slot,
  /** Blocks of kernels, or phases: communicator, channel, whether they are phases, lane. */
  Blocks,
  HostThreads,
  /** Calls of a thread: its ring, its place, its lease (-1: none, -2: many one after the other), lane and kind (host_threads.ts). */
  Calls,
  ProxyThread,
  /** Bytes, and their rate: the peer's place among the busiest; -1 all that were sent, -2 all that were received. */
  Bytes,
  Rate,
  WorksInFlight,
  OpsInFlight,
  OddRecords,
}

@unmanaged
export class OpenSlice {
  id: i32;
  isWritten: bool;
  /** When it began, or its window. */
  at: f64;
  /** Its argument `step`, on a watched track; NaN: none. */
  step: f64;
  /** Of a slice that waits for its window: its name (Text), and a copy of its arguments (Extra), whose memory the row keeps. */
  name: usize;
  extra: usize;
}

const FIRST_SLICES: i32 = 4;

export class Track {
  what: What = What.OfHost;
  a: f64 = 0;
  b: f64 = 0;
  c: f64 = 0;
  d: f64 = 0;
  /** 0: not described yet. */
  uuid: f64 = 0;
  /** Below the process or the root. */
  depth: i32 = 0;
  lastAt: f64 = 0;
  /** Number of instants at `lastAt`. The importer treats them as nested slices. */
  pile: i32 = 0;
  state: Text | null = null;
  hasData: bool = false;
  /** The first screen may show it. */
  isWatched: bool = false;
  /** On a watched track: a slice of the named call began here (`Sink.named`). */
  hasNamed: bool = false;
  /** How many slices are open, and how many of them are written. */
  openCount: i32 = 0;
  written: i32 = 0;

  /** null: nothing of its detail is drawn, or everything is (sink.ts). */
  window: Window | null = null;
  /** Below 0: the recording's own tracks. They are drawn as long as collectives, and not counted. */
  detail: i32 = -1;
  /** A slice waits for the window. */
  holds: bool = false;
  /** The track's value before its window begins, or the newest one. */
  value: f64 = 0;
  valueState: Text | null = null;
  isPending: bool = false;

  private slices: usize = 0;
  private room: i32 = 0;

  constructor(
    readonly number: i32,
    readonly kind: TrackKind,
    /** A counter of bytes or things. */
    readonly isInteger: bool,
    readonly parent: Track | null,
  ) {}

  @inline
  slice(place: i32): OpenSlice {
    return changetype<OpenSlice>(this.slices + <usize>place * offsetof<OpenSlice>());
  }

  @inline
  push(): OpenSlice {
    if (this.openCount == this.room) this.grow();
    return this.slice(this.openCount++);
  }

  private grow(): void {
    const room = max(FIRST_SLICES, 2 * this.room);
    const larger = heap.alloc(<usize>room * offsetof<OpenSlice>());
    memory.fill(larger, 0, <usize>room * offsetof<OpenSlice>());
    memory.copy(larger, this.slices, <usize>this.room * offsetof<OpenSlice>());
    this.slices = larger;
    this.room = room;
  }
}
