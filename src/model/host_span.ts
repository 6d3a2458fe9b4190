/** Calls and observations of host threads: from an event's start to its stop callback. */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../rankfile/types.js';
import type { HandleKey } from './record_fields.js';

export type HostKind =
  | 'GroupApi'
  /** Within a GroupApi: from its state 24, when the outermost ncclGroupEnd begins, to its stop. */
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

/** The transfer that a plugin's event belongs to. */
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

/** What a network plugin reports of a transfer; null if it reported nothing, or in an unknown format. */
export interface NetFacts {
  readonly kind: 'NetPlugin';
  readonly id: bigint;
  /** From the socket plugin's own field, else from its step; null: not known. */
  readonly isSend: boolean | null;
  readonly bytes: bigint | null;
  /** InfiniBand only. */
  readonly device: number | null;
  readonly qp: number | null;
  readonly workRequest: bigint | null;
  readonly opcode: number | null;
  /** Socket only. */
  readonly fd: number | null;
  /** null: NULL, or no longer known. */
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

/** Fields that only some kinds of host spans have. */
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

/** A call on one host thread. NetPlugin and unknown event types are not calls but observations. A thread may have several at a time. */
export interface HostSpan {
  readonly type: 'host';
  readonly kind: HostKind;
  readonly ring: number;
  /** Key of its start record. */
  readonly key: HandleKey;
  readonly comm: Communicator | null;
  readonly parent: HostSpan | null;
  readonly func: string;
  readonly datatype: string;
  readonly count: number;
  /** The call, or the call it belongs to, was recorded into a graph: nothing ran. */
  readonly graphCaptured: boolean;
  /** From v7 on; 0 before, or if the application set none. */
  readonly userTag: bigint;
  readonly facts: HostFacts | null;
  /** CollApi and P2pApi: number of this call in its file, in order of start. Else -1. */
  readonly apiRow: number;
  readonly start: Ticks;
  /** GroupApi: its GroupEnd once it has begun. */
  ending: HostSpan | null;
  stop: Ticks | null;
}

/** NCCL gives a group the context of its first call, whatever communicators it spans. */
export const belongsToNoComm = ({ kind }: HostSpan): boolean => kind === 'GroupApi' || kind === 'GroupEnd';

/** The context of a transfer may belong to another process, so its operation decides. */
export const callComm = ({ facts, comm }: HostSpan): Communicator | null =>
  facts?.kind === 'NetPlugin' && facts.step ? facts.step.op.comm : comm;
