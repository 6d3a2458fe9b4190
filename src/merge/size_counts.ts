/**
 * How large the picture of a file would be, counted while its records are paired: what would be drawn, when it began, in
 * which communicator, and on how many tracks. The counts mirror src/tracks: each of these is one slice there.
 */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../reader/types.js';
import { mostAtOnce } from '../model/stand_ins.js';
import type { HostSpan, Kernel, Op, Step, Work } from '../model/types.js';
import { belongsToNoComm, callComm } from '../tracks/selected_events.js';
import { type Detail, commKey } from '../tracks/selection.js';
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
  readonly tracks: Readonly<Record<Detail, number>>;
}

export interface FileSize {
  readonly comms: readonly CommSize[];
  /** Rings that hold calls and collectives: all that the detail 'coll' needs to read. */
  readonly callRings: ReadonlySet<number>;
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

  work({ comm, kind, ring }: Work, at: Ticks): void {
    const counter = this.of(comm);
    counter.add('work', at);
    counter.track('coll', kind);
    this.callRings.add(ring);
  }

  opStart(op: Op, at: Ticks): void {
    const counter = this.of(op.comm);
    counter.add('op', at);
    counter.opStart(op);
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

  finish(): FileSize {
    const comms = [this.free, ...this.comms.values()].map((counter) => counter.finish());
    return { comms, callRings: this.callRings };
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

/** One channel, direction and peer: as many lanes as operations were under way at once, each with its slots. */
interface Connection {
  /** Stand-ins: when they ended is known at the end only. */
  readonly standIns: Op[];
  open: number;
  lanes: number;
  slots: number;
}

/** NCCL names the slots of a connection step % 8. */
const NCCL_STEPS = 8;

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

  opStart(op: Op): void {
    const connection = this.connectionOf(op);
    if (op.lost) connection.standIns.push(op);
    else connection.lanes = Math.max(connection.lanes, ++connection.open);
    // Of an operation whose start is lost nothing is known: all of them.
    const steps = op.lost ? NCCL_STEPS : Math.max(0, Math.min(op.nSteps, NCCL_STEPS));
    connection.slots = Math.max(connection.slots, steps);
  }

  opStop(op: Op): void {
    if (!op.lost) this.connectionOf(op).open--;
  }

  finish(): CommSize {
    const { comm, counters, tracks } = this;
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, counters[kind].finish()]));
    const connections = [...this.connections.values()].map(({ standIns, lanes, slots }) => ({
      lanes: Math.max(lanes, mostAtOnce(standIns)),
      slots,
    }));
    const lanes = connections.reduce((sum, connection) => sum + connection.lanes, 0);
    const slots = connections.reduce((sum, connection) => sum + connection.lanes * connection.slots, 0);
    const hasSteps = counts.step!.total > 0;
    return {
      comm,
      counts: counts as Record<DrawnKind, TimeCounts>,
      tracks: {
        coll: tracks.coll.size,
        op: tracks.op.size + lanes,
        step: tracks.step.size + (hasSteps ? slots : 0),
      },
    };
  }

  private connectionOf({ channel, isSend, peer, lost }: Op): Connection {
    const key = ((peer & 0x3fffff) * 512 + (channel & 0xff) * 2 + (isSend ? 1 : 0)) * 2 + (lost ? 1 : 0);
    let connection = this.connections.get(key);
    if (!connection) {
      connection = { standIns: [], open: 0, lanes: 0, slots: 0 };
      this.connections.set(key, connection);
    }
    return connection;
  }
}
