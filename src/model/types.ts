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
import type { Communicator } from '../rankfile/types.js';
import type { HostSpan } from './host_span.js';
import type { OddListener } from './odd_records.js';
import type { Foreign, Originator } from './pxn.js';
import type { HandleKey } from './record_fields.js';
import type { WorkIdentity } from './work_identity.js';

export { eventTypeNames } from '../rankfile/format/nccl.js';
export { hasRoot } from './roots.js';
export type { CeCollFacts, HostFacts, HostKind, HostSpan, NetFacts } from './host_span.js';
export type { OddRecord } from './odd_records.js';
export type { Foreign, Originator, Originators } from './pxn.js';
export type { WorkIdentity } from './work_identity.js';

/** Version 1 of the ids of NCCL's own network plugins. */
export const NET_ID = { InfiniBand: 0x10001n, Socket: 0x20001n } as const;

/** A collective (Coll) or a send/receive (P2p) as enqueued. */
export interface Work extends WorkIdentity {
  readonly type: 'work';
  /** Number of this work in its file, in order of start: the row of the scan's side table. */
  readonly row: number;
  /** Key of its start record; other files know it by this. */
  readonly key: HandleKey;
  readonly ring: number;
  readonly datatype: string;
  readonly algo: string;
  readonly proto: string;
  readonly count: number;
  readonly root: number | null;
  readonly nChannels: number;
  readonly nWarps: number | null;
  /** From v7 on: the kernel that NCCL chose ('' if it named none), and whether it uses symmetric memory. */
  readonly kernelVariant: string;
  readonly isSymmetric: boolean;
  /** The CollApi or P2pApi call, from v5 on. */
  readonly api: HostSpan | null;
  readonly parent: ParentLink;
  /** Key of the group of calls (GroupApi; before v5 Group) in which it was called; null: not known. */
  readonly group: HandleKey | null;
  /** From v7 on; 0 before, or if the application set none. */
  readonly userTag: bigint;
  readonly start: Ticks;
  /**
   * No part of the work ran earlier than this: its call, or this replay. If NCCL reports no calls (before v5), this is a little before the
   * start, because NCCL launches an uncaptured kernel before it reports the Coll.
   */
  readonly earliest: Ticks;
  /** Stop callback: enqueued, not done. */
  enqueued: Ticks | null;
  children: number;
  openChildren: number;
  /** Number of its operations whose end NCCL never reports. The two counts above exclude them. */
  endlessOps: number;
  /** Its children so far (parents.ts), and whether they have stopped. */
  readonly claims: Map<number, boolean>;
}

/**
 * State of the parent that NCCL named. 'none': NULL. 'lost': its record is no longer in the file. 'stale': an impossible parent, of earlier
 * work or of another kind. 'foreign': of another process. 'again': known, but this child is already in flight, so this is one start too
 * many.
 */
export type ParentLink = 'none' | 'known' | 'lost' | 'stale' | 'foreign' | 'again';

export interface Op {
  readonly type: 'op';
  /** The start record was overwritten: only its steps are left. */
  readonly lost: boolean;
  /** Number of this stand-in in its file, in order of its first step; -1: not a stand-in. */
  standIn: number;
  readonly ring: number;
  /** The work of this process that started it. */
  readonly work: Work | null;
  /** The same work, or the originator's. */
  readonly of: WorkIdentity | null;
  parent: ParentLink;
  /** The parent is 'again', but this may be normal. Where NCCL never reports ends, it says isSend 0 in both directions. */
  readonly mayBeOtherDirection: boolean;
  /** For a foreign operation the originator's communicator; null if not known. */
  readonly comm: Communicator | null;
  readonly channel: number;
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly chunkSize: number;
  readonly ordinal: number;
  readonly ordinalAbsolute: boolean;
  /** The context and originator of an operation that was executed for another process (PXN), else null. */
  readonly foreign: Foreign | null;
  readonly originator: Originator | null;
  readonly start: Ticks;
  stop: Ticks | null;
  /** Bytes of its transfers so far (states 9 and 11). */
  bytes: number;
  /** A state, a step or its stop came, so NCCL reports this operation's end. */
  isAlive: boolean;
  /** NCCL will not report its end (CollNet, copies by memcpy). */
  isEndless: boolean;
  /** Number of stopped steps, and when a step last moved. */
  stepsDone: number;
  lastMove: Ticks;
  /** First sign of the GPU: it provided the data of a send step, or consumed the data of a receive. */
  gpuBegan: Ticks | null;
  /** Up to NCCL 2.26: since then its GPU has filled a step, and the receiver has no room. */
  roomWanted: Ticks | null;
  /** Arrival of a receive's first data. Until then its GPU waits for the peer. */
  firstData: Ticks | null;
  /** Arrival of its newest data. */
  lastData: Ticks | null;
  /** Rows of its steps in flight (step_table.ts): few at a time. */
  readonly openSteps: number[];
  /** Place among those in flight (base/open_set.ts); -1: none. */
  place: number;
  /** Its lane of the connection; -1: none. */
  lane: number;
  /** Its set of step slots, since its first sign of life; -1: none. */
  slotSet: number;
  /** The listener's own data, kept here because a map would be too large. */
  drawing: unknown;
}

/**
 * The phase of a step. Each phase ends where the next begins. The numbers rise in NCCL's order (a step is either sent or received), so a
 * comparison finds a state that is late or repeated.
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

/** A GPU globaltimer value: ns, relative to the file's first one. */
export type GpuNs = number & { readonly __gpu: never };

/** One channel's block on the GPU (KernelCh), or a phase of it (KernelPhase). */
export interface Kernel {
  readonly type: 'kernel';
  /** null: the block itself. */
  readonly phase: string | null;
  /** A phase whose parent is the block: it adds nothing about the work. */
  readonly isWithinBlock: boolean;
  readonly ring: number;
  readonly work: Work | null;
  readonly parent: ParentLink;
  readonly comm: Communicator | null;
  readonly channel: number;
  /** When the proxy thread noticed. */
  readonly start: Ticks;
  /** null: NCCL gave none. Interface v3 has no timestamps. Later versions should have them. */
  readonly timerStart: GpuNs | null;
  timerStop: GpuNs | null;
  /** Its stamps are those of other work (stamp_owners.ts), so they are not used. */
  isOfOther: boolean;
  stop: Ticks | null;
  /** Completions after its stop: they belong to other work, whose start NCCL never reported. */
  strayCompletions: number;
  /** Place among those running (base/open_set.ts); -1: none. */
  place: number;
}

export type CtrlState = 'Idle' | 'Active' | 'Sleep' | 'Wakeup' | 'Append' | 'AppendEnd' | `state ${number}`;

/** A ProxyCtrl event only carries states. They belong to its thread. */
export interface Ctrl {
  readonly type: 'ctrl';
  readonly ring: number;
}

/** Called in the file's merged order of ticks. `at` is the record's own tick. */
export interface WorkListener extends OddListener {
  hostStart(span: HostSpan, at: Ticks): void;
  hostStop(span: HostSpan, at: Ticks): void;
  workStart(work: Work, at: Ticks): void;
  workEnqueued(work: Work, at: Ticks): void;
  opStart(op: Op, at: Ticks): void;
  /** Its first state or step, or its stop. */
  opAlive(op: Op): void;
  /** `bytes` more were transferred, for interfaces without step sizes (before v4). */
  opBytes(op: Op, bytes: number, at: Ticks): void;
  opStop(op: Op, at: Ticks): void;
  kernelStart(kernel: Kernel, at: Ticks): void;
  kernelStop(kernel: Kernel, at: Ticks): void;
  /** `value` is the number of appended operations for AppendEnd, else null. */
  ctrl(ring: number, state: CtrlState, at: Ticks, value: number | null): void;
}
