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
import type { Foreign, Originator } from './origin.js';
import type { HandleKey } from './record_fields.js';
import type { StepTable } from './step_table.js';
import type { WorkIdentity } from './work_identity.js';

export { eventTypeNames } from '../rankfile/format/nccl.js';
export { hasRoot } from './roots.js';
export type { CeCollFacts, HostFacts, HostKind, HostSpan, NetFacts } from './host_span.js';
export type { OddRecord } from './odd_records.js';
export type { Foreign, Originator, Originators } from './origin.js';
export type { WorkIdentity } from './work_identity.js';

/** Version 1 of what NCCL's own network plugins pass. */
export const NET_ID = { InfiniBand: 0x10001n, Socket: 0x20001n } as const;

/** A collective (Coll) or a send/receive (P2p) as enqueued. */
export interface Work extends WorkIdentity {
  readonly type: 'work';
  /** Number of this work in its file, in order of start: the row of the scan's side table. */
  readonly row: number;
  /** Where its start record lies: what other files know it by. */
  readonly key: HandleKey;
  readonly ring: number;
  readonly datatype: string;
  readonly algo: string;
  readonly proto: string;
  readonly count: number;
  readonly root: number | null;
  readonly nChannels: number;
  readonly nWarps: number | null;
  /** From v7 on: the kernel NCCL chose, '' where it named none; and whether it is one of symmetric memory. */
  readonly kernelVariant: string;
  readonly isSymmetric: boolean;
  /** The CollApi or P2pApi call, from v5 on. */
  readonly api: HostSpan | null;
  readonly parent: ParentLink;
  /** From v7 on, 0 before and where the application set none. */
  readonly userTag: bigint;
  readonly start: Ticks;
  /**
   * Nothing of it ran before: its call, or this replay of it. Where NCCL does not tell calls (before v5) a little before
   * the start, because an uncaptured kernel is launched before its Coll is told of.
   */
  readonly earliest: Ticks;
  /** Stop callback: enqueued, not done. */
  enqueued: Ticks | null;
  children: number;
  openChildren: number;
  /** Of its operations, those whose end NCCL never tells: they count in neither of the above. */
  untold: number;
  /** Which children it has had (parents.ts), and whether they have stopped. */
  readonly claims: Map<number, boolean>;
}

/**
 * What became of the parent that NCCL named: 'none' (NULL), 'known', 'lost' (its record is not in the file any more),
 * 'stale' (an event that cannot be the parent: of earlier work, or of another sort), 'foreign' (of another process),
 * 'again' (known, but that child is under way already: one start too many).
 */
export type ParentLink = 'none' | 'known' | 'lost' | 'stale' | 'foreign' | 'again';

export interface Op {
  readonly type: 'op';
  /** The start record was overwritten: only its steps tell of it. */
  readonly lost: boolean;
  /** Number of this stand-in in its file, in order of its first step; -1: it is none. */
  standIn: number;
  readonly ring: number;
  /** Of this process. */
  readonly work: Work | null;
  /** The same, or what it is in the originator's words. */
  readonly of: WorkIdentity | null;
  parent: ParentLink;
  /** 'again', but as it must be where NCCL never tells ends: there it says isSend 0 in both directions. */
  readonly mayBeOtherDirection: boolean;
  /** Of a foreign operation the originator's communicator, null where that is not known. */
  readonly comm: Communicator | null;
  readonly channel: number;
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly chunkSize: number;
  readonly ordinal: number;
  readonly ordinalAbsolute: boolean;
  /** Executed for another process (PXN), else null; and whose it is, where its file is here. */
  readonly foreign: Foreign | null;
  readonly originator: Originator | null;
  readonly start: Ticks;
  stop: Ticks | null;
  /** Bytes of its transfers so far (states 9 and 11). */
  bytes: number;
  /** A state, a step or its stop came: an operation whose end NCCL tells. */
  isAlive: boolean;
  /** NCCL will not tell its end (CollNet, copies by memcpy). */
  isUntold: boolean;
  /** Steps that have stopped; and when one last began, went on or stopped. */
  stepsDone: number;
  lastMove: Ticks;
  /** The first sign that the GPU takes part: it had given what a send step sends, or taken what a receive brought. */
  gpuBegan: Ticks | null;
  /** When the first data of a receive had come: before, its GPU waits for the peer. */
  firstData: Ticks | null;
  /** Rows of its steps that have not stopped (step_table.ts); few at a time. */
  readonly openSteps: number[];
  /** Of those in flight (base/open_set.ts); -1: it is none. */
  place: number;
  /** Of its connection's lanes the one it lies in; -1: none. */
  lane: number;
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

/** A GPU globaltimer value: ns, relative to the file's first one. */
export type GpuNs = number & { readonly __gpu: never };

/** One channel's block on the GPU (KernelCh), or a phase of it (KernelPhase). */
export interface Kernel {
  readonly type: 'kernel';
  /** null: the block itself. */
  readonly phase: string | null;
  /** A phase whose parent is the block: it says nothing of the work that the block does not say. */
  readonly isWithinBlock: boolean;
  readonly ring: number;
  readonly work: Work | null;
  readonly parent: ParentLink;
  readonly comm: Communicator | null;
  readonly channel: number;
  /** When the proxy thread noticed. */
  readonly start: Ticks;
  /** null: none given. Interface v3 has no timestamps, later ones should. */
  readonly timerStart: GpuNs | null;
  timerStop: GpuNs | null;
  /** Its stamps are those of other work (stamp_owners.ts): they say nothing of this one. */
  isOfOther: boolean;
  stop: Ticks | null;
  /** Completions told after its stop: they are of other work, whose start NCCL never told. */
  strayCompletions: number;
  /** Of those that run (base/open_set.ts); -1: it is none. */
  place: number;
}

export type CtrlState = 'Idle' | 'Active' | 'Sleep' | 'Wakeup' | 'Append' | 'AppendEnd' | `state ${number}`;

/** A ProxyCtrl event only carries states; they belong to its thread. */
export interface Ctrl {
  readonly type: 'ctrl';
  readonly ring: number;
}

/** Told in the file's merged order of ticks. `at` is the record's own tick. */
export interface WorkListener extends OddListener {
  hostStart(span: HostSpan, at: Ticks): void;
  hostStop(span: HostSpan, at: Ticks): void;
  workStart(work: Work, at: Ticks): void;
  workEnqueued(work: Work, at: Ticks): void;
  opStart(op: Op, at: Ticks): void;
  /** Its first state or step, or its stop. */
  opAlive(op: Op): void;
  /** `bytes` more were transferred: interfaces in which steps have no sizes (before v4). */
  opBytes(op: Op, bytes: number, at: Ticks): void;
  opStop(op: Op, at: Ticks): void;
  kernelStart(kernel: Kernel, at: Ticks): void;
  kernelStop(kernel: Kernel, at: Ticks): void;
  /** `value` is the number of appended operations with AppendEnd, else null. */
  ctrl(ring: number, state: CtrlState, at: Ticks, value: number | null): void;
}

/** Steps are rows of a table, which are used again once `stepStop` has returned. Told in the same order. */
export interface StepListener {
  stepStart(steps: StepTable, row: number, at: Ticks): void;
  /** `from` is where the new phase began: at or before `at`. */
  stepPhase(steps: StepTable, row: number, from: Ticks, at: Ticks): void;
  /** `told`: by its own stop; else its operation stopped and this step's stop never came. */
  stepStop(steps: StepTable, row: number, at: Ticks, told: boolean): void;
}
