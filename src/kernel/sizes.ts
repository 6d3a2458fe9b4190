/** Counts what a file's trace would hold, by communicator, kind and time. From it the host decides what is drawn (src/trace/budget.ts). */

import { Host, HostKind, Op } from './event';
import { Comm } from './comm';
import { TimeCounter } from './time_counter';

/** The kinds of things that are drawn, as src/scan/drawn_size.ts numbers them. */
export const enum Drawn {
  Call,
  Work,
  Op,
  Block,
  Ctrl,
  Step,
  Phase,
  Net,
}
export const DRAWN_KINDS: i32 = 8;

/** One communicator, or what belongs to none. */
export class CommSize {
  readonly counters: StaticArray<TimeCounter> = new StaticArray<TimeCounter>(DRAWN_KINDS);

  constructor(readonly comm: Comm | null) {
    for (let kind = 0; kind < DRAWN_KINDS; kind++) this.counters[kind] = new TimeCounter();
  }

  @inline
  add(kind: Drawn, at: f64): void {
    unchecked(this.counters[kind]).add(at);
  }
}

export class Sizes {
  /** In the order of their first event. */
  readonly comms: CommSize[] = [];
  readonly free: CommSize = new CommSize(null);
  /** Rings with calls and collectives: the only ones that the detail 'coll' reads. As bits. */
  callRings: u64 = 0;

  @inline
  of(comm: Comm): CommSize {
    return comm.place >= 0 ? unchecked(this.comms[comm.place]) : this.make(comm);
  }

  /** `transfer`: of a network plugin's event. The context of a transfer may belong to another process, so its operation decides. */
  call(host: Host, transfer: Op | null, at: f64): void {
    const size =
      host.kind == HostKind.GroupApi ? this.free : this.of(transfer === null ? host.comm : transfer.comm);
    this.callIn(size, host, at);
  }

  /** NCCL gives a group the context of its first call, whatever communicators it spans. */
  groupEnd(host: Host, at: f64): void {
    this.callIn(this.free, host, at);
  }

  private callIn(size: CommSize, host: Host, at: f64): void {
    size.add(host.isWatched ? Drawn.Net : Drawn.Call, at);
    if (!host.isWatched) this.callRings |= (<u64>1) << host.ring;
  }

  private make(comm: Comm): CommSize {
    comm.place = this.comms.length;
    const made = new CommSize(comm);
    this.comms.push(made);
    return made;
  }
}
