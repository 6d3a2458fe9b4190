/**
 * Host threads: the nested calls of each thread (GroupApi, CollApi, P2pApi, KernelLaunch, Group, CeColl...). Calls on one thread are
 * synchronous, so a call that starts while another is open lies within it. If callbacks contradict this (the outer call ends first), the
 * inner slice is cut at the end of the outer one and continued on another lane. So no time is lost and no slices overlap.
 *
 * Events that a thread only observes (a network plugin's transfers), and unknown events, may overlap. They have tracks of their own, with
 * as many lanes as needed.
 */

import { firstIndex } from '../../base/first_index.js';
import type { TraceNs } from '../../base/time.js';
import type { HostKind, HostSpan } from '../../model/types.js';
import type { Lease } from '../../model/recording.js';
import { RANK_ORDER } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { hostArgs, hostName } from './host_labels.js';
import { copyCorrelation } from '../../model/identity.js';
import { LaneNumbers } from '../../base/lane_numbers.js';
import { laneName } from './lanes.js';
import type { Args, SliceRef, TrackRef } from './sink.js';

interface OpenSpan {
  readonly span: HostSpan;
  slice: SliceRef;
}

/** One row: the open calls, outermost first. */
interface Lane {
  readonly number: number;
  readonly track: TrackRef;
  readonly stack: OpenSpan[];
}

interface HostThread {
  readonly lanes: Lane[];
  /** Lanes with open calls, and the first one. */
  readonly taken: LaneNumbers;
  /** Where each open call is. */
  readonly laneOf: Map<HostSpan, Lane>;
  readonly describe: (lane: number) => TrackRef;
  /** Threads share an overflow ring, or spans are parallel. Then only a parent encloses a span. */
  readonly shared: boolean;
}

interface Watched {
  /** Prefix of the thread's name. */
  readonly name: string;
  readonly description: string;
}

/** Observed kinds. All others are calls. */
const WATCHED: Readonly<Partial<Record<HostKind, Watched>>> = {
  NetPlugin: {
    name: 'net',
    description:
      'Requests of the network plugin that this thread drives (queue pairs, sockets), as the plugin ' +
      'reported them. If they overlap, there are further lanes (·2, ·3).',
  },
  unknown: {
    name: 'unknown events of',
    description:
      'Events of a type that this version of nccl-trace does not know, because NCCL is newer. If they ' +
      'overlap, there are further lanes.',
  },
};

const CALLS =
  'Calls of this thread into NCCL and its kernel launches, nested as they were made. They show when work ' +
  'was enqueued, not when it was done.';

/** Non-blocking communicators have a thread per launch. If a ring has more threads than this, they share one track. */
const MOST_THREADS = 16;

export class HostTracks {
  private group: TrackRef | undefined;
  private readonly threads = new Map<string, HostThread>();
  /** In order of time. */
  private readonly leasesByRing = new Map<number, readonly Lease[]>();
  /** The result of the last look-up, because calls come in bursts. */
  private last: {
    readonly ring: number;
    readonly lease: Lease | undefined;
    readonly thread: HostThread;
  } | null = null;

  constructor(private readonly context: TrackContext) {}

  start(span: HostSpan, at: TraceNs): void {
    const thread = this.threadOf(span);
    this.closeForgotten(thread, span, at);
    this.push(thread, chooseLane(thread, span), span, at, this.args(span));
  }

  stop(span: HostSpan, at: TraceNs): void {
    const thread = this.threadOf(span);
    const lane = thread.laneOf.get(span);
    // Its slice was ended already.
    if (!lane) return;
    const depth = depthOf(lane, span);
    const inner = lane.stack.splice(depth + 1);
    for (const open of inner.reverse())
      this.context.sink.end(lane.track, at, open.slice, { args: [['cut', true]] });
    this.pop(thread, lane, at);
    for (const open of inner.reverse()) {
      this.push(thread, newLane(thread), open.span, at, [['continued', true], ...this.args(open.span)]);
    }
  }

  /** No call nests in one of its own kind on one thread, so the earlier one's stop is missing. */
  private closeForgotten(thread: HostThread, span: HostSpan, at: TraceNs): void {
    if (thread.shared) return;
    for (const lane of thread.lanes) {
      if (lane.stack.length === 0) continue;
      const same = lane.stack.find((open) => open.span.kind === span.kind);
      while (same && lane.stack.includes(same)) {
        this.pop(thread, lane, at, [['stop', 'not recorded']]);
      }
    }
  }

  private push(thread: HostThread, lane: Lane, span: HostSpan, at: TraceNs, args: Args): void {
    const correlation = copyCorrelation(span);
    const slice = this.context.sink.begin(lane.track, at, hostName(span), { args, correlation });
    lane.stack.push({ span, slice });
    thread.laneOf.set(span, lane);
  }

  private pop(thread: HostThread, lane: Lane, at: TraceNs, args?: Args): void {
    const open = lane.stack.pop()!;
    thread.laneOf.delete(open.span);
    if (lane.stack.length === 0 && lane.number > 0) thread.taken.release(lane.number);
    this.context.sink.end(lane.track, at, open.slice, { args });
  }

  private args(span: HostSpan): Args {
    const args = hostArgs(span, span.apiRow >= 0 && this.context.isBareCall(span.apiRow));
    if (!this.isShortLived(span.ring)) return args;
    const lease = leaseAt(this.leasesOf(span.ring), span);
    return lease ? [...args, ['tid', lease.tid]] : args;
  }

  private isShortLived(ring: number): boolean {
    return this.leasesOf(ring).length > MOST_THREADS;
  }

  private leasesOf(ring: number): readonly Lease[] {
    let leases = this.leasesByRing.get(ring);
    if (!leases) {
      leases = this.context.file.leases
        .filter((lease) => lease.ring === ring)
        .sort((a, b) => a.fromTick - b.fromTick);
      this.leasesByRing.set(ring, leases);
    }
    return leases;
  }

  private threadOf(span: HostSpan): HostThread {
    const lease = leaseAt(this.leasesOf(span.ring), span);
    const watched = WATCHED[span.kind];
    if (watched !== undefined) return this.findThread(span, lease, watched);
    const { last } = this;
    if (last?.ring === span.ring && last.lease === lease) return last.thread;
    const thread = this.findThread(span, lease, watched);
    this.last = { ring: span.ring, lease, thread };
    return thread;
  }

  private findThread(span: HostSpan, lease: Lease | undefined, watched: Watched | undefined): HostThread {
    const { file } = this.context;
    const shortLived = this.isShortLived(span.ring);
    const key = `${span.ring} ${shortLived ? '' : (lease?.fromPosition ?? '')} ${watched?.name ?? ''}`;
    let thread = this.threads.get(key);
    if (!thread) {
      const isOverflow = file.rings.find((ring) => ring.ring === span.ring)?.class === 'overflow';
      const title = shortLived
        ? `${lease?.threadName ?? 'threads'}, ${this.leasesOf(span.ring).length} threads one after the other`
        : threadTitle(span.ring, lease, isOverflow);
      const name = watched === undefined ? title : `${watched.name} ${title}`;
      thread = this.newThread(name, isOverflow, watched);
      this.threads.set(key, thread);
    }
    return thread;
  }

  private newThread(name: string, isOverflow: boolean, watched: Watched | undefined): HostThread {
    const { sink } = this.context;
    const order = this.threads.size;
    this.group ??= sink.describe({
      kind: 'group',
      name: 'host threads',
      rank: RANK_ORDER.hostThreads,
      description: 'Calls into NCCL and kernel launches, per thread.',
    });
    const parent = this.group;
    const description = watched?.description ?? CALLS;
    return {
      lanes: [],
      taken: new LaneNumbers(),
      laneOf: new Map(),
      shared: isOverflow || watched !== undefined,
      describe: (lane) =>
        sink.describe({
          kind: 'slices',
          detail: watched ? 'step' : 'coll',
          name: laneName(name, lane),
          parent,
          rank: order * 64 + Math.min(lane, 63),
          description,
        }),
    };
  }
}

/** -1: it is not there. Nearly always the innermost. */
function depthOf({ stack }: Lane, span: HostSpan): number {
  let depth = stack.length - 1;
  while (depth >= 0 && stack[depth]!.span !== span) depth--;
  return depth;
}

function newLane(thread: HostThread): Lane {
  const number = thread.taken.acquire();
  return (thread.lanes[number] ??= { number, track: thread.describe(number), stack: [] });
}

function chooseLane(thread: HostThread, span: HostSpan): Lane {
  const [first] = thread.lanes;
  if (first && (!thread.shared || first.stack.length === 0)) return first;
  const { parent } = span;
  const lane = parent && thread.laneOf.get(parent);
  return lane?.stack.at(-1)?.span === parent ? lane : newLane(thread);
}

/** `leases`: of its ring, in order of time. A thread has a ring to itself, so the newest one before the call counts. */
function leaseAt(leases: readonly Lease[], { start }: HostSpan): Lease | undefined {
  const lease = leases[firstIndex(leases.length, (i) => leases[i]!.fromTick > start) - 1];
  return lease === undefined || (lease.endTick !== null && lease.endTick < start) ? undefined : lease;
}

function threadTitle(ring: number, lease: Lease | undefined, isOverflow: boolean): string {
  if (isOverflow) return 'threads without a ring of their own';
  return lease ? `${lease.threadName} ${lease.tid}` : `thread of ring ${ring}`;
}
