/**
 * What a rank did, in NCCL's own terms: the objects that pairing makes of start, state and stop records. Times are the
 * file's ticks; nothing here knows Perfetto or another rank.
 *
 *   GroupApi ── CollApi, P2pApi            host spans: the calls, one thread each
 *                  └─ Coll, P2p  = Work    what was enqueued; "done" is its last child's end
 *                        ├─ ProxyOp        one channel, peer and direction
 *                        │     └─ ProxyStep   one network transfer
 *                        └─ KernelCh       one channel's block on the GPU
 *
 * A parent whose start record was overwritten is null (`Op` excepted: its steps need a place, so a stand-in with
 * `lost` set takes it).
 */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../reader/types.js';

export type HostKind =
  | 'GroupApi'
  | 'CollApi'
  | 'P2pApi'
  | 'KernelLaunch'
  | 'Group'
  | 'CeColl'
  | 'CeSync'
  | 'CeBatch'
  | 'NetPlugin'
  | 'KernelPhase'
  | 'other';

/** Version 1 of what NCCL's own network plugins pass. */
export const NET_ID = { InfiniBand: 0x10001n, Socket: 0x20001n } as const;

/** What a network plugin tells of a transfer; null where it did not (or not in words we know). */
export interface NetFacts {
  readonly kind: 'NetPlugin';
  readonly id: bigint;
  readonly bytes: bigint | null;
  /** InfiniBand only. */
  readonly device: number | null;
  readonly qp: number | null;
  /** Socket only. */
  readonly isSend: boolean | null;
}

/** What some kinds of host spans have beside the fields of all. */
export type HostFacts =
  | NetFacts
  | { readonly kind: 'CeColl'; readonly syncStrategy: string }
  | { readonly kind: 'CeBatch'; readonly numOps: number; readonly totalBytes: bigint }
  | { readonly kind: 'KernelPhase'; readonly name: string; readonly channel: number };

/**
 * A call on one host thread, from its start to its stop callback. NetPlugin and KernelPhase are no calls: what a thread
 * noticed, several at a time.
 */
export interface HostSpan {
  readonly type: 'host';
  readonly kind: HostKind;
  /** For 'other': NCCL's event-type number. */
  readonly eventType: number;
  readonly ring: number;
  readonly comm: Communicator | null;
  readonly parent: HostSpan | null;
  readonly func: string;
  readonly datatype: string;
  readonly count: number;
  readonly groupDepth: number;
  readonly graphCaptured: boolean;
  /** From v7 on, 0 before and where the application set none. */
  readonly userTag: bigint;
  readonly facts: HostFacts | null;
  readonly start: Ticks;
  stop: Ticks | null;
}

/** A collective (Coll) or a send/receive (P2p) as enqueued. */
export interface Work {
  readonly type: 'work';
  readonly kind: 'Coll' | 'P2p';
  /** Number of this work in its file, in order of start: the row of the scan's side table. */
  readonly row: number;
  readonly ring: number;
  readonly comm: Communicator | null;
  readonly func: string;
  readonly datatype: string;
  readonly algo: string;
  readonly proto: string;
  readonly count: number;
  /** Coll only, else null. */
  readonly seq: number | null;
  readonly root: number | null;
  /** P2p only, else null. */
  readonly peer: number | null;
  readonly ordinal: number;
  readonly ordinalAbsolute: boolean;
  readonly nChannels: number;
  /** The CollApi or P2pApi call, from v5 on. */
  readonly api: HostSpan | null;
  /** From v7 on, 0 before and where the application set none. */
  readonly userTag: bigint;
  readonly start: Ticks;
  /** Stop callback: enqueued, not done. */
  enqueued: Ticks | null;
  children: number;
  openChildren: number;
}

export interface Op {
  readonly type: 'op';
  /** The start record was overwritten: only its steps tell of it. */
  readonly lost: boolean;
  readonly ring: number;
  readonly work: Work | null;
  readonly comm: Communicator | null;
  readonly channel: number;
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly chunkSize: number;
  readonly ordinal: number;
  readonly ordinalAbsolute: boolean;
  /** Executed for another process (PXN): its pid, else null. */
  readonly foreignPid: number | null;
  readonly start: Ticks;
  stop: Ticks | null;
  /** Bytes of its transfers so far (states 9 and 11). */
  bytes: number;
  /** The listener's own: there are too many for a map. */
  drawing: unknown;
}

/**
 * Where a step stands; each phase ends where the next begins. The numbers rise in the order NCCL goes through them
 * (a step is either sent or received), so that a state that comes late or again is told by a comparison.
 */
export const StepPhase = {
  Posted: 0,
  SendGpuWait: 1,
  PeerWait: 2,
  SendWait: 3,
  RecvWait: 4,
  FlushWait: 5,
  RecvGpuWait: 6,
} as const;
export type StepPhase = (typeof StepPhase)[keyof typeof StepPhase];

export interface Step {
  readonly type: 'step';
  readonly op: Op;
  readonly number: number;
  readonly start: Ticks;
  phase: StepPhase;
  /** Size of the transfer; null until NCCL said it. */
  bytes: number | null;
  /** Of state 20: the newest, and how many polls in all. */
  lastPeerWait: Ticks | null;
  peerPolls: number;
  stop: Ticks | null;
  /** The listener's own: there are too many for a map. */
  drawing: unknown;
}

/** A GPU globaltimer value: ns, relative to the file's first one. */
export type GpuNs = number & { readonly __gpu: never };

export interface Kernel {
  readonly type: 'kernel';
  readonly work: Work | null;
  readonly comm: Communicator | null;
  readonly channel: number;
  /** When the proxy thread noticed. */
  readonly start: Ticks;
  /** null: interface v3 has no timestamps. */
  readonly timerStart: GpuNs | null;
  timerStop: GpuNs | null;
  stop: Ticks | null;
}

export type CtrlState = 'Idle' | 'Active' | 'Sleep' | 'Wakeup' | 'Append' | 'AppendEnd';

/** A ProxyCtrl event only carries states; they belong to its thread. */
export interface Ctrl {
  readonly type: 'ctrl';
  readonly ring: number;
}

/** Records that could not be told as part of an object; counted, never dropped in silence. */
export interface Unplaced {
  /** States and stops of events that began before the ring's window. */
  beganBefore: number;
  /** States and stops after the event's stop. */
  afterStop: number;
  /** States and stops of handles that are not this process's. */
  foreign: number;
  /** States of a step that it had already left; polls of state 20 are not meant. */
  repeatedStates: number;
  /** State numbers that mean nothing for their event, by "event state". */
  readonly unknownStates: Map<string, number>;
  /** Record kinds this version does not know, by kind number. */
  readonly unknownKinds: Map<number, number>;
}

/** Told in the file's merged order of ticks. `at` is the record's own tick. */
export interface WorkListener {
  hostStart(span: HostSpan, at: Ticks): void;
  hostStop(span: HostSpan, at: Ticks): void;
  workStart(work: Work, at: Ticks): void;
  workEnqueued(work: Work, at: Ticks): void;
  opStart(op: Op, at: Ticks): void;
  /** `bytes` more were transferred: interfaces in which steps have no sizes (before v4). */
  opBytes(op: Op, bytes: number, at: Ticks): void;
  opStop(op: Op, at: Ticks): void;
  stepStart(step: Step, at: Ticks): void;
  /** `from` is where the new phase began: at or before `at`. */
  stepPhase(step: Step, from: Ticks, at: Ticks): void;
  stepStop(step: Step, at: Ticks): void;
  kernelStart(kernel: Kernel, at: Ticks): void;
  kernelStop(kernel: Kernel, at: Ticks): void;
  /** `value` is the number of appended operations with AppendEnd, else null. */
  ctrl(ring: number, state: CtrlState, at: Ticks, value: number | null): void;
}
