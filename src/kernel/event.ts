/**
 * What a rank did, in NCCL's own terms: one row per start record, in linear memory. Times are the file's ticks; NaN stands for one that is
 * not known.
 *
 *   Host ── Host                  calls, one thread each: GroupApi with its CollApi and P2pApi, launches
 *              └─ Work            a collective (Coll) or a send/receive (P2p) as enqueued; "done" is its last child's end
 *                    ├─ Op        one channel, peer and direction
 *                    │     └─ Step   one network transfer
 *                    └─ Block     one channel's block on the GPU (KernelCh), or a phase of it
 *
 * Rows of works stay for the whole file, because each is a row of the result. All others are used again when no record can name them.
 */

import { Comm } from './comm';
import { ConnectionRows } from './connection_rows';
import { Connection, Slot, Slots } from './draw/connection';
import { Due } from './draw/due_ends';
import { Text } from './draw/text';
import { BlocksRow, CallTotalsRow, EndRow } from './result_rows';
import { EndTotals } from './transfer_totals';

export const enum Type {
  Host,
  Work,
  Op,
  Block,
  Ctrl,
}

/** -1: NULL, -2: another process's, -3: muted, not recorded. Else the ring and the position of the start record. */
export const enum Key {
  Null = -1,
  Foreign = -2,
  Muted = -3,
}

export function keyOf(ring: i32, position: f64): i64 {
  return ((<i64>ring) << 40) | ((<i64>position) & 0xff_ffff_ffff);
}

export function ringOf(key: i64): i32 {
  return <i32>(key >> 40);
}

export function positionOf(key: i64): f64 {
  return <f64>(key & 0xff_ffff_ffff);
}

/** A handle of this process as a key. */
export function keyOfHandle(handle: u64, tag17: u32): i64 {
  if (<u32>(handle >> 47) != tag17) return handle == 0 ? Key.Null : Key.Foreign;
  return handle & 1 ? Key.Muted : <i64>((handle >> 1) & 0x3fff_ffff_ffff);
}

/** State of the parent that NCCL named (parents.ts). */
export const enum Link {
  /** NULL. */
  None,
  Known,
  /** Its record is no longer in the file. */
  Lost,
  /** An impossible parent, of earlier work or of another kind. */
  Stale,
  /** Of another process. */
  Foreign,
  /** Known, but this child is already in flight, so this is one start too many. */
  Again,
}

export class Event {
  key: i64 = Key.Null;
  ring: i32 = 0;
  /** How often something names the row besides the table of events (rows.ts): as long as something does, the row stays. */
  holds: i32 = 0;
  /** No record can name it any more. */
  isDropped: bool = false;

  constructor(
    readonly type: Type,
    public comm: Comm,
  ) {}
}

/** An event that is open for a while (open_set.ts). */
export class Placed extends Event {
  /** Place among those that are open; -1: none. */
  place: i32 = -1;
  /** Number in order of arrival there. */
  arrival: f64 = 0;
}

export const enum HostKind {
  Group,
  GroupApi,
  CollApi,
  P2pApi,
  KernelLaunch,
  NetPlugin,
  CeColl,
  CeSync,
  CeBatch,
  Unknown,
}

/** A call on one host thread. NetPlugin and unknown event types are observations, of which a thread may have several at a time. */
export class Host extends Event {
  kind: HostKind = HostKind.Unknown;
  /** The call that it belongs to; -1: none is known. */
  parentKey: i64 = Key.Null;
  parentStart: f64 = NaN;
  /** Number of its text. */
  func: u32 = 0;
  datatype: u32 = 0;
  count: f64 = 0;
  root: i32 = 0;
  /** The call, or the call it belongs to, was recorded into a graph: nothing ran. */
  isCaptured: bool = false;
  /** GroupApi: depth of the group. */
  depth: u32 = 0;
  /** CollApi and P2pApi: number of this call in its file, in order of start. Else -1. */
  apiRow: i32 = -1;
  start: f64 = 0;
  /** GroupApi: from here on its thread is in the outermost ncclGroupEnd. */
  ending: f64 = NaN;
  stop: f64 = NaN;

  /** GroupApi that has not ended: its calls so far, without those that led to work (inside.ts). The calls are a list. */
  firstCall: Host | null = null;
  lastCall: Host | null = null;
  nextCall: Host | null = null;

  /** For its arguments in the drawing (draw/host_labels.ts): its record's slots, event type (if unknown), and transfer (of a plugin's event). */
  slots: usize = 0;
  userTag: u64 = 0;
  eventType: u64 = 0;
  hasTransfer: bool = false;
  transferStep: i32 = 0;
  transferComm: Comm | null = null;
  transferChannel: i32 = 0;
  transferPeer: i32 = 0;
  transferIsSend: bool = false;
  transferIsLost: bool = false;

  /** Not a call but an observation. */
  get isWatched(): bool {
    return this.kind == HostKind.NetPlugin || this.kind == HostKind.Unknown;
  }

  get isApi(): bool {
    return this.kind == HostKind.CollApi || this.kind == HostKind.P2pApi;
  }

  get hasStopped(): bool {
    return !isNaN(this.stop);
  }
}

export class Work extends Event {
  /** Number of this work in its file, in order of start. */
  row: i32 = 0;
  isColl: bool = false;
  func: u32 = 0;
  datatype: u32 = 0;
  algo: u32 = 0;
  proto: u32 = 0;
  count: f64 = 0;
  /** Coll only, else -1. */
  seq: f64 = -1;
  root: i32 = 0;
  /** P2p only, else -1. */
  peer: i32 = -1;
  ordinal: u32 = 0;
  isOrdinalAbsolute: bool = false;
  nChannels: i32 = 0;
  /** Channels on which it had operations, one bit each. */
  opChannels: u64 = 0;
  /** The CollApi or P2pApi call: its start (NaN: not known), and whether it was captured into a graph. */
  apiStart: f64 = NaN;
  isApiCaptured: bool = false;
  /** Key of the call that its call belongs to; -1: not known. */
  apiParent: i64 = Key.Null;
  /** Key of the group of calls (GroupApi; before v5 Group) in which it was called; -1: not known. */
  group: i64 = Key.Null;
  link: Link = Link.None;
  start: f64 = 0;
  /** No part of the work ran earlier than this: its call, or this replay. */
  earliest: f64 = 0;
  /** Tick. Its file ends there, before the other ranks finished it; NaN: not so, or not drawn. */
  cutOff: f64 = NaN;
  /** Stop callback: enqueued, not done. */
  enqueued: f64 = NaN;
  children: i32 = 0;
  openChildren: i32 = 0;
  /** Number of its operations whose end NCCL never reports. The two counts above exclude them. */
  endlessOps: i32 = 0;
  /** Its children so far (parents.ts). */
  claims: Claims | null = null;

  /** Ends of its children, and the first signs of the GPU. */
  readonly ends: EndRow = new EndRow();
  /** Sums over its finished sends and receives, as in Op; times count from this work's start. */
  sentAfter: f64 = 0;
  onWire: f64 = 0;
  receivedAfter: f64 = 0;
  /** Its blocks so far, while its communicator counts them (progress.ts); null: it does not. */
  progress: Progress | null = null;

  /** In the drawing: NaN: not computed yet; the slice that its stop ends. */
  correlation: f64 = NaN;
  untilEnqueued: Due | null = null;
}

/**
 * Which children of one peer, of one kind, a work has had: one bit per channel and direction. Those of a work are a list and a search tree
 * (parents.ts), whose root is the list's first.
 */
export class Claims {
  next: Claims | null = null;
  left: Claims | null = null;
  right: Claims | null = null;
  peer: i32 = 0;
  kind: i32 = 0;
  readonly begun: StaticArray<u64> = new StaticArray<u64>(8);
  readonly ended: StaticArray<u64> = new StaticArray<u64>(8);
}

/** Blocks of a work that the GPU was seen to begin and end. */
export class Progress extends BlocksRow {
  constructor(public work: Work) {
    super();
  }
}

/** One channel, peer and direction of a work. */
export class Op extends Placed {
  /** The start record was overwritten: only its steps are left. */
  isLost: bool = false;
  /** Number of this stand-in in its file, in order of its first step; -1: not a stand-in. */
  standIn: i32 = -1;
  work: Work | null = null;
  link: Link = Link.None;
  /** The parent is `Again`, but this may be normal. Where NCCL never reports ends, it says isSend 0 in both directions. */
  mayBeOtherDirection: bool = false;
  channel: i32 = -1;
  peer: i32 = -1;
  isSend: bool = false;
  nSteps: i32 = -1;
  chunkSize: i32 = -1;
  ordinal: u32 = 0;
  isOrdinalAbsolute: bool = false;
  /** Executed for another process (PXN): its context and parent there. */
  isForeign: bool = false;
  context: u64 = 0;
  foreignParent: u64 = 0;
  pid: i32 = 0;
  start: f64 = 0;
  stop: f64 = NaN;
  /** Bytes of its transfers so far (states 9 and 11). */
  bytes: f64 = 0;
  /** A state, a step or its stop came, so NCCL reports this operation's end. */
  isAlive: bool = false;
  /** NCCL will not report its end (CollNet, copies by memcpy). */
  isEndless: bool = false;
  stepsDone: i32 = 0;
  lastMove: f64 = 0;
  /** First sign of the GPU: it provided the data of a send step, or consumed the data of a receive. */
  gpuBegan: f64 = NaN;
  /** Up to NCCL 2.26: since then its GPU has filled a step, and the receiver has no room. */
  roomWanted: f64 = NaN;
  /** Arrival of a receive's first data. Until then its GPU waits for the peer. */
  firstData: f64 = NaN;
  /** The longest time for which received data waited for the GPU. Ticks: since when, and until when. */
  heldFrom: f64 = NaN;
  heldTo: f64 = NaN;
  /** Ticks: the longest time from when its GPU had filled a send until it was done. Meanwhile the GPU may have no room for more. */
  noRoom: f64 = 0;
  /**
   * Its finished steps whose data passed the border of the node: when its GPU had filled them, or they had arrived, in ticks after `start`,
   * all together; and how long they were on the wire, together.
   */
  passedSteps: f64 = 0;
  passedAfter: f64 = 0;
  onWire: f64 = 0;
  /** Arrival of its newest data. */
  lastData: f64 = NaN;
  /** Its steps in flight, in order: few at a time. */
  openSteps: Step[] = [];
  /** Its lane of the connection, and its set of step slots there; -1: none (draw/ops.ts). */
  lane: i32 = -1;
  slotSet: i32 = -1;
  /** Totals that its steps add to, once they are known (transfers.ts). */
  totals: EndTotals | null = null;
  callTotals: CallTotalsRow | null = null;
  /** Once `hasRows`, what its rows have in common (step_rows.ts): their connection (null: its other end is not known), and two numbers. */
  hasRows: bool = false;
  rows: ConnectionRows | null = null;
  rowCheck: f64 = 0;
  rowArrives: f64 = 0;

  /** In the drawing, while its slice is open: its connection, begin, step slots, and what its arrows share (0: it has none). */
  connection: Connection | null = null;
  slice: i32 = 0;
  drawnAt: f64 = 0;
  slots: Slots | null = null;
  flow: u64 = 0;
  /** Row of its next step in the census of arrows. */
  flowRow: i32 = 0;

  get hasStopped(): bool {
    return !isNaN(this.stop);
  }
}

/**
 * The phase of a step. Each phase ends where the next begins. The numbers rise in NCCL's order (a step is either sent or received), so a
 * comparison finds a state that is late or repeated.
 */
export const enum Phase {
  Posted = 0,
  SendGpuWait = 1,
  PeerWait = 2,
  SendWait = 3,
  RecvWait = 4,
  FlushWait = 5,
  RecvGpuWait = 6,
}

/** One network transfer (ProxyStep) in flight. */
export class Step {
  isInFlight: bool = false;
  number: i32 = 0;
  start: f64 = 0;
  phase: Phase = Phase.Posted;
  phaseSince: f64 = 0;
  /** When its GPU had filled a send; NaN: not yet. */
  filled: f64 = NaN;
  /** Size of the transfer; NaN until NCCL reports it. */
  bytes: f64 = NaN;
  /** State 20: the newest poll, and the number of polls. */
  lastPoll: f64 = NaN;
  polls: f64 = 0;
  /** State 11: a receive's data had arrived. */
  arrived: f64 = NaN;
  /** How often this row was used. A handle that names an earlier use is out of date. */
  use: u32 = 0;
  /** Since the network took it: its connection, and the clock of the wire then (wire.ts). */
  sendEnd: EndTotals | null = null;
  onWireSince: f64 = 0;
  /** Begin of its wait, for the totals of a report (transfers.ts) and for tables (step_table.ts). */
  waitSince: f64 = 0;
  /** ns in the phases that it has left, for tables. */
  gpuWait: f64 = NaN;
  peerWait: f64 = NaN;
  sendWait: f64 = NaN;
  recvWait: f64 = NaN;
  flushWait: f64 = NaN;
  /** Its handles that the table of handles has no place for (step_handles.ts). */
  displaced: u64[] | null = null;
  /** Repeated starts by NCCL (a registered buffer whose kernel had not begun): their number, and the newest. */
  startRepeats: f64 = 0;
  lastStartRepeat: f64 = NaN;
  /** Where it is drawn. */
  slot: Slot | null = null;

  constructor(public op: Op) {}
}

/** One channel's block on the GPU (KernelCh), or a phase of it (KernelPhase). */
export class Block extends Placed {
  isPhase: bool = false;
  /** A phase whose parent is the block: it adds nothing about the work. */
  isWithinBlock: bool = false;
  work: Work | null = null;
  link: Link = Link.None;
  channel: i32 = 0;
  /** When the proxy thread noticed. */
  start: f64 = 0;
  stop: f64 = NaN;
  /** ns of the GPU's timer, relative to the recording's start; NaN: NCCL gave none. */
  timerStart: f64 = NaN;
  timerStop: f64 = NaN;
  /** Its stamps are those of other work (stamp_owners.ts), so they are not used. */
  isOfOther: bool = false;
  /** Completions after its stop: they belong to other work, whose start NCCL never reported. */
  strayCompletions: i32 = 0;
  /** Name of a phase, in the drawing. */
  phase: Text | null = null;
}

/** A ProxyCtrl event only carries states. They belong to its thread. */
export class Ctrl extends Event {}
