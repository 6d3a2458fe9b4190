/**
 * Records that fit no event or are unknown to this version. Each is counted by cause and reported to the listener, so that no late,
 * repeated, foreign or new record is dropped without a count.
 */

import type { Ticks } from '../base/time.js';
import { hex64 } from '../base/hex.js';

/** Called for each odd record. */
export interface OddListener {
  oddRecord(odd: OddRecord, at: Ticks): void;
}

/** One odd record, for the trace. */
export interface OddRecord {
  readonly what: OddCause;
  /** The event's type, or a handle that is not known here. */
  readonly event: string;
  /** The state, or the unknown number; null if there is none. */
  readonly number: number | null;
}

export type OddCause =
  | 'state after stop'
  | 'stop after stop'
  | 'no such event'
  | 'handle of another process'
  | 'state again'
  | 'unknown state'
  | 'unknown record kind'
  | 'kernel completion without start'
  | 'stale parent'
  | 'start again'
  | 'after finalize';

/** Counts by cause. */
export interface OddCounts {
  /** States and stops of events that began before the ring's window. They are normal. */
  beganBefore: number;
  /** States and stops after the event's stop, or of events that are not in the file. */
  afterStop: number;
  /** States and stops with handles of other processes. */
  foreign: number;
  /** States that a step had already left, except polls of state 20. */
  repeatedStates: number;
  /** Second stops of queue pairs: one when it is done, one with its request. They are expected. */
  netStopsAgain: number;
  /** Completions of kernels without a reported start. NCCL reports them under the kernel before. */
  kernelsWithoutStart: number;
  /** Impossible parents: events of earlier work. */
  staleParents: number;
  /** Operations and kernels that NCCL started again while they were in flight. */
  startsAgain: number;
  /** Events started after their communicator's finalize, except those of proxy threads. */
  afterFinalize: number;
  /** Steps that ended with their operation, without an own stop. */
  stepsWithoutStop: number;
  /** Unknown states and event types, with their numbers: "ProxyStep state 99", "event type 0x40000". */
  readonly unknown: Map<string, number>;
}

export class OddRecords {
  readonly counts: OddCounts = {
    beganBefore: 0,
    afterStop: 0,
    foreign: 0,
    repeatedStates: 0,
    netStopsAgain: 0,
    kernelsWithoutStart: 0,
    staleParents: 0,
    startsAgain: 0,
    afterFinalize: 0,
    stepsWithoutStop: 0,
    unknown: new Map(),
  };

  constructor(private readonly listener: Partial<OddListener>) {}

  afterStop(event: string, state: number | null, at: Ticks): void {
    this.counts.afterStop++;
    this.tell(state === null ? 'stop after stop' : 'state after stop', event, state, at);
  }

  noSuchEvent(handle: bigint, at: Ticks): void {
    this.counts.afterStop++;
    this.tell('no such event', hex64(handle), null, at);
  }

  foreign(handle: bigint, at: Ticks): void {
    this.counts.foreign++;
    this.tell('handle of another process', hex64(handle), null, at);
  }

  stateAgain(event: string, state: number, at: Ticks): void {
    this.counts.repeatedStates++;
    this.tell('state again', event, state, at);
  }

  kernelWithoutStart(channel: number, at: Ticks): void {
    this.counts.kernelsWithoutStart++;
    this.tell('kernel completion without start', 'KernelCh', channel, at);
  }

  staleParent(event: string, at: Ticks): void {
    this.counts.staleParents++;
    this.tell('stale parent', event, null, at);
  }

  startAgain(event: string, at: Ticks): void {
    this.counts.startsAgain++;
    this.tell('start again', event, null, at);
  }

  afterFinalize(event: string, at: Ticks): void {
    this.counts.afterFinalize++;
    this.tell('after finalize', event, null, at);
  }

  unknownState(event: string, state: number, at: Ticks): void {
    this.unknown(`${event} state ${state}`);
    this.tell('unknown state', event, state, at);
  }

  unknownKind(kind: number, at: Ticks): void {
    this.unknown(`record kind ${kind}`);
    this.tell('unknown record kind', 'record', kind, at);
  }

  /** Only counts the unknown state or type. Other code draws it. */
  unknown(what: string): void {
    const { unknown } = this.counts;
    unknown.set(what, (unknown.get(what) ?? 0) + 1);
  }

  private tell(what: OddCause, event: string, number: number | null, at: Ticks): void {
    this.listener.oddRecord?.({ what, event, number }, at);
  }
}
