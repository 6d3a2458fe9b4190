/**
 * Host threads: the nested calls of each thread (GroupApi, CollApi, P2pApi, KernelLaunch, Group, CeColl...). Calls on one thread are
 * synchronous, so a call that starts while another is open lies within it. If callbacks contradict this (the outer call ends first), the
 * inner slice is cut at the end of the outer one and continued on another lane. So no time is lost and no slices overlap.
 *
 * Events that a thread only observes (a network plugin's transfers), and unknown events, may overlap. They have tracks of their own, with
 * as many lanes as needed.
 */

import { Host, HostKind } from '../event';
import { LaneNumbers } from '../lanes';
import { MAX_RINGS } from '../numbers';
import { hold, letGo } from '../rows';
import { HostLabels } from './host_labels';
import { Sink } from './sink';
import { Track, TrackKind, What } from './tracks';
import { Detail } from './windows';

/** A thread had a ring for some time. Several may have it one after the other. */
export class Lease {
  constructor(
    /** In the file's table. */
    readonly number: i32,
    readonly from: f64,
    /** NaN: it has not ended. */
    readonly end: f64,
    readonly position: f64,
    readonly tid: f64,
  ) {}
}

/** Non-blocking communicators have a thread per launch. If a ring has more threads than this, they share one track. */
const MOST_THREADS: i32 = 16;
/** In place of a lease: none. All of a ring: this and less, by the one of the first call (-1 - its number). */
const NO_LEASE: i32 = -1;
const ALL_LEASES: i32 = -2;

/** What a thread's tracks show (src/trace/tracks/specs.ts). */
const enum Shows {
  Calls,
  Net,
  Unknown,
}

/** A call, or the end of a group of calls. */
class OpenSpan {
  slice: i32 = 0;

  constructor(
    public host: Host,
    public isGroupEnd: bool,
  ) {}
}

/** One row: the open calls, outermost first. */
class HostLane {
  readonly stack: OpenSpan[] = [];

  constructor(
    readonly number: i32,
    readonly track: Track,
  ) {}
}

class HostThread {
  readonly lanes: HostLane[] = [];
  /** Lanes with open calls, and the first one. */
  readonly taken: LaneNumbers = new LaneNumbers();

  constructor(
    readonly ring: i32,
    /** In order of first use. */
    readonly place: i32,
    readonly lease: i32,
    readonly shows: Shows,
    /** Threads share an overflow ring, or spans are parallel. Then only a parent encloses a span. */
    readonly isShared: bool,
  ) {}
}

export class HostThreads {
  private readonly labels: HostLabels;
  private group: Track | null = null;
  private readonly threads: Map<u64, HostThread> = new Map<u64, HostThread>();
  /** By ring, in order of time. */
  private readonly leases: StaticArray<Lease[] | null> = new StaticArray<Lease[] | null>(MAX_RINGS + 1);
  /** Rings that threads share, as bits. */
  overflowRings: u64 = 0;
  /** Calls without further events, by row. */
  readonly bareCalls: Set<i32> = new Set<i32>();
  private readonly free: OpenSpan[] = [];

  constructor(private readonly sink: Sink) {
    this.labels = new HostLabels(sink);
  }

  /** In order of time. */
  addLease(ring: i32, lease: Lease): void {
    const known = this.leases[ring];
    if (known === null) this.leases[ring] = [lease];
    else known.push(lease);
  }

  /** `isGroupEnd`: from state 24 of a GroupApi to its stop, the outermost ncclGroupEnd. */
  started(host: Host, isGroupEnd: bool, at: f64): void {
    const thread = this.threadOf(host, isGroupEnd);
    if (!thread.isShared) this.closeForgotten(thread, host, isGroupEnd, at);
    const lane = this.chooseLane(thread, host, isGroupEnd);
    hold(host);
    this.push(thread, lane, this.newSpan(host, isGroupEnd), false, at);
  }

  stopped(host: Host, isGroupEnd: bool, at: f64): void {
    const thread = this.threadOf(host, isGroupEnd);
    const lane = this.laneOf(thread, host, isGroupEnd);
    // Its slice was ended already.
    if (lane === null) return;
    const stack = lane.stack;
    const depth = depthOf(lane, host, isGroupEnd);
    const inner: OpenSpan[] | null = depth + 1 < stack.length ? stack.splice(depth + 1) : null;
    if (inner !== null)
      for (let i = inner.length - 1; i >= 0; i--) {
        this.sink.flag(this.sink.texts.fixed('cut'), true);
        this.sink.end(lane.track, at, inner[i].slice);
      }
    this.pop(thread, lane, at);
    if (inner !== null)
      for (let i = 0; i < inner.length; i++) this.push(thread, this.newLane(thread), inner[i], true, at);
  }

  /** No call nests in one of its own kind on one thread, so the earlier one's stop is missing. */
  private closeForgotten(thread: HostThread, host: Host, isGroupEnd: bool, at: f64): void {
    for (let i = 0; i < thread.lanes.length; i++) {
      const lane = thread.lanes[i];
      const stack = lane.stack;
      let same = 0;
      while (same < stack.length && !isKind(stack[same], host.kind, isGroupEnd)) same++;
      while (stack.length > same) {
        this.sink.text(this.sink.texts.fixed('stop'), this.sink.texts.fixed('not recorded'));
        this.pop(thread, lane, at);
      }
    }
  }

  private push(thread: HostThread, lane: HostLane, open: OpenSpan, isContinued: bool, at: f64): void {
    const sink = this.sink;
    const host = open.host;
    if (isContinued) sink.flag(sink.texts.fixed('continued'), true);
    this.labels.addArgs(host, open.isGroupEnd, host.apiRow >= 0 && this.bareCalls.has(host.apiRow));
    if (thread.lease <= ALL_LEASES) {
      const lease = this.leaseAt(host, open.isGroupEnd);
      if (lease !== null) sink.number(sink.texts.fixed('tid'), lease.tid);
    }
    sink.correlate(this.labels.correlationOf(host, open.isGroupEnd));
    open.slice = sink.begin(lane.track, at, this.labels.nameOf(host, open.isGroupEnd));
    lane.stack.push(open);
  }

  private pop(thread: HostThread, lane: HostLane, at: f64): void {
    const open = lane.stack.pop();
    if (lane.stack.length == 0 && lane.number > 0) thread.taken.release(lane.number);
    this.sink.end(lane.track, at, open.slice);
    letGo(open.host);
    this.free.push(open);
  }

  private newSpan(host: Host, isGroupEnd: bool): OpenSpan {
    if (this.free.length == 0) return new OpenSpan(host, isGroupEnd);
    const open = this.free.pop();
    open.host = host;
    open.isGroupEnd = isGroupEnd;
    return open;
  }

  private chooseLane(thread: HostThread, host: Host, isGroupEnd: bool): HostLane {
    const lanes = thread.lanes;
    if (lanes.length > 0 && (!thread.isShared || lanes[0].stack.length == 0)) return lanes[0];
    const parent = isGroupEnd ? host.key : host.parentKey;
    if (parent >= 0)
      for (let i = 0; i < lanes.length; i++) {
        const stack = lanes[i].stack;
        if (stack.length == 0) continue;
        const innermost = stack[stack.length - 1];
        if (innermost.host.key == parent && !innermost.isGroupEnd) return lanes[i];
      }
    return this.newLane(thread);
  }

  private newLane(thread: HostThread): HostLane {
    const number = thread.taken.acquire();
    while (thread.lanes.length <= number) {
      const next = thread.lanes.length;
      const numbers = (next << 2) | (thread.shows as i32);
      const track = this.sink.newTrack(
        this.group,
        TrackKind.Slices,
        thread.shows == Shows.Calls ? Detail.Coll : Detail.Step,
        What.Calls,
        thread.ring,
        thread.place,
        thread.lease,
        numbers,
      );
      thread.lanes.push(new HostLane(next, track));
    }
    return thread.lanes[number];
  }

  private laneOf(thread: HostThread, host: Host, isGroupEnd: bool): HostLane | null {
    for (let i = 0; i < thread.lanes.length; i++)
      if (depthOf(thread.lanes[i], host, isGroupEnd) >= 0) return thread.lanes[i];
    return null;
  }

  private threadOf(host: Host, isGroupEnd: bool): HostThread {
    const shows: Shows =
      host.kind == HostKind.NetPlugin
        ? Shows.Net
        : host.kind == HostKind.Unknown
          ? Shows.Unknown
          : Shows.Calls;
    const leases = this.leases[host.ring];
    const isShortLived = leases !== null && leases.length > MOST_THREADS;
    const lease = this.leaseAt(host, isGroupEnd);
    const position: u64 = isShortLived || lease === null ? 0 : <u64>lease.position + 1;
    const key = (position << 8) | ((<u64>host.ring) << 2) | (shows as u64);
    if (this.threads.has(key)) return this.threads.get(key);
    const own = lease === null ? NO_LEASE : lease.number;
    const number = isShortLived ? ALL_LEASES - 1 - own : own;
    const isOverflow = ((this.overflowRings >> host.ring) & 1) != 0;
    const place = this.threads.size;
    const isShared = isOverflow || shows != Shows.Calls;
    const made = new HostThread(host.ring, place, number, shows, isShared);
    if (this.group === null)
      this.group = this.sink.newTrack(null, TrackKind.Group, Detail.Inherited, What.HostThreads);
    this.threads.set(key, made);
    return made;
  }

  /** A thread has a ring to itself, so the newest one before the call counts. */
  private leaseAt(host: Host, isGroupEnd: bool): Lease | null {
    const leases = this.leases[host.ring];
    if (leases === null) return null;
    const start = isGroupEnd ? host.ending : host.start;
    let low = 0;
    let high = leases.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (leases[middle].from > start) high = middle;
      else low = middle + 1;
    }
    if (low == 0) return null;
    const lease = leases[low - 1];
    return lease.end < start ? null : lease;
  }
}

/** -1: it is not there. Nearly always the innermost. */
function depthOf(lane: HostLane, host: Host, isGroupEnd: bool): i32 {
  const stack = lane.stack;
  let depth = stack.length - 1;
  while (depth >= 0 && (stack[depth].host !== host || stack[depth].isGroupEnd != isGroupEnd)) depth--;
  return depth;
}

function isKind(open: OpenSpan, kind: HostKind, isGroupEnd: bool): bool {
  return open.isGroupEnd == isGroupEnd && open.host.kind == kind;
}
