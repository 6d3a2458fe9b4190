/**
 * Records that fit no event, or mean nothing this version knows. Each is counted by cause and told to the listener, so
 * that nothing is dropped because it is late, repeated, foreign or new.
 */

import type { Ticks } from '../base/time.js';
import { hex64 } from '../base/hex.js';

/** Who is told of each. */
export interface OddListener {
  oddRecord(odd: OddRecord, at: Ticks): void;
}

/** One of them, for the picture. */
export interface OddRecord {
  readonly what: OddCause;
  /** Which event: its type, or a handle that no event here has. */
  readonly event: string;
  /** The state, or the number that is not known; null where there is none. */
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

/** How many, by cause. */
export interface OddCounts {
  /** States and stops of events that began before the ring's window: nothing odd about them. */
  beganBefore: number;
  /** States and stops after the event's stop, or of events that are not in the file. */
  afterStop: number;
  /** States and stops of handles that are not this process's. */
  foreign: number;
  /** States of a step that it had already left; polls of state 20 are not meant. */
  repeatedStates: number;
  /** A queue pair is stopped when it is done and again with its request: expected. */
  netStopsAgain: number;
  /** Completions of kernels whose start NCCL never told; they come in the name of the one before. */
  kernelsWithoutStart: number;
  /** Parents that cannot be the parents: events of earlier work. */
  staleParents: number;
  /** Operations and kernels that NCCL started once more while they were under way. */
  startsAgain: number;
  /** Events started after their communicator's finalize, those of proxy threads apart. */
  afterFinalize: number;
  /** Steps that ended with their operation: their own stop never came. */
  stepsWithoutStop: number;
  /** What this version does not know, with its number: "ProxyStep state 99", "event type 0x40000". */
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

  /** Drawn as what it is, so only counted here. */
  unknown(what: string): void {
    const { unknown } = this.counts;
    unknown.set(what, (unknown.get(what) ?? 0) + 1);
  }

  private tell(what: OddCause, event: string, number: number | null, at: Ticks): void {
    this.listener.oddRecord?.({ what, event, number }, at);
  }
}
