/**
 * How large the picture of a file would be, counted while its records are paired: what would be drawn, when it began, in
 * which communicator, and on how many tracks. The counts mirror src/tracks: each of these is one slice there,
 * but for operations whose end NCCL never tells: those are instants.
 */

import { mostAtOnce } from '../base/intervals.js';
import type { Ticks } from '../base/time.js';
import type { Communicator } from '../reader/types.js';
import { seenUntil } from '../model/stand_ins.js';
import type { HostSpan, Kernel, Op, Step, Work } from '../model/types.js';
import type { WorkEnd } from '../model/work_end.js';
import { belongsToNoComm, callComm } from '../tracks/selected_events.js';
import { NCCL_STEPS } from '../tracks/connections.js';
import { LaneNumbers } from '../tracks/lanes.js';
import { type Detail, commKey } from '../tracks/selection.js';
import { QuietConnections } from './quiet_connections.js';
import { TimeCounter, type TimeCounts } from './time_counts.js';

/** Kinds of what is drawn, and how deep each lies. */
export const DRAWN_KINDS = {
  call: 'coll',
  work: 'coll',
  op: 'op',
  kernel: 'op',
  ctrl: 'op',
  step: 'step',
  phase: 'step',
  net: 'step',
} as const satisfies Record<string, Detail>;
export type DrawnKind = keyof typeof DRAWN_KINDS;
const KINDS = Object.keys(DRAWN_KINDS) as DrawnKind[];

/** What belongs to no communicator: groups of calls, proxy threads. */
export const NO_COMM = '';
/** Of a communicator that is not known: left out as soon as communicators are selected. */
export const UNKNOWN_COMM = '?';

export interface CommSize {
  /** `commKey`, NO_COMM or UNKNOWN_COMM. */
  readonly comm: string;
  readonly counts: Readonly<Record<DrawnKind, TimeCounts>>;
  /** Of the operations those that are no slices: NCCL never tells their end (CollNet, memcpy). */
  readonly instants: TimeCounts;
  readonly tracks: Readonly<Record<Detail, number>>;
}

export interface FileSize {
  readonly comms: readonly CommSize[];
  /** Rings that hold calls and collectives: all that the detail 'coll' needs to read. */
  readonly callRings: ReadonlySet<number>;
  /** With counters of their own, each way. */
  readonly peers: number;
  /** Of which records are lost: drawn where. */
  readonly lossyRings: number;
}

export class SizeCounter {
  private readonly comms = new Map<Communicator | null, CommCounter>();
  private readonly free = new CommCounter(NO_COMM);
  private readonly callRings = new Set<number>();
  /** Whose events come in a row. */
  private lastComm: Communicator | null | undefined;
  private last = this.free;

  call(span: HostSpan, at: Ticks): void {
    const isWatched = span.kind === 'NetPlugin' || span.kind === 'unknown';
    const counter = belongsToNoComm(span) ? this.free : this.of(callComm(span));
    counter.add(isWatched ? 'net' : 'call', at);
    counter.track(isWatched ? 'step' : 'coll', `${span.ring}`);
    if (!isWatched) this.callRings.add(span.ring);
  }

  work({ comm, kind, ring, row }: Work, at: Ticks): void {
    const counter = this.of(comm);
    counter.add('work', at);
    counter.begun[kind].push(row, at);
    this.callRings.add(ring);
  }

  opStart(op: Op, at: Ticks): void {
    const counter = this.of(op.comm);
    counter.add('op', at);
    counter.opStart(op, at);
  }

  opAlive(op: Op): void {
    this.of(op.comm).opAlive(op);
  }

  opStop(op: Op): void {
    this.of(op.comm).opStop(op);
  }

  kernel({ comm, channel, phase }: Kernel, at: Ticks): void {
    const counter = this.of(comm);
    counter.add('kernel', at);
    counter.track('op', `kernel ${channel} ${phase === null}`);
  }

  ctrl(ring: number, at: Ticks): void {
    this.free.add('ctrl', at);
    this.free.track('op', `proxy ${ring}`);
  }

  step({ op }: Step, at: Ticks): void {
    this.of(op.comm).steps.add(at);
  }

  phase({ op }: Step, at: Ticks): void {
    this.of(op.comm).phases.add(at);
  }

  /** `ends`, `enqueued`: by row of work. `silent`: connections on which nothing ever showed a sign of life. */
  finish(
    ends: readonly WorkEnd[],
    enqueued: Float64Array,
    silent: ReadonlySet<string>,
    more: Pick<FileSize, 'peers' | 'lossyRings'>,
  ): FileSize {
    const until = (row: number): number => drawnUntil(ends[row]!, enqueued[row]!);
    const comms = [this.free, ...this.comms.values()].map((counter) => counter.finish(until, silent));
    return { comms, callRings: this.callRings, ...more };
  }

  private of(comm: Communicator | null): CommCounter {
    if (comm === this.lastComm) return this.last;
    const counter = this.lookUp(comm);
    this.lastComm = comm;
    this.last = counter;
    return counter;
  }

  private lookUp(comm: Communicator | null): CommCounter {
    let counter = this.comms.get(comm);
    if (!counter) {
      counter = new CommCounter(comm === null ? UNKNOWN_COMM : commKey(comm));
      this.comms.set(comm, counter);
    }
    return counter;
  }
}

/** One channel, direction and peer. */
interface Connection {
  /** Stand-ins: when they ended is known at the end only. */
  readonly standIns: Op[];
  /** The others, in the lowest lane that is free, as they are drawn. */
  readonly lanes: LaneNumbers;
  readonly laneOf: Map<Op, number>;
  /** By lane: of the operation with the most. */
  readonly slots: number[];
}

/** As a collective or send/receive is drawn, without what other processes executed of it. Infinity: left open. */
function drawnUntil({ outcome, lastOp, lastKernel, finalized }: WorkEnd, enqueued: number): number {
  if (outcome === 'complete' || outcome === 'aborted')
    return Math.max(lastOp ?? 0, lastKernel?.noticed ?? 0, finalized ?? 0);
  return outcome === 'open' || Number.isNaN(enqueued) ? Infinity : enqueued;
}

/** Beyond this they are not counted: bounds memory. */
const MOST_LANES = 1024;

function lanesOf(begun: readonly number[], until: (row: number) => number): number {
  const intervals = Array.from({ length: begun.length / 2 }, (_, i) => {
    const [row, start] = [begun[2 * i]!, begun[2 * i + 1]!];
    return { start, end: Math.max(start, until(row)) };
  });
  return mostAtOnce(intervals);
}

/** Of the steps that are in the file. */
const slotsOf = ({ stepsDone, openSteps }: Op): number => Math.min(stepsDone + openSteps.length, NCCL_STEPS);

/** By lane. */
function slotsOfStandIns(standIns: readonly Op[]): number[] {
  const lanes = new LaneNumbers();
  const open: { readonly lane: number; readonly end: number }[] = [];
  const slots: number[] = [];
  for (const op of [...standIns].sort((a, b) => a.start - b.start)) {
    for (let i = open.length - 1; i >= 0; i--)
      if (open[i]!.end <= op.start) lanes.release(open.splice(i, 1)[0]!.lane);
    const lane = lanes.acquire();
    open.push({ lane, end: seenUntil(op) ?? Infinity });
    slots[lane] = Math.max(slots[lane] ?? 0, slotsOf(op));
  }
  return slots;
}

class CommCounter {
  private readonly counters = Object.fromEntries(KINDS.map((kind) => [kind, new TimeCounter()])) as Record<
    DrawnKind,
    TimeCounter
  >;
  private readonly tracks: Readonly<Record<Detail, Set<string>>> = {
    coll: new Set(),
    op: new Set(),
    step: new Set(),
  };
  private readonly connections = new Map<number, Connection>();
  private readonly quiet = new QuietConnections();
  /** Row and start of each, in turn. They overlap where the host runs ahead: then they lie in lanes. */
  readonly begun: Readonly<Record<Work['kind'], number[]>> = { Coll: [], P2p: [] };
  /** The most frequent ones. */
  readonly steps = this.counters.step;
  readonly phases = this.counters.phase;

  constructor(private readonly comm: string) {}

  add(kind: DrawnKind, at: Ticks): void {
    this.counters[kind].add(at);
  }

  track(detail: Detail, name: string): void {
    this.tracks[detail].add(name);
  }

  opStart(op: Op, at: Ticks): void {
    if (op.lost) this.connectionOf(op).standIns.push(op);
    else if (!this.quiet.started(op, at)) this.takeLane(op);
  }

  opAlive(op: Op): void {
    for (const waiting of this.quiet.alive(op)) this.takeLane(waiting);
  }

  private takeLane(op: Op): void {
    const { lanes, laneOf, slots } = this.connectionOf(op);
    if (laneOf.size >= MOST_LANES) return;
    const lane = lanes.acquire();
    laneOf.set(op, lane);
    slots[lane] ??= 0;
  }

  opStop(op: Op): void {
    if (op.lost) return;
    const { lanes, laneOf, slots } = this.connectionOf(op);
    const lane = laneOf.get(op);
    if (lane === undefined) return;
    laneOf.delete(op);
    lanes.release(lane);
    slots[lane] = Math.max(slots[lane]!, slotsOf(op));
  }

  finish(until: (row: number) => number, silent: ReadonlySet<string>): CommSize {
    const { comm, counters, tracks, begun } = this;
    const works = lanesOf(begun.Coll, until) + lanesOf(begun.P2p, until);
    const { instants, instantTracks, waiting } = this.quiet.finish(silent);
    for (const op of waiting) this.takeLane(op);
    const life = comm === NO_COMM || comm === UNKNOWN_COMM ? 0 : 1;
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, counters[kind].finish()]));
    const connections = [...this.connections.values()].map(({ standIns, slots, laneOf }) => {
      for (const [op, lane] of laneOf) slots[lane] = Math.max(slots[lane]!, slotsOf(op));
      return [...slots, ...slotsOfStandIns(standIns)];
    });
    const lanes = connections.reduce((sum, { length }) => sum + length, 0);
    const slots = connections.flat().reduce((sum, slots) => sum + slots, 0);
    return {
      comm,
      counts: counts as Record<DrawnKind, TimeCounts>,
      instants,
      tracks: {
        coll: tracks.coll.size + life + works,
        op: tracks.op.size + lanes + instantTracks,
        step: tracks.step.size + slots,
      },
    };
  }

  private connectionOf({ channel, isSend, peer, lost }: Op): Connection {
    const key = ((peer & 0x3fffff) * 512 + (channel & 0xff) * 2 + (isSend ? 1 : 0)) * 2 + (lost ? 1 : 0);
    let connection = this.connections.get(key);
    if (!connection) {
      connection = {
        standIns: [],
        lanes: new LaneNumbers(),
        laneOf: new Map<Op, number>(),
        slots: [],
      };
      this.connections.set(key, connection);
    }
    return connection;
  }
}
