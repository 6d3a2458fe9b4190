/**
 * The facts about each file for the judge, and look-ups in its records. Files are named by their index in the run. Times are ns on the
 * trace's axis.
 */

import type { TraceNs } from '../base/time.js';
import type { CallShape, CommCalls } from '../model/call_table.js';
import type { Communicator } from '../model/recording.js';
import type { InsideCall, PendingWork } from '../model/pending.js';

/** What one file shows at the end of its records. */
export interface RankWitness {
  readonly node: Node;
  /** By the counter that it reads. null: that tells none. */
  readonly architecture: 'x86-64' | 'aarch64' | null;
  /** Version of the first NCCL that its process called us from, as "2.30.7". null: not known. */
  readonly ncclVersion: string | null;
  /**
   * Number of a communicator in this file → the communicator. An id of 0 is not reported: two communicators with 0 are not the same. So is a
   * number of nodes of 0.
   */
  readonly communicators: ReadonlyMap<number, Communicator<TraceNs>>;
  readonly life: FileLife;
  readonly reach: Reach;
  readonly lacks: Lacks;
  readonly pending: Pending;
  readonly pace: Pace;
  readonly calls: RankCalls;
  /** Number of a communicator in this file → its calls of collectives, up to the newest. Absent: not known. */
  readonly hostCalls: ReadonlyMap<number, HostCalls>;
  /** Collectives, sends and receives that began. */
  readonly worksSeen: number;
}

/** As NCCL tells nodes apart: by NCCL_HOSTID, else by host name and boot. */
export interface Node {
  readonly id: string;
  readonly name: string;
  /** Its boot. One machine may stand for several nodes. */
  readonly machine: string;
}

/** Signs of its process. */
export interface FileLife {
  /** Its process closed it in order. */
  readonly isClosed: boolean;
  /** The heartbeat was recent when the file was read, or the process runs on this node. */
  readonly isAlive: boolean;
  /** The kernel says that it is stopped, by a signal, a debugger or its control group. */
  readonly isStopped: boolean;
  /** It is alive, but only the kernel says so. */
  readonly isLate: boolean;
  /**
   * If the rank is not alive, its process has died, and the file is no earlier copy: it is a snapshot, or has the rings of a process that
   * ended.
   */
  readonly isNoEarlierCopy: boolean;
  /** The file was not closed, and its process has certainly ended. */
  readonly isGone: boolean;
  /** False: they are among what the file lost, so that no later one came proves nothing. */
  readonly hasHeartbeats: boolean;
  /** Its newest heartbeat or record; null: none. */
  readonly lastSign: TraceNs | null;
  /** The newest ones, of which a file keeps all, in order. */
  readonly heartbeats: readonly TraceNs[];
}

/** Everything that began between the two times is in the file. `knownUntil` of a closed file is Infinity. */
export interface Reach {
  readonly knownFrom: TraceNs;
  readonly knownUntil: TraceNs;
  /** Records of calls are missing. */
  readonly isPartial: boolean;
}

/** Records that are missing from the file. */
export interface Lacks {
  /** Parts of the file are missing (cut short or damaged). It is not known how much. */
  readonly isDamaged: boolean;
  /** Unreadable entries of its tables. */
  readonly lostEntries: number;
  /** Collectives and sends/receives of unknown communicators. */
  readonly unknownComms: number;
  /** 1: each collective was recorded, N: only each Nth; null: it changed. */
  readonly sampleEvery: number | null;
  /** Events were turned off for some time. */
  readonly isMuted: boolean;
  /** Event types the verdict needs that were not requested. */
  readonly notRecorded: readonly string[];
}

/** Work that had not ended, or is not known to have ended. */
export interface Pending {
  /** In order of start. */
  readonly works: readonly PendingWork[];
  /** Calls that its threads were in at the end of its records. */
  readonly inside: readonly InsideCall[];
  /** Collectives and sends/receives whose end NCCL did not report or is no longer recorded; calls without further events. */
  readonly endsNotKnown: number;
  /** Those of `endsNotKnown` that are sends and receives of a rank to itself: NCCL only copies, and reports no end. */
  readonly endsToSelf: number;
  /** Communicators whose newest work has no known end: they may be stuck in it. null: an unknown communicator. */
  readonly lastWithoutEnd: readonly (number | null)[];
}

/** How long the rank works and pauses. */
export interface Pace {
  /** Number of a communicator in this file → its last move. */
  readonly lastMove: ReadonlyMap<number, TraceNs>;
  /** ns: the longest finished send or receive, from its call; null: none. */
  readonly longestTransfer: number | null;
  /** Last begin or end of any NCCL event, also of calls without further events; null: none. */
  readonly lastEvent: TraceNs | null;
  /** At the end of its records, calls are still recorded as at the start. */
  readonly hasCallsNow: boolean;
  /** ns: longest recorded pause before, without the job's start. */
  readonly longestQuiet: number;
  /** `longestQuiet` covers everything: no older records are lost, and calls were never turned off. */
  readonly isPaceWhole: boolean;
  /** ns: length of the known time. */
  readonly watched: number;
}

/** The calls of the host (CollApi), with and without a Coll from NCCL. No call after the first of these is missing. */
export interface HostCalls extends Pick<CommCalls, 'shape' | 'begins' | 'isLastOpen'> {
  /** There was no call before them. */
  readonly isWhole: boolean;
  /** All calls up to here are known. Later ones may be missing. */
  readonly until: TraceNs;
  readonly shapes: readonly CallShape[];
  /** NCCL's numbers of the newest calls, at most `most`; null: not reported. */
  reported(most: number): readonly (CallNumber | null)[];
  at(call: number): TraceNs;
  record(call: number): string;
}

/** Look-ups in what a file saw begin. */
export interface RankCalls {
  /** null: it is not in the file, or its replay is not known. */
  entered(commId: bigint, call: CallNumber): EnteredCall | null;
  /** Shows how the data of each of the communicator's collectives passed through, in order of call (facts/passages.ts). */
  eachPassage(commId: bigint, visit: (passage: Readonly<Passage>) => void): void;
  /** The communicator's oldest collective that began at `from` or later. */
  oldest(commId: bigint, from: TraceNs): EnteredCall | null;
  /** The communicator's newest collective in the file; `ranks`: only of these ranks. */
  newest(commId: bigint, ranks?: readonly number[]): EnteredCall | null;
  /** This file's ranks that entered it, ascending: several for a process with several GPUs. */
  enteredAs(commId: bigint, call: CallNumber): readonly number[];
  /** It began a send or receive of the communicator. */
  hasTransfers(commId: bigint): boolean;
  /** How many sends and receives it began, by number of the communicator in this file. Without those whose number is not certain. */
  transfers(comm: number): readonly (Pick<Transfer, 'func' | 'peer'> & { readonly count: number })[];
  /** null: it is not certain that it began that send or receive. */
  transferred(commId: bigint, transfer: Transfer): EnteredCall | null;
}

/** How data of a collective passed through a file's GPUs, as their sends and receives show. NaN: none did, or it is not known. */
export interface Passage {
  func: string;
  seq: number;
  /** Replay of a captured graph. */
  ordinal: number;
  /** As RING/SIMPLE. */
  plan: string;
  isTree: boolean;
  /** The longest time for which received data waited for the GPU, since it had no other work. */
  heldFrom: number;
  heldTo: number;
  heldChannel: number;
  /** ns: the longest time from when its GPU had filled a send until it was done. Meanwhile the GPU may have no room for more. */
  noRoom: number;
  /** Operations that send: one per channel and peer. */
  sends: number;
  sentSteps: number;
  /** When its GPU had filled the sent steps, on average, and how long they were on the wire then, ns. */
  sentAt: number;
  onWire: number;
  /** 0: its GPU may have had other work when they came. */
  receivedSteps: number;
  /** When the received steps had arrived, on average. */
  receivedAt: number;
  /** Only of a tree: since when it could begin, because it had called, and its GPU had no other work. Infinity: not known. */
  freeFrom: number;
  /** Only of a tree: its GPU's first sign, and the newest data before that. They show when it began. */
  begins: number;
  data: number;
}

/** Which send or receive of a communicator. */
export interface Transfer {
  /** Rank in the communicator: a process with several GPUs has several. */
  readonly rank: number;
  /** Send or Recv. */
  readonly func: string;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** Among those with this peer and direction, from 0. */
  readonly ordinal: number;
}

/** Which collective of a communicator. */
export interface CallNumber {
  readonly func: string;
  readonly seq: number;
  /** Replay of a captured graph. */
  readonly ordinal: number;
}

/** The application's call if NCCL reports it, else the enqueueing. */
export interface EnteredCall extends CallNumber, CallArguments {
  /** Its ordinal counts from the beginning of the run, so it names the same replay in all files. */
  readonly isAbsolute: boolean;
  readonly record: string;
  readonly at: TraceNs;
}

export interface CallArguments {
  /** As NCCL reports it: bytes for AllGather and Broadcast. */
  readonly count: number;
  readonly datatype: string;
  /** null: the function has no root. */
  readonly root: number | null;
}
