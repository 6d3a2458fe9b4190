/**
 * The verdict: healthy, mismatched, slow, waiting, hung, broken or unclear, and on whose account, as far as the evidence goes. Plain data, so that the text on
 * the terminal and the JSON for scripts say the same, and each claim stands beside the record it rests on. Files are named by their
 * index in the run; times are ns on the trace's axis.
 */

import type { TraceNs } from '../base/time.js';
import type { ArrivalBasis } from '../cluster/arrival.js';
import type { CallShape, CommCalls } from '../model/call_table.js';
import type { BlocksSeen } from '../model/kernel_progress.js';
import type { Wait } from '../model/waits.js';

/** What one file bears witness to when its records end. */
export interface RankWitness {
  /** Number of a communicator in this file → what it says of it. */
  readonly communicators: ReadonlyMap<number, WitnessedComm>;
  /** Closed by a process that ended in order. */
  readonly isClosed: boolean;
  /** Its heartbeat was fresh when the file was read. */
  readonly isAlive: boolean;
  /** Not alive then means gone: the file is no copy that may have been made earlier than the others. */
  readonly isToldInTime: boolean;
  /** Its newest heartbeat or record; null: none. */
  readonly lastSign: TraceNs | null;
  /** What began between these and is not in the file did not happen there. Closed files tell of all the rest: Infinity. */
  readonly knownFrom: TraceNs;
  readonly knownUntil: TraceNs;
  /** Parts of the file are missing, and nobody can tell how much that is: cut short, or damaged. */
  readonly isDamaged: boolean;
  /** Entries of its tables that cannot be read. */
  readonly lostEntries: number;
  /** Collectives and sends/receives of communicators of which nothing is known. */
  readonly nameless: number;
  /** Records of calls are missing. */
  readonly isPartial: boolean;
  /** 1: each collective was recorded, N: each Nth alone; null: at times these, at times others. */
  readonly sampleEvery: number | null;
  /** Events were turned off at times. */
  readonly isMuted: boolean;
  /** Kinds of events that were not asked for, of those a verdict rests on. */
  readonly notRecorded: readonly string[];
  /** Begun and not ended, in order of start. */
  readonly works: readonly WitnessedWork[];
  /** Number of a communicator in this file → when anything of it last moved. */
  readonly lastMove: ReadonlyMap<number, TraceNs>;
  /** ns: the longest send or receive that ended, from its call; null: none did. */
  readonly longestTransfer: number | null;
  /** Collectives and sends/receives whose end NCCL did not tell, or is not recorded any more; calls of which NCCL told no more. */
  readonly untold: number;
  /** Communicators of whose newest work that is so: they may stand in it. null: of one that is not known. */
  readonly untoldLast: readonly (number | null)[];
  readonly calls: RankCalls;
  /** Calls that its threads were inside of when its records end. */
  readonly inside: readonly WitnessedCall[];
  /** Collectives, sends and receives that began in it. */
  readonly worksSeen: number;
  /** Number of a communicator in this file → the collectives that were called on it, up to the newest. Absent: not known. */
  readonly hostCalls: ReadonlyMap<number, HostCalls>;
  /** When anything of NCCL last began or ended, also calls of which no more is recorded; null: nothing is. */
  readonly lastEvent: TraceNs | null;
  /** What tells of its calls was not turned off, nor sampled otherwise, when its records end. */
  readonly hasCallsNow: boolean;
  /** ns: the longest that nothing did before, the job's start aside, as far as that is recorded. */
  readonly longestQuiet: number;
  /** It is all of that: no older records are lost, and its calls were never turned off. */
  readonly isPaceWhole: boolean;
  /** ns: for so long it is known. */
  readonly watched: number;
}

/** What the host called (CollApi), whether or not NCCL told of a Coll then. From the first of these on none is missing. */
export interface HostCalls extends Pick<CommCalls, 'shape' | 'begins' | 'isLastOpen'> {
  /** None was made before them. */
  readonly isWhole: boolean;
  /** Up to here all are known, as far as the file's records reach; what was called later may be missing. */
  readonly until: TraceNs;
  readonly shapes: readonly CallShape[];
  /** What NCCL told of the newest ones, at most so many; null: nothing. */
  told(most: number): readonly (CallNumber | null)[];
  at(call: number): TraceNs;
  record(call: number): string;
}

/** Look-ups in all that a file saw begin. */
export interface RankCalls {
  /** null: it is not in the file, or which replay it was is not known. */
  entered(commId: bigint, call: CallNumber): EnteredCall | null;
  /** The oldest collective of a communicator that began then or later. */
  oldest(commId: bigint, from: TraceNs): EnteredCall | null;
  /** The newest collective of a communicator that is in the file; `ranks`: of these of the communicator alone. */
  newest(commId: bigint, ranks?: readonly number[]): EnteredCall | null;
  /** Ranks of the communicator by which the file saw it entered, ascending: several where a process has several GPUs. */
  enteredAs(commId: bigint, call: CallNumber): readonly number[];
  /** It began some send or receive of the communicator. */
  hasTransfers(commId: bigint): boolean;
  /** It surely began that send or receive. */
  transferred(commId: bigint, transfer: Transfer): boolean;
}

/** Which send or receive of a communicator. */
export interface Transfer {
  /** Whose, of the communicator: a process with several GPUs is several. */
  readonly rank: number;
  /** Send or Recv. */
  readonly func: string;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** Of those with this peer and direction, from 0. */
  readonly ordinal: number;
}

/** Which collective of a communicator. */
export interface CallNumber {
  readonly func: string;
  readonly seq: number;
  /** Which replay of a captured graph. */
  readonly ordinal: number;
}

/** The application's call where NCCL tells of it, else the enqueueing. */
export interface EnteredCall extends CallNumber, CallArguments {
  /** Its ordinal counts from the beginning: the same one names the same replay in other files. */
  readonly isAbsolute: boolean;
  readonly record: string;
  readonly at: TraceNs;
}

export interface CallArguments {
  /** As NCCL tells it: of AllGather and Broadcast in bytes. */
  readonly count: number;
  readonly datatype: string;
  /** null: a function without one. */
  readonly root: number | null;
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
  /** What its GPU was seen to begin and end of it; null: not known. */
  readonly blocks: BlocksSeen | null;
  /** Slots that were lost since the last sign of life of what is unfinished of it: it may have ended there. 0: it has not. */
  readonly lostSince: number;
}

/** A call that has not returned, and of which NCCL told nothing further: it may connect. */
export interface WitnessedCall extends CallArguments {
  readonly comm: number;
  readonly func: string;
  readonly isTransfer: boolean;
  readonly at: TraceNs;
  readonly record: string;
}

export interface WitnessedOp {
  readonly channel: number;
  /** Rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly done: number;
  /** The oldest step in flight and its wait; null: none was. */
  readonly wait: { readonly step: number; readonly name: Wait; readonly since: TraceNs } | null;
  /** The file of the process that executes it for this one (PXN); null: itself. */
  readonly executor: number | null;
}

export type Verdict = VerdictKind & {
  /** Work whose completion is not recorded: of it the verdict knows the beginning only. */
  readonly untold: number;
  /** Files in which records of calls are missing, at the beginning or later: of that time nothing is claimed. */
  readonly partial: readonly number[];
  /** Files of which parts are missing: cut short, or damaged. What they held is not known. */
  readonly damaged: readonly number[];
  /** Entries of tables that cannot be read, of all files. */
  readonly lostEntries: number;
  /** Work of communicators of which nothing is known: entries of their tables are lost, or these were full. */
  readonly nameless: { readonly works: number; readonly files: readonly number[] };
  /** Files that recorded each Nth collective alone (null: it changed): of the others nothing was looked at. */
  readonly sampled: readonly { readonly every: number | null; readonly files: readonly number[] }[];
  /** Files in which events were turned off at times. */
  readonly muted: readonly number[];
  /** Kinds of events that files were not told to record, and which files. */
  readonly notRecorded: readonly { readonly event: string; readonly files: readonly number[] }[];
  /** What was seen: communicators with collectives, and collectives in all, each once; works of all files, where NCCL tells no more. */
  readonly seen: { readonly communicators: number; readonly collectives: number; readonly works: number };
  /** Lateness was judged; false: some ranks lie on clocks whose error is not known. */
  readonly lateness: boolean;
  /** A rank that would be called slow if the clocks were exact: its lateness is within their 99 % bound. */
  readonly unresolved: Slowness | null;
  /** Who cost most where nobody is slow; null: nobody was ever late for sure. */
  readonly latest: Slowness | null;
};

export type VerdictKind =
  | { readonly kind: 'hung'; readonly hang: Hang }
  /** The same evidence, and no alarm yet: all of its ranks live. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  /** Nothing stood for long: a process is gone, and others ended in order at about that time. */
  | { readonly kind: 'broken'; readonly broken: Broken }
  /** Nothing is seen to hang, but ranks of a communicator did not call the same. `besides`: what else would be said. */
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch; readonly besides: VerdictKind }
  | { readonly kind: 'slow'; readonly slow: Slowness }
  /**
   * What seems to stand may have ended in records that are lost, and nothing else speaks for a hang; or files are damaged; or a rank
   * fell silent, and nothing tells whether others stand in what they began with it; or nothing was recorded for much longer than before.
   */
  | { readonly kind: 'unclear'; readonly unclear: Unclear }
  /** Something was unfinished, and not for long: a live copy, or a job that was ended while it worked. */
  | { readonly kind: 'working'; readonly working: Working }
  /** `silent`: never closed, though others were, later; or their files may be copies. */
  | { readonly kind: 'healthy'; readonly silent: readonly Silent[] }
  /** No collective and no send/receive was seen at all. */
  | { readonly kind: 'nothing' };

export interface Broken {
  readonly stands: Hang;
  /** Files that were never closed; others were closed after their last sign of life. */
  readonly gone: readonly Silent[];
  /**
   * The first of the others ended so long after that, that it was gone by then. Else it may have been killed after they ended:
   * heartbeats come once a second.
   */
  readonly isOrderKnown: boolean;
  /** Closed in order, and had not finished it. */
  readonly left: readonly number[];
  /** Closed in order, and had. */
  readonly finished: readonly number[];
}

export interface Waiting {
  readonly stands: Hang;
  /** From which age on it is called a hang, ns. */
  readonly hungAfter: number;
  /** Every file of the communicator was alive when it was read: it may be worth another look. Else they end here. */
  readonly isLive: boolean;
}

export interface Unclear {
  /** The oldest that may have ended; null: nothing seems to stand, but parts of files are missing. */
  readonly work: (StandingCall & Evidence) | null;
  /** How many of such, in all files. */
  readonly works: number;
  /** Files with such work. */
  readonly files: readonly number[];
  /** Slots of their rings that are lost since, the most of any work. */
  readonly lost: number;
  /** Files that fell silent before others, whose work with them may stand; or who began `work`, which others finished. */
  readonly silent: readonly Silent[];
  /** Nothing was recorded for much longer than before, up to the end, while processes lived; null: that is not so. */
  readonly idle: Idle | null;
  /** The newest sign of life of any file. */
  readonly end: TraceNs;
}

/** Nothing of NCCL is recorded of processes that lived on. Theirs may be the next call, or they stand in one that is not recorded. */
export interface Idle {
  /** When anything last began or ended in any of them. */
  readonly since: TraceNs;
  /** ns: for so long nothing has in each of them. */
  readonly age: number;
  /** ns: the longest that nothing did in any of the files before, the job's start aside. */
  readonly longestBefore: number;
  /** Of all that they did; false: of what is recorded, and they may have paused for longer before. */
  readonly isPaceWhole: boolean;
  /** Files that were not closed and did not fall silent before others: their processes lived to the end. But for those whose calls are not recorded any more as from the start. */
  readonly files: readonly number[];
  /** The heartbeats of all of them were fresh when they were read; else their records end there, and the processes may be gone. */
  readonly isLive: boolean;
  /** Files that were closed in order. */
  readonly ended: readonly number[];
  /** Who called fewer collectives of a communicator than others. */
  readonly behind: readonly Behind[];
}

/** Not a rank that may have called since its records end. */
export interface Behind extends Evidence, CallShape {
  readonly commId: string;
  readonly comm: string;
  /** So many collectives less of it than the rank that called most; the evidence and what is called so is the first of those. */
  readonly by: number;
  /** The files that called so few. */
  readonly files: readonly number[];
  /** The same, and which of their ranks. */
  readonly callers: readonly ({ readonly file: number } & SomeRanks)[];
  readonly nRanks: number;
}

export interface Working {
  /** The newest sign of life of any file, and how long before it anything last moved. */
  readonly end: TraceNs;
  readonly stood: number;
  /** Files with unfinished work. */
  readonly files: readonly number[];
  readonly silent: readonly Silent[];
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

/** Of a process with several ranks of one communicator: those of them, in its words, of which something is claimed. */
export interface SomeRanks {
  /** Absent: all that the process has. */
  readonly inComm?: readonly number[];
}

/** Where a claim can be looked up: `inspect FILE --records` shows the record at that place. */
export interface Evidence {
  readonly file: number;
  /** "ring:position". */
  readonly record: string;
  readonly at: TraceNs;
}

export interface Hang extends StandingCall {
  readonly nRanks: number;
  /** When anything of the communicator last moved on any rank, and for how long nothing has since, ns. */
  readonly since: TraceNs;
  readonly age: number;
  /** Were recording before and after, or are gone since it stands, and never came. Of a send/receive: the other side, where it has nothing unfinished. */
  readonly neverEntered: readonly Stray[];
  /** Whether they entered cannot be told: their records begin later, end earlier, or are lost there. */
  readonly notKnown: readonly number[];
  /** Entered, and the record of the end may be lost. */
  readonly mayHaveFinished: readonly number[];
  /** The first calls in which ranks differ, up to when it stood: of this communicator, else of any. */
  readonly mismatch: Mismatch | null;
  /** A deadlock of two orders; null: none is seen. */
  readonly crossed: Crossed | null;
  /** Of these two the files that called otherwise than most. */
  readonly different: readonly number[];
  /** Entered and did not finish. */
  readonly waiting: readonly (Evidence & SomeRanks)[];
  /** Of these, whose communicator was then finalized: aborted. */
  readonly aborted: readonly number[];
  /** Ranks whose threads are inside a call of NCCL's that has not returned. */
  readonly inside: readonly (Evidence & CallArguments & { readonly func: string })[];
  /** How many of the waiting ranks' operations stand in which wait, most first. */
  readonly waits: readonly (readonly [wait: Wait | 'no step in flight', operations: number])[];
  /** The operation all others wait for, where the chain of waits ends: where to look. */
  readonly front: Front | null;
  /** Where no operation on the network tells: what the GPUs began of it, those that began least first. */
  readonly kernels: readonly KernelStand[];
  /** Ranks of the communicator that have no file here. */
  readonly missing: readonly number[];
  /** Files without a sign of life in the last seconds of the run. */
  readonly silent: readonly Silent[];
  /** The clocks of its ranks are related; else nobody is known to have fallen silent before the others. */
  readonly isRelated: boolean;
  /** The newest sign of life of any file of the communicator: until then it is known to have stood. */
  readonly until: TraceNs;
  /** Other communicators that stand still as well. */
  readonly alsoHung: readonly AlsoHung[];
}

/** Ranks that began the same two calls in one order and in the other; the second of each waits behind the first. */
export interface Crossed {
  readonly most: readonly Order[];
  readonly others: readonly Order[];
}

export interface Order {
  readonly file: number;
  readonly first: StandingCall & Evidence;
  readonly second: StandingCall & Evidence;
}

export interface AlsoHung extends StandingCall {
  readonly since: TraceNs;
  /** Ranks it waits for stand in the one that is named, or in others that do. */
  readonly onlyWaits: boolean;
}

export interface Silent {
  readonly file: number;
  readonly lastSign: TraceNs | null;
  /** Its process may as well have lived on: a copy made somewhat earlier than others. */
  readonly mayBeCopy: boolean;
}

/** A rank that never entered, and where it stands instead. */
export interface Stray extends SomeRanks {
  readonly file: number;
  /** Its records are complete from here to there (null: to its end in order). */
  readonly knownFrom: TraceNs;
  readonly knownUntil: TraceNs | null;
  readonly lastSign: TraceNs | null;
  readonly isAlive: boolean;
  /** Its oldest unfinished work; null: it has none. */
  readonly standsIn: (StandingCall & Evidence & { readonly front: Front | null }) | null;
  /** The call that its threads are inside of instead; null: none. */
  readonly isIn: (Evidence & { readonly func: string }) | null;
  /** Its newest collective in the communicator that stands; null: none. */
  readonly newest: (StandingCall & Evidence) | null;
}

/** Called, and how much of it the GPU began and ended. `isLeast`: it began less than another, or no GPU began any. */
export interface KernelStand extends BlocksSeen {
  readonly file: number;
  readonly record: string;
  readonly isLeast: boolean;
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
  /** Sends executed by another process (PXN): its file. */
  readonly executor: number | null;
  /** So many of the `of` waiting operations wait for this one, directly or through others. */
  readonly waiters: number;
  readonly of: number;
}

/** Ranks of one communicator whose calls differ, at the same place in it. */
export interface Mismatch {
  readonly commId: string;
  readonly comm: string;
  readonly nRanks: number;
  /** 'arguments': of the same collective; 'calls': each side entered one that the other never did. */
  readonly what: 'arguments' | 'calls';
  /** Which of the communicator's calls, from 0, where the calls tell it (CollApi: `seq` is null). null: not known, of a group, or the collectives do. */
  readonly call: number | null;
  /** Most ranks first. */
  readonly ways: readonly [Way, Way, ...Way[]];
}

/** How some of the ranks called. */
export interface Way extends StandingCall, CallArguments {
  readonly entered: readonly (Evidence & SomeRanks)[];
}

/** The rank that all others of a communicator waited for longest. */
export interface Slowness {
  readonly commId: string;
  readonly comm: string;
  readonly nRanks: number;
  readonly file: number;
  /** Which rank of the communicator it is: a process with several GPUs is several. */
  readonly inComm: number;
  /** What made it late: it called late, or its GPU began late what was called in time; or one of its links is slow. */
  readonly on: 'host' | 'GPU' | 'link';
  /** What tells when it came. */
  readonly basis: ArrivalBasis;
  /** So often it was the last, by more than the clocks can be wrong, of so many collectives that all ranks took part in. */
  readonly late: number;
  readonly of: number;
  /** Not looked at: the first one, those of a root, and those that not all ranks are known to have begun and ended. */
  readonly leftOut: number;
  /** ns: all others waited for this rank alone; what the run would gain were it never last. And for how long it was watched. */
  readonly cost: number;
  readonly span: number;
  /** ns: likewise for another rank, the mean of them. */
  readonly ofOthers: number;
  /** When it was first and last late. */
  readonly from: TraceNs;
  readonly to: TraceNs;
  /** null: it is slow. Else why it is not called so: among ranks that are alike that happens by chance, or it cost too little. */
  readonly why: 'chance' | 'cost' | null;
  /** When it came latest, and by how much, ns. */
  readonly worst: StandingCall & Evidence & { readonly by: number };
  /** ns: how far the clocks can be wrong about it (99 %), the worst of its collectives; 0: one clock. */
  readonly clockBound: number;
  /** The slowest connection; null: it is not that. Then `late` of `of` are its sends, and `cost` is a lower bound. */
  readonly link: SlowSends | null;
}

export interface SlowSends {
  /** The sender, and the receiver. */
  readonly file: number;
  readonly peerFile: number;
  readonly channel: number;
  readonly sends: number;
  /** ns, of its sends on the wire, and of those of the communicator's other connections. */
  readonly medianNs: number;
  readonly usualNs: number;
  /** No other connection of the rank is as slow. */
  readonly isOnlyOne: boolean;
}

/** Sends of collectives over one connection. */
export interface LinkTimes {
  readonly commId: bigint;
  /** The sender and its rank in the communicator; the receiver. */
  readonly file: number;
  readonly rank: number;
  readonly peer: number;
  readonly peerFile: number;
  readonly channel: number;
  readonly isWithinHost: boolean;
  readonly sends: number;
  readonly medianNs: number;
}
