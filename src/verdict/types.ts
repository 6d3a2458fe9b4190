/**
 * The verdict: healthy, mismatched, slow, waiting, hung, broken or unclear, and the rank that it names, as far as the evidence shows it.
 * Plain data, so that terminal text and JSON agree, and each claim is beside its record. Files are named by their index in the run. Times
 * are ns on the trace's axis.
 */

import type { TraceNs } from '../base/time.js';
import type { ArrivalBasis } from '../cluster/collective_types.js';
import type { LinkFault } from '../cluster/link_faults.js';
import type { CallShape } from '../model/call_table.js';
import type { BlocksSeen } from '../model/pending.js';
import type { Wait } from '../model/waits.js';
import type { PendingOp, PendingWork } from '../model/pending.js';
import type { CallArguments } from './file_facts.js';

/**
 * The state of a file's process. `ended`: the file was closed in order. `alive`: its heartbeat was recent when it was read, or as new as the others'.
 * `silent`: its last sign is older. `copy`: older, too, but others finished a collective that shows that its rank lived on.
 */
export type LifeState = 'ended' | 'alive' | 'silent' | 'copy';

/** What a file says about its process, compared with all files of the run. */
export interface ProcessState {
  readonly state: LifeState;
  readonly lastSign: TraceNs | null;
  /** The file cannot be an earlier copy of a live rank's file. It means something for `silent` and `copy` only. */
  readonly isSure: boolean;
}

/** What the first finding is about (`healthy` if there is none, or `kind` says so), and what was looked at. */
export type Verdict<Found extends Finding = Finding> = Detail & {
  /** All that was found. The first one is the headline, and has its kind; empty: healthy. */
  readonly findings: readonly Found[];
  /** By file. */
  readonly states: readonly LifeState[];
  /** Work without a recorded end: the verdict only knows its start. */
  readonly endsNotKnown: number;
  /** Those of `endsNotKnown` that are sends and receives of a rank to itself, whose end NCCL never reports. */
  readonly endsToSelf: number;
  /** Files with missing records of calls, at the beginning or later. Nothing is claimed about that time. */
  readonly partial: readonly number[];
  /** Files with missing parts (cut short or damaged). Their content is not known. */
  readonly damaged: readonly number[];
  /** Unreadable entries of tables, in all files. */
  readonly lostEntries: number;
  /** Work of unknown communicators: table entries are lost, or the table was full. */
  readonly unknownComms: { readonly works: number; readonly files: readonly number[] };
  /** Files with only each Nth collective (null: it changed): the others were not checked. */
  readonly sampled: readonly { readonly every: number | null; readonly files: readonly number[] }[];
  /** Files in which events were turned off for some time. */
  readonly muted: readonly number[];
  /** Event types that were not requested, and in which files. */
  readonly notRecorded: readonly { readonly event: string; readonly files: readonly number[] }[];
  /** What was seen: communicators with collectives, and collectives, each once; works of all files if NCCL reports no more. */
  readonly seen: { readonly communicators: number; readonly collectives: number; readonly works: number };
  /** Lateness was judged; false: the error of some clocks is not known. */
  readonly lateness: boolean;
  /** A rank that would be slow if the clocks were exact: its lateness is within their 99 % bound. */
  readonly unresolved: Lateness | null;
  /** The rank that cost most if none is slow; null: no rank was certainly late. */
  readonly latest: Lateness | null;
  /** Collectives in which lateness was compared: not the first of a communicator, none with a root, all ranks and ends known. */
  readonly compared: number;
  /** Bugs of NCCL that fit to the headline and to the versions that it may have. */
  readonly knownBugs: readonly FittingBug[];
};

/** A row of known_bugs.ts, which says what the columns mean. */
export interface KnownBug {
  readonly symptom:
    | 'inside ncclGroupEnd'
    | 'receive not posted'
    | 'lost on the wire'
    | 'all-to-all'
    | 'plans differ'
    | 'no other side'
    | 'work not reported';
  readonly from: string | null;
  readonly before: string | null;
  readonly on: 'x86-64' | 'aarch64' | null;
  readonly ranks?: number;
  readonly func?: string;
  readonly fixed: string;
  readonly source: string;
  readonly what: string;
}

export interface FittingBug extends KnownBug {
  /** NCCL's version, as far as it is known: `2.30.7`, or `2.29 or 2.30`. */
  readonly version: string;
  /** All versions that it may be have the bug. Otherwise only some. */
  readonly isSure: boolean;
}

/** What a finding, or a verdict, is about, with all that is known of it. */
export type Detail =
  | { readonly kind: 'hung'; readonly hang: Hang }
  /** The same evidence without an alarm: all ranks are alive. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  /** No stall was long: a process disappeared, and others ended in order at about that time. */
  | { readonly kind: 'broken'; readonly broken: Broken }
  /** No hang is seen, but ranks of a communicator made different calls. */
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }
  | { readonly kind: 'slow'; readonly slow: Slowness }
  /**
   * One of four reasons. The pending work may have ended among the lost records, and there is no other sign of a hang. Files are damaged. A
   * rank is silent, and the state of its common work is not known. There were no events for much longer than before.
   */
  | { readonly kind: 'unclear'; readonly unclear: Unclear }
  /** Work was unfinished for a short time, or its end is not known: the files are copies of a live job, or the job ended while it worked. */
  | { readonly kind: 'working'; readonly working: Working }
  /** `silent`: never closed, though others were later, or perhaps copies. */
  | { readonly kind: 'healthy'; readonly silent: readonly Silent[] }
  /** No collective and no send/receive was seen. */
  | { readonly kind: 'nothing' };

/** What a rule of `RULES` found (rules.ts). */
export type RuleName =
  | 'stuck'
  | 'broke off'
  | 'different calls'
  | 'perhaps over'
  | 'idle'
  | 'silent'
  | 'late'
  | 'stood still'
  | 'given up'
  | 'lost records'
  | 'job ended'
  | 'at work'
  | 'nothing seen'
  | 'perhaps late';

/** Of what a finding is made. */
interface Findable {
  readonly rule: string;
  readonly kind: string;
  /** Of `since` and `until`. */
  readonly time: number;
  readonly who: object;
  readonly about: unknown;
}

interface OfVerdict extends Findable {
  readonly rule: RuleName;
  readonly kind: Detail['kind'];
  readonly time: TraceNs;
  readonly who: Who;
  readonly about: Detail;
}

/** Of a rule of the verdict (rules.ts), a cause of a slow run (analysis/causes.ts), or a rule for dumps (pytorch/rules.ts). */
export interface Finding<Of extends Findable = OfVerdict> {
  readonly rule: Of['rule'];
  /** What the verdict would be if nothing else was found: what it is `about`, but healthy if that is over, or cost little. */
  readonly kind: Of['kind'];
  /** The job does not go on because of it, or computes something undefined. Otherwise it cost time, or is only a doubt. */
  readonly stands: boolean;
  /** Nothing else explains the records. */
  readonly isSure: boolean;
  /** null: not known, or at no one time. */
  readonly since: Of['time'] | null;
  /** null: it lasts up to the end. */
  readonly until: Of['time'] | null;
  /** The call: a stuck one, an example, or the worst. null: it is about no call. */
  readonly where: CallName | null;
  /** The connection that it is about, from `file` to `peerFile`; null: none is known. */
  readonly connection: Connection | null;
  /** ns: how long the job stood still, or the time that it would gain; null: not known. */
  readonly cost: number | null;
  readonly who: Of['who'];
  /** A few that show it. */
  readonly records: readonly Evidence[];
  /** Index of the finding that explains it; null: none does. */
  readonly because: number | null;
  /** What to record or to copy so that it is certain, or names the rank. */
  readonly surer: string | null;
  /** Where the ranks went on after they had given up the communicator; null: it is about no such thing. */
  readonly next: Successor | null;
  readonly about: Of['about'];
}

export interface Connection {
  readonly file: number;
  readonly peerFile: number | null;
  readonly channel: number;
  /** The step that stands still; null: it is about all steps. */
  readonly step: number | null;
}

export interface Successor extends Pick<CallName, 'commId' | 'comm'> {
  readonly nRanks: number;
  readonly since: TraceNs;
}

/** The files to look at: this one, all of these, one of them, or one of them on a node whose inside is not recorded. */
export interface Who {
  readonly degree: 'this' | 'these' | 'one of' | 'node' | 'nobody known';
  readonly files: readonly number[];
  /** The same, with the ranks that are meant, in `files` of several ranks. */
  readonly some: readonly ({ readonly file: number } & SomeRanks)[];
  /** A rank of the communicator that has no file, and for which all others wait. null: it is not such a rank. */
  readonly missing: number | null;
  /** null: they are not the ranks of one node. */
  readonly node: string | null;
  /** As the label of their processes in the trace; null: nobody is known. */
  readonly why: string | null;
}

export interface Broken {
  readonly stall: Hang;
  /** Files that were never closed: others were closed after their last sign, or all their processes have died. */
  readonly gone: readonly Silent[];
  /**
   * It had certainly died when the first of the others ended. Otherwise it may have been killed later, because heartbeats come only once a
   * second.
   */
  readonly isOrderKnown: boolean;
  /** Closed in order without finishing it. */
  readonly left: readonly number[];
  /** Closed in order, and had finished it. */
  readonly finished: readonly number[];
  /** The whole job ended or was killed while it worked: nothing stood still, so nobody is to blame. */
  readonly wasBusy: boolean;
}

export interface Waiting {
  readonly stall: Hang;
  /** Age from which it is called a hang, ns. */
  readonly hungAfter: number;
  /** Every rank of the communicator was alive when its file was read, so look again later. Otherwise the records end here. */
  readonly isLive: boolean;
  /** Files whose heartbeats are old, although the kernel says that their processes run. */
  readonly byKernel: readonly number[];
}

export interface Unclear {
  /** The oldest work that may have ended. null: nothing seems stuck, but parts of files are missing. */
  readonly work: (CallName & Evidence) | null;
  /** Number of such works in all files. */
  readonly works: number;
  /** Files with such work. */
  readonly files: readonly number[];
  /** Lost slots of their rings since then, the most of any work. */
  readonly lost: number;
  /** Ranks that became silent before others with unfinished common work, or that began `work` that others finished. */
  readonly silent: readonly Silent[];
  /** Live processes had no events up to the end, for much longer than ever before. null: not so. */
  readonly idle: Idle | null;
  /** Half of the time was lost to this rank, in too few waits to distinguish a habit from chance. null: no such rank. */
  readonly late: Lateness | null;
  /** Newest sign of any file. */
  readonly end: TraceNs;
}

/** Processes that lived on without NCCL events. They may be on their way to the next call, or stuck in a call that is not recorded. */
export interface Idle {
  /** Last begin or end in any of them. */
  readonly since: TraceNs;
  /** ns: the shortest current time without events among them. */
  readonly age: number;
  /** ns: longest pause before in any of the files, without the job's start. */
  readonly longestBefore: number;
  /** True: all their pauses are known. False: only the pauses in the recorded time are known, so there may have been longer ones. */
  readonly isPaceWhole: boolean;
  /**
   * Files that were neither closed nor silent before others, so their processes lived to the end. Files whose calls are no longer recorded
   * as at the start are left out.
   */
  readonly files: readonly number[];
  /** All heartbeats were recent when the files were read. Otherwise the records end there, and the processes may have died. */
  readonly isLive: boolean;
  /** Files that were closed in order. */
  readonly ended: readonly number[];
  /** Ranks with fewer calls on a communicator than others. */
  readonly behind: readonly Behind[];
  /** Other ranks go on. `files` made the call that `behind` did not make, and nothing since. */
  readonly isPart: boolean;
  /** The last call of all these ranks, if NCCL reports no work of it. null: it is another one. */
  readonly last: (CallShape & Pick<CallName, 'commId' | 'comm'> & { readonly at: TraceNs }) | null;
}

/** Ranks with fewer calls than another rank. A rank that may have called after its records end does not count. */
export interface Behind extends Evidence, CallShape {
  readonly commId: string;
  readonly comm: string;
  /** Calls fewer than the rank with most calls. Evidence and name are those of the first missing call. */
  readonly by: number;
  /** The files whose ranks made that call, and their newest call on the communicator. */
  readonly ahead: readonly number[];
  readonly newest: TraceNs;
  /** The files with so few calls. */
  readonly files: readonly number[];
  /** The same, with their ranks. */
  readonly callers: readonly ({ readonly file: number } & SomeRanks)[];
  readonly nRanks: number;
}

export interface Working {
  /** Newest sign of any file, and time from the last move to it. */
  readonly end: TraceNs;
  readonly stalledFor: number;
  /** Files with unfinished work, or with work whose end is not known. */
  readonly files: readonly number[];
  /** False: no work is certainly unfinished. But these files were not closed, and the end of their last work is not known. */
  readonly isUnfinished: boolean;
  readonly silent: readonly Silent[];
  /** A heartbeat was recent when the files were read. Otherwise the processes may have died since then. */
  readonly isLive: boolean;
}

/** The stuck collective, or sends/receives (`seq` is null). */
export interface CallName {
  /** 16 hexadecimal digits; null: NCCL did not report it. */
  readonly commId: string | null;
  readonly comm: string;
  readonly func: string;
  readonly seq: number | null;
  /** Replay of a captured graph. */
  readonly replay: number;
}

/** If a process has several ranks of one communicator: the ranks there that a claim is about. */
export interface SomeRanks {
  /** Absent: all ranks of the process. */
  readonly inComm?: readonly number[];
}

/** Where to check a claim: `inspect FILE --records` shows the record at that place. */
export interface Evidence {
  readonly file: number;
  /** "ring:position". */
  readonly record: string;
  readonly at: TraceNs;
}

export interface Hang extends CallName {
  readonly nRanks: number;
  /** Files that have the communicator, or may have it. */
  readonly members: readonly number[];
  /** Last move of the communicator on any rank, and the time since then, ns. */
  readonly since: TraceNs;
  readonly age: number;
  /**
   * Ranks that never came, although they were recording before and after, or that died when the stall began. For a send/receive: the other
   * side, if it has no unfinished work.
   */
  readonly neverEntered: readonly Stray[];
  /** Ranks for which it is not known whether they entered: their records begin later, end earlier, or are lost. */
  readonly notKnown: readonly number[];
  /** Ranks that entered, and the record of the end may be lost. */
  readonly mayHaveFinished: readonly number[];
  /** The first calls that differ between ranks before the stall: of this communicator, else of any. */
  readonly mismatch: Mismatch | null;
  /** A deadlock of orders: each with its ranks. Two: the rarest first. More: each leads to the next. Empty: none seen. */
  readonly crossed: readonly (readonly Order[])[];
  /** A call before this one, which all made and some did not pass. NCCL does not report its work. null: none. */
  readonly unseen: UnseenCall | null;
  /** Sends and receives of `file`, by which number the other side has fewer. */
  readonly unmatched: readonly {
    readonly file: number;
    readonly func: string;
    readonly peerFile: number;
    readonly by: number;
  }[];
  /** Ranks whose sends and receives wait for each other; empty: none seen. Each waits for the next rank, the last one for the first. */
  readonly circle: readonly InCircle[];
  /** The ranks that called it, if they are few and all others go on without it. Else empty. */
  readonly alone: readonly number[];
  /** Files that differ from most in `mismatch` or `crossed`. */
  readonly different: readonly number[];
  /** Ranks that entered and did not finish. */
  readonly waiting: readonly (Evidence & SomeRanks)[];
  /** The waiting ranks that then finalized their communicator: aborted. */
  readonly aborted: readonly number[];
  /** Ranks with threads inside an NCCL call that has not returned, or that did nothing since it returned. */
  readonly inside: readonly (Evidence &
    CallArguments & { readonly func: string; readonly hasReturned: boolean })[];
  /** Ranks inside NCCL: it has begun the work, and has not handed it to its proxy. */
  readonly unhanded: readonly (Evidence & NonNullable<PendingWork['unhanded']>)[];
  /** Waits of the waiting ranks' operations, with counts, most first. */
  readonly waits: readonly (readonly [wait: Wait | 'no step in flight', operations: number])[];
  /** Ranks whose processes ended in order in the middle of the work. The others went on and wait for them. */
  readonly ended: readonly Ended[];
  /** The operation that ends the chain of waits: look there first. If the waits are a circle: one of its first rank. */
  readonly front: Front | null;
  /** The blocks that the GPUs began, if no operation on the network shows them. The least come first. */
  readonly kernels: readonly KernelState[];
  /** Ranks of the communicator without a file. */
  readonly missing: readonly number[];
  /** Files without a sign in the last seconds of the run. */
  readonly silent: readonly Silent[];
  /** The clocks of its ranks are related. Otherwise it is not known which rank became silent first. */
  readonly isRelated: boolean;
  /** Newest sign of the communicator's files: the stall is known up to here. */
  readonly until: TraceNs;
  /** No process of its ranks is left, and none closed its file: they were killed while it hung. */
  readonly wasKilled: boolean;
}

export interface UnseenCall extends CallShape {
  /** The ranks that called nothing after it. */
  readonly last: readonly (Evidence & SomeRanks)[];
}

/** A rank that began two calls. The second one waits behind the first. */
export interface Order {
  readonly file: number;
  readonly first: CallName & Evidence;
  readonly second: CallName & Evidence;
}

/** A rank of a circle. */
export interface InCircle {
  readonly file: number;
  /** The send or receive that it is in. It waits for `later` of the next rank. */
  readonly first: PlacedTransfer;
  /** For this the rank before it waits. Its GPU begins it only after `first`. */
  readonly later: PlacedTransfer;
}

export interface PlacedTransfer extends Evidence {
  /** Send or Recv. */
  readonly func: string;
  readonly peerFile: number;
}

export interface Ended {
  readonly file: number;
  /** When it was closed. */
  readonly at: TraceNs;
}

export interface Silent {
  readonly file: number;
  readonly lastSign: TraceNs | null;
  /** Its process may have lived on, because the file may be a slightly older copy. */
  readonly mayBeCopy: boolean;
  /** Its process has certainly ended, without closing the file. */
  readonly isGone: boolean;
  /** It is stopped, by a signal, a debugger or its control group. */
  readonly isStopped: boolean;
}

/** A rank that never entered, and where it is instead. */
export interface Stray extends SomeRanks {
  readonly file: number;
  /** Its records are complete in this time. null: up to its orderly end. */
  readonly knownFrom: TraceNs;
  readonly knownUntil: TraceNs | null;
  readonly lastSign: TraceNs | null;
  readonly isAlive: boolean;
  /** Its oldest unfinished work; null: none. */
  readonly stuckIn: (CallName & Evidence & { readonly front: Front | null }) | null;
  /** The call its threads are in instead; null: none. */
  readonly isIn: (Evidence & { readonly func: string }) | null;
  /** Its newest collective in the stuck communicator; null: none. */
  readonly newest: (CallName & Evidence) | null;
  /** When it destroyed or aborted the communicator; null: it has it. */
  readonly left: TraceNs | null;
  /** It is at work elsewhere: its newest collective in another communicator, called since the stall began. null: it is not. */
  readonly elsewhere: (CallName & Evidence) | null;
}

/** The blocks of the called work that the GPU began and ended. `isLeast`: it began fewer than another GPU, no GPU began any, or all other ranks finished. */
export interface KernelState extends BlocksSeen {
  readonly file: number;
  readonly record: string;
  readonly isLeast: boolean;
}

export interface Front {
  readonly file: number;
  /** Start record of its collective, send or receive: "ring:position". */
  readonly record: string;
  readonly channel: number;
  /** null: its file is not here. */
  readonly peerFile: number | null;
  /** Its rank in the communicator, and that of the peer. Less than 0: not known. */
  readonly inComm: number;
  readonly peerInComm: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  readonly done: number;
  readonly wait: PendingOp['wait'];
  /** The other side is after this step: the peer did its part, so this rank or the link is the reason. */
  readonly peerIsPast: boolean;
  /** All links on which data were sent that did not arrive, from `file` to `peerFile`, with their channels. */
  readonly onWire: readonly {
    readonly file: number | null;
    readonly inComm: number;
    readonly peerFile: number;
    readonly peerInComm: number;
    readonly channels: readonly number[];
  }[];
  /** The peer waits for room, and this receive, which would give it, is not posted. */
  readonly isUnposted: boolean;
  /** File of the process that executes the send (PXN). */
  readonly executor: number | null;
  /** How many of the `of` waiting operations wait for this one, directly or through others. */
  readonly waiters: number;
  readonly of: number;
  /** It waits for its own GPU, or for any other of these files on its node: no record shows the inside of the node. null: its own GPU alone. */
  readonly node: { readonly name: string; readonly files: readonly number[] } | null;
}

/** Ranks of one communicator with different calls at the same place. */
export interface Mismatch {
  readonly commId: string;
  readonly comm: string;
  readonly nRanks: number;
  /**
   * 'arguments': the ranks called the same collective with different arguments. 'calls': each side entered a collective that the other side
   * never entered. 'sizes': a send and its receive have other numbers of bytes. 'pairs': a send has no receive, or the other way round; the
   * second way is the last one of the other side.
   */
  readonly what: 'arguments' | 'calls' | 'sizes' | 'pairs';
  /**
   * Number of the communicator's call, from 0, if the calls show it (CollApi: `seq` is null). null: it is not known, the call is in a
   * group, or the difference was found in collectives.
   */
  readonly call: number | null;
  /** Most ranks first. */
  readonly ways: readonly [Way, Way, ...Way[]];
}

/** One of the ways to call. */
export interface Way extends CallName, CallArguments {
  readonly entered: readonly (Evidence & SomeRanks)[];
}

/** Why the ranks of a communicator lost time: one comes late, or its sends, or those to it, take long. */
export type Slowness = Lateness | SlowSends;

/** What both kinds have. */
interface Costly {
  readonly commId: string;
  readonly comm: string;
  readonly nRanks: number;
  readonly file: number;
  /** Its rank in the communicator: a process with several GPUs has several. */
  readonly inComm: number;
  /** ns that the run would gain without it; of sends a lower bound. And the observed time. */
  readonly cost: number;
  readonly span: number;
  /** When it cost time. */
  readonly from: TraceNs;
  readonly to: TraceNs;
  /** The latest arrival, or the longest collective, and by how much, or how long, ns. */
  readonly worst: CallName & Evidence & { readonly by: number };
}

/** The rank that all others of a communicator waited for longest. `cost`: the time in which all others waited for this rank alone. */
export interface Lateness extends Costly {
  /** 'host': it called late. 'GPU': its GPU began late after a call in time. */
  readonly on: 'host' | 'GPU';
  /** All ranks that are late together, such as those of a node; empty: it is late alone. `cost` then counts until the first of them came. */
  readonly together: readonly (SomeRanks & { readonly file: number })[];
  /** The evidence of its arrival. */
  readonly basis: ArrivalBasis;
  /** How often it was last, by more than the clocks' error, among `of` collectives of all ranks. */
  readonly late: number;
  readonly of: number;
  /**
   * Collectives that were not checked: the first one, and the number of others with a root, or without a known begin and end on all ranks.
   */
  readonly leftOut: { readonly first: string | null; readonly rooted: number; readonly notWhole: number };
  /** Its longest waits, as few as make up nine tenths of the cost: how many, and up to 100 of them, the longest first. */
  readonly waits: number;
  readonly longest: readonly LongWait[];
  /** Where in the observed time the waits lie: all the time, from a moment on, up to a moment, between two moments, or there is only one. */
  readonly course: 'always' | 'since' | 'until' | 'between' | 'once';
  /** ns: the same cost for another rank, on average. */
  readonly ofOthers: number;
  /**
   * null: the rank is slow. Otherwise the reason why it is not called slow: too few collectives, chance explains it among equal ranks, or
   * it cost too little.
   */
  readonly why: 'few' | 'chance' | 'cost' | null;
  /** ns of `cost` that the others lost. This is less than `cost` if hosts run ahead (run_ahead.ts). */
  readonly heldUp: number;
  /**
   * Share of the time that was lost to it without its longest wait, minus the share of another rank. And the share from which it is slow.
   */
  readonly habit: number;
  readonly slowFrom: number;
  /** The share of runs in which equal ranks show such a difference by chance. And the share below which the rank is slow. */
  readonly chance: number;
  readonly chanceBelow: number;
  /** ns: largest error of the clocks (99 %) over its collectives; 0: one clock. */
  readonly clockBound: number;
  /** Data that have arrived wait for its GPU. null: it is not this. */
  readonly taker: {
    /** All wait on this one; null: on several. */
    readonly channel: number | null;
    /** Or for any other GPU of the node, because no record shows its inside. null: for its own. */
    readonly node: Front['node'];
  } | null;
}

/** ns: from when all others had arrived, or the rank had nothing else pending, until it came. They do not overlap. */
export interface LongWait {
  readonly from: TraceNs;
  readonly to: TraceNs;
  readonly func: string;
  readonly seq: number;
  readonly replay: number;
}

/** Sends from `file`, or to it, take long. */
export interface SlowSends extends Costly {
  readonly on: 'link';
  /** The slowest connection. */
  readonly link: {
    /** The sender, and the receiver. */
    readonly file: number;
    readonly peerFile: number;
    readonly channel: number;
    readonly sends: number;
    /** ns on the wire, of its sends and of the communicator's other connections. */
    readonly medianNs: number;
    readonly usualNs: number;
    /** No other connection of the rank is this slow. */
    readonly isOnlyOne: boolean;
    /**
     * It stood still, so many times, longest at this step: `medianNs` is the mean time of these sends, and `usualNs` is the connection's own.
     * null: its sends are slow.
     */
    readonly stopped: { readonly step: number; readonly times: number } | null;
    /** What is slow, as far as the other links of the run show it. null: it stood still. */
    readonly fault: Pick<
      LinkFault,
      'what' | 'rank' | 'host' | 'ends' | 'pairs' | 'channel' | 'cannotTell'
    > | null;
  };
}
