/** Calls on host threads, and what threads noticed there: from an event's start to its stop callback. */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../rankfile/types.js';
import type { HandleKey } from './record_fields.js';

export type HostKind =
  | 'GroupApi'
  /** Within a GroupApi: from its state 24, when the outermost ncclGroupEnd began, to its stop. */
  | 'GroupEnd'
  | 'CollApi'
  | 'P2pApi'
  | 'KernelLaunch'
  | 'Group'
  | 'CeColl'
  | 'CeSync'
  | 'CeBatch'
  | 'NetPlugin'
  | 'unknown';

/** The transfer that a plugin's event belongs to: what is told of its step there. */
export interface OfStep {
  readonly number: number;
  readonly op: {
    readonly lost: boolean;
    readonly comm: Communicator | null;
    readonly channel: number;
    readonly peer: number;
    readonly isSend: boolean;
  };
}

/** What a network plugin tells of a transfer; null where it did not (or not in words we know). */
export interface NetFacts {
  readonly kind: 'NetPlugin';
  readonly id: bigint;
  /** By the socket plugin's own word, else by the step it belongs to; null: not known. */
  readonly isSend: boolean | null;
  readonly bytes: bigint | null;
  /** InfiniBand only. */
  readonly device: number | null;
  readonly qp: number | null;
  readonly workRequest: bigint | null;
  readonly opcode: number | null;
  /** Socket only. */
  readonly fd: number | null;
  /** null: NULL, or not known any more. */
  readonly step: OfStep | null;
}

export interface CeCollFacts {
  readonly kind: 'CeColl';
  readonly seq: number;
  readonly ceSeq: number;
  readonly root: number;
  readonly syncStrategy: string;
  readonly intraBatchSync: boolean;
  readonly batchSize: number;
  readonly numBatches: number;
  readonly stream: bigint;
}

/** What some kinds of host spans have beside the fields of all. */
export type HostFacts =
  | NetFacts
  | CeCollFacts
  | { readonly kind: 'Api'; readonly root: number; readonly stream: bigint }
  | { readonly kind: 'GroupApi'; readonly depth: number }
  | { readonly kind: 'KernelLaunch'; readonly stream: bigint }
  | { readonly kind: 'CeSync'; readonly nRanks: number; readonly isComplete: boolean }
  | {
      readonly kind: 'CeBatch';
      readonly numOps: number;
      readonly totalBytes: bigint;
      readonly useIntraSync: boolean;
    }
  /** `type`: NCCL's event-type number. */
  | { readonly kind: 'unknown'; readonly type: number };

/**
 * A call on one host thread. NetPlugin and unknown event types are no calls: what a thread noticed, several at a time.
 */
export interface HostSpan {
  readonly type: 'host';
  readonly kind: HostKind;
  readonly ring: number;
  /** Of its start record. */
  readonly key: HandleKey;
  readonly comm: Communicator | null;
  readonly parent: HostSpan | null;
  readonly func: string;
  readonly datatype: string;
  readonly count: number;
  /** Of a call, or of the call it belongs to: recorded into a graph, nothing ran. */
  readonly graphCaptured: boolean;
  /** From v7 on, 0 before and where the application set none. */
  readonly userTag: bigint;
  readonly facts: HostFacts | null;
  /** CollApi and P2pApi: number of this call in its file, in order of start. Else -1. */
  readonly apiRow: number;
  readonly start: Ticks;
  /** GroupApi: its GroupEnd, once that has begun. */
  ending: HostSpan | null;
  stop: Ticks | null;
}

/** Its context is its first call's, whatever communicators it spans. */
export const belongsToNoComm = ({ kind }: HostSpan): boolean => kind === 'GroupApi' || kind === 'GroupEnd';

/** A transfer's context may be another process's: its operation knows. */
export const callComm = ({ facts, comm }: HostSpan): Communicator | null =>
  facts?.kind === 'NetPlugin' && facts.step ? facts.step.op.comm : comm;
