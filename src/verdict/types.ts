/**
 * The verdict: healthy, slow or hung, and on whose account, as far as the evidence goes. Plain data, so that the text on
 * the terminal and the JSON for scripts say the same. Files are named by their index in the run; times are ns on the
 * trace's axis.
 */

import type { TraceNs } from '../base/time.js';

/** What one file bears witness to when its records end. */
export interface RankWitness {
  /** Number of a communicator in this file → what it says of it. */
  readonly communicators: ReadonlyMap<number, WitnessedComm>;
  /** Closed by a process that ended in order. */
  readonly isClosed: boolean;
  /** Its newest heartbeat or record; null: none. */
  readonly lastSign: TraceNs | null;
  /** What began between these and is not in the file did not happen there. Closed files tell of all the rest: Infinity. */
  readonly knownFrom: TraceNs;
  readonly knownUntil: TraceNs;
  /** Records of calls are missing. */
  readonly isPartial: boolean;
  /** Begun and not ended, in order of start. */
  readonly works: readonly WitnessedWork[];
  /** Number of a communicator in this file → when anything of it last moved. */
  readonly lastMove: ReadonlyMap<number, TraceNs>;
  /** ns: the longest send or receive that ended, from its call; null: none did. */
  readonly longestTransfer: number | null;
  /** Collectives and sends/receives whose end NCCL did not tell, or is not recorded any more; calls of which NCCL told no more. */
  readonly untold: number;
}

export interface WitnessedComm {
  /** 0: not told; then two of them are not the same. */
  readonly commId: bigint;
  readonly name: string;
  /** This file's rank in it. */
  readonly rank: number;
  readonly nRanks: number;
  readonly finalized: TraceNs | null;
}

export interface WitnessedWork {
  readonly comm: number | null;
  readonly func: string;
  /** Of collectives, else null. */
  readonly seq: number | null;
  /** Of sends/receives, else null: the other rank of the communicator. */
  readonly peer: number | null;
  readonly ordinal: number;
  readonly start: TraceNs;
  /** Of its start record: "ring:position", as `inspect --records` prints it. */
  readonly record: string;
  readonly ops: readonly WitnessedOp[];
}

export interface WitnessedOp {
  readonly channel: number;
  /** Rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly done: number;
  /** The oldest step in flight and its wait, by the name it has in the trace ("peer wait"); null: none was. */
  readonly wait: { readonly step: number; readonly name: string; readonly since: TraceNs } | null;
}

export type Verdict = VerdictKind & {
  /** Work whose completion is not recorded: of it the verdict knows the beginning only. */
  readonly untold: number;
  /** Files in which records of calls are missing, at the beginning or later: of that time nothing is claimed. */
  readonly partial: readonly number[];
  /** Lateness was judged; false: some ranks lie on clocks whose error is not known. */
  readonly lateness: boolean;
};

export type VerdictKind =
  | { readonly kind: 'hung'; readonly hang: Hang }
  | { readonly kind: 'slow'; readonly slow: Slowness }
  /** Something was unfinished, and not for long: a live copy, or a job that was ended while it worked. */
  | { readonly kind: 'working'; readonly working: Working }
  | { readonly kind: 'healthy' }
  /** No collective and no send/receive was seen at all. */
  | { readonly kind: 'nothing' };

export interface Working {
  /** The newest sign of life of any file, and how long before it anything last moved. */
  readonly end: TraceNs;
  readonly stood: number;
  /** Files with unfinished work. */
  readonly files: readonly number[];
}

/** What stands still: a collective, or sends/receives (then `seq` is null). */
export interface StandingCall {
  /** 16 hexadecimal digits; null: NCCL did not tell it. */
  readonly commId: string | null;
  readonly comm: string;
  readonly func: string;
  readonly seq: number | null;
  /** Which replay of a captured graph. */
  readonly replay: number;
}

export interface Hang extends StandingCall {
  readonly nRanks: number;
  /** When anything of the communicator last moved on any rank, and for how long nothing has since, ns. */
  readonly since: TraceNs;
  readonly age: number;
  /** Were recording before and after, and never came. Of a send/receive: the other side, where it has nothing unfinished. */
  readonly neverEntered: readonly Stray[];
  /** Whether they entered cannot be told: their records begin later, end earlier, or are lost there. */
  readonly notKnown: readonly number[];
  /** Entered with another count or datatype. */
  readonly different: readonly number[];
  /** Entered and did not finish. */
  readonly waiting: readonly number[];
  /** Of these, whose communicator was then finalized: aborted. */
  readonly aborted: readonly number[];
  /** How many of the waiting ranks' operations stand in which wait, most first. */
  readonly waits: readonly (readonly [wait: string, operations: number])[];
  /** The operation that came least far: where to look. */
  readonly front: Front | null;
  /** Ranks of the communicator that have no file here. */
  readonly missing: readonly number[];
  /** Files without a sign of life in the last seconds of the run. */
  readonly silent: readonly { readonly file: number; readonly lastSign: TraceNs | null }[];
  /** Other communicators that stand still as well. */
  readonly alsoHung: readonly StandingCall[];
}

/** A rank that never entered, and where it stands instead. */
export interface Stray {
  readonly file: number;
  /** Its oldest unfinished work; null: it has none. */
  readonly standsIn: (StandingCall & { readonly record: string; readonly front: Front | null }) | null;
}

export interface Front {
  readonly file: number;
  /** Of the start record of its collective or send/receive: "ring:position". */
  readonly record: string;
  readonly channel: number;
  /** null: its file is not here. */
  readonly peerFile: number | null;
  readonly peerInComm: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly done: number;
  readonly wait: WitnessedOp['wait'];
}

export interface Slowness {
  readonly commId: string;
  readonly comm: string;
  readonly nRanks: number;
  /** The rank that came last in most collectives. */
  readonly file: number;
  readonly late: number;
  readonly of: number;
  /** ns: what all others waited for this rank alone, and how long the collectives' recording is. */
  readonly cost: number;
  readonly span: number;
}
