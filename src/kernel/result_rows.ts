/**
 * The tables that leave the kernel row by row. Each class describes one, once: its fields are the columns, in this order, in the kernel's
 * memory and on the host, which imports the class (`Numbers.columns`). A column is added here and nowhere else. All are numbers; times are
 * ticks unless a comment says otherwise; NaN: not known. Names are numbers of texts, flags are 1 or 0.
 */

/** What a work is. */
export class WorkRow {
  /** Key of its start record. */
  key: f64 = NaN;
  /** Number of the communicator; -1: not known. */
  comm: f64 = NaN;
  func: f64 = NaN;
  /** -1: a P2p. */
  seq: f64 = NaN;
  /** -1: a Coll. */
  peer: f64 = NaN;
  ordinal: f64 = NaN;
  /** Flag. */
  ordinalAbsolute: f64 = NaN;
  count: f64 = NaN;
  datatype: f64 = NaN;
  algo: f64 = NaN;
  proto: f64 = NaN;
  /** Rank in the communicator; -1: a P2p. */
  root: f64 = NaN;
  /** The application's call if NCCL reports it and it is not a captured graph's, else the start. */
  arrival: f64 = NaN;
  /** End of the enqueueing; NaN: not reached. */
  enqueued: f64 = NaN;
  start: f64 = NaN;
  /** Key of the group of calls; -1: not known. */
  group: f64 = NaN;
  ring: f64 = NaN;
  /** Announced, and with operations so far. 0: not known. */
  channels: f64 = NaN;
  opChannels: f64 = NaN;
  children: f64 = NaN;
  openChildren: f64 = NaN;
  /** Operations whose end NCCL never reports. The two counts above exclude them. */
  endlessOps: f64 = NaN;
}

/** When a work was done, as far as its children show, and the first signs of the GPU (work_ends.ts). */
export class EndRow {
  /** End of the last ProxyOp, and of the last receiving one: all data from others had arrived. */
  lastOp: f64 = NaN;
  lastRecv: f64 = NaN;
  /** When the end of the last KernelCh was noticed; its first start and last end by the GPU's clock (ns), if it has stamps that can be right. */
  noticed: f64 = NaN;
  firstStamp: f64 = NaN;
  lastStamp: f64 = NaN;
  /** The first block's start by its own stamp, and when it was noticed. */
  kernelStamp: f64 = NaN;
  kernelNoticed: f64 = NaN;
  /** The first send step's data were ready, or received data were consumed. */
  step: f64 = NaN;
  /** A receive's first data had arrived. */
  data: f64 = NaN;
  /** The longest time for which received data waited for the GPU, and its channel. */
  heldFrom: f64 = NaN;
  heldTo: f64 = NaN;
  heldChannel: f64 = NaN;
  /** The longest time from when the GPU filled a send until it was done. */
  noRoom: f64 = 0;
  /**
   * Finished sends (0 before interface v4, where their times are not known), and the steps of all of them: their number, when its GPU had
   * filled them, on average, and for how long they were on the wire from then on. Then the received steps: their number, and when they had
   * arrived.
   */
  sends: f64 = 0;
  sentSteps: f64 = 0;
  sentAt: f64 = NaN;
  onWire: f64 = NaN;
  receivedSteps: f64 = 0;
  receivedAt: f64 = NaN;
}

/** A call of a collective on a known communicator. */
export class CollCall {
  at: f64 = NaN;
  key: f64 = NaN;
  comm: f64 = NaN;
  /** Row of the shapes. */
  shape: f64 = NaN;
  /** CallFlag. */
  flags: f64 = NaN;
}

/** A call of a collective, a send or a receive. */
export class ApiCall {
  /** NaN: its work is known. */
  at: f64 = NaN;
  /** Key of its group; -1: none that has not ended. The work may come until the group ends. */
  group: f64 = NaN;
  func: f64 = NaN;
}

/** Records that fit no event or are unknown to this version, counted by cause (odd.ts). */
export class OddRow {
  /** States and stops of events that began before the ring's window. They are normal. */
  beganBefore: f64 = 0;
  /** States and stops after the event's stop, or of events that are not in the file. */
  afterStop: f64 = 0;
  /** States and stops with handles of other processes. */
  foreign: f64 = 0;
  /** States that a step had already left, except polls of state 20. */
  repeatedStates: f64 = 0;
  /** Second stops of queue pairs: one when it is done, one with its request. They are expected. */
  netStopsAgain: f64 = 0;
  /** Completions of kernels without a reported start. NCCL reports them under the kernel before. */
  kernelsWithoutStart: f64 = 0;
  /** Impossible parents: events of earlier work. */
  staleParents: f64 = 0;
  /** Operations and kernels that NCCL started again while they were in flight. */
  startsAgain: f64 = 0;
  /** Events started after their communicator's finalize, except those of proxy threads. */
  afterFinalize: f64 = 0;
  /** Steps that ended with their operation, without an own stop. */
  stepsWithoutStop: f64 = 0;
}

/** An unknown number, of 64 bits, and how often it came (odd.ts). */
export class UnknownRow {
  what: f64 = NaN;
  event: f64 = NaN;
  high: f64 = NaN;
  low: f64 = NaN;
  count: f64 = 1;
}

/** An operation that had not ended. */
export class OpenOpRow {
  /** Row of its work; -1: none is known. */
  work: f64 = NaN;
  /** Flag: executed for another process (PXN), for the work of this handle there. */
  isForeign: f64 = NaN;
  parentHigh: f64 = NaN;
  parentLow: f64 = NaN;
  /** Flag: NCCL never reports its end. */
  isEndless: f64 = NaN;
  ring: f64 = NaN;
  lastMove: f64 = NaN;
  channel: f64 = NaN;
  peer: f64 = NaN;
  /** Flag. */
  isSend: f64 = NaN;
  nSteps: f64 = NaN;
  stepsDone: f64 = NaN;
  /** Since when a send that waits for its GPU has had no room at its peer; NaN: it has room. */
  roomWanted: f64 = NaN;
  /** The oldest step in flight, and since when it is in which phase. */
  step: f64 = NaN;
  phase: f64 = NaN;
  since: f64 = NaN;
}

/** A block that the GPU had not ended. Row of its work; -1: none is known. */
export class OpenBlockRow {
  work: f64 = NaN;
  ring: f64 = NaN;
  start: f64 = NaN;
}

/** A work after which none began, where NCCL reported all earlier ones in full (progress.ts). */
export class BlocksRow {
  /** Its row, and the ring with its kernels. */
  workRow: f64 = NaN;
  ring: f64 = NaN;
  /** Announced blocks; those that began and ended, and those with stamps of other work. */
  channels: f64 = NaN;
  begun: f64 = 0;
  ended: f64 = 0;
  ofOther: f64 = 0;
  /** Flag. */
  hasOps: f64 = 0;
}

/** When anything of a communicator last began, moved on or ended before its finalize. */
export class MoveRow {
  comm: f64 = NaN;
  at: f64 = NaN;
}

/** An operation whose start is lost: the steps done, if its stop is not in the file. 0: it is, or a step is in flight. */
export class StandInRow {
  stepsDone: f64 = NaN;
}

/** What was called. Many calls share one shape. `root` NaN: the function has none. */
export class ShapeRow {
  func: f64 = NaN;
  datatype: f64 = NaN;
  count: f64 = NaN;
  root: f64 = NaN;
}

/** The calls on one communicator. */
export class CommCallsRow {
  comm: f64 = NaN;
  calls: f64 = 0;
  /** Flag: one was recorded into a graph. */
  hasCaptured: f64 = 0;
  /** From this call on, all groups and names are known. */
  knownFrom: f64 = 0;
  /** Flag: the newest call's group has not ended. */
  isLastOpen: f64 = 0;
}

/** A call that had not returned. */
export class InsideRow {
  comm: f64 = NaN;
  ring: f64 = NaN;
  func: f64 = NaN;
  datatype: f64 = NaN;
  /** HostKind. */
  kind: f64 = NaN;
  count: f64 = NaN;
  root: f64 = NaN;
  /** Flag. */
  isCaptured: f64 = NaN;
  at: f64 = NaN;
  key: f64 = NaN;
}

/** When the process last did anything with NCCL (NaN: never), and the length of the time in which its pauses are known. */
export class QuietRow {
  newest: f64 = NaN;
  watchedFor: f64 = 0;
}

/** A pause (quiet_times.ts). */
export class SpanRow {
  from: f64 = NaN;
  end: f64 = NaN;
}

/** Operations whose end NCCL never reports, and among the repeats those of the other direction (endless.ts). */
export class EndlessRow {
  count: f64 = 0;
  otherDirection: f64 = 0;
}

/** A connection on which nothing ever moved. `user`: endless.ts. */
export class EndlessConnectionRow {
  comm: f64 = NaN;
  channel: f64 = NaN;
  peer: f64 = NaN;
  user: f64 = NaN;
}

/** What was executed for a work of another process (PXN). Context and parent: as NCCL passed them. */
export class ForeignRow {
  contextHigh: f64 = NaN;
  contextLow: f64 = NaN;
  parentHigh: f64 = NaN;
  parentLow: f64 = NaN;
  pid: f64 = NaN;
  ops: f64 = 0;
  open: f64 = 0;
  /** NaN: none has stopped. */
  lastStop: f64 = NaN;
}

/** One end of a connection. */
export class ConnectionRow {
  /** Number of the communicator; -1: not known, or another process's (PXN). */
  comm: f64 = NaN;
  channel: f64 = NaN;
  peer: f64 = NaN;
  /** Flag. */
  isSend: f64 = NaN;
}

/** Its transfers that the scan keeps: how many it does not keep, and how often the share of first and later steps was halved. */
export class KeptStepsRow extends ConnectionRow {
  sampledOut: f64 = 0;
  halvedFirst: f64 = 0;
  halvedLater: f64 = 0;
}

/** The totals of its transfers. */
export class ConnectionTotalsRow extends ConnectionRow {
  gpuWait: f64 = 0;
  peerWait: f64 = 0;
  sendWait: f64 = 0;
  recvWait: f64 = 0;
  flushWait: f64 = 0;
  transfers: f64 = 0;
  bytes: f64 = 0;
  /** Transfers that had not ended: their number, begin of the oldest one's wait, and the wait. */
  open: f64 = 0;
  openSince: f64 = 0;
  openWait: f64 = 0;
  /** Bytes of the operations that were seen to start and that are of this process: what chooses the counters that are drawn. */
  drawn: f64 = 0;
  /** The send that was on the wire longest: how long, since when, and its step. */
  longest: f64 = 0;
  longestSince: f64 = 0;
  longestStep: f64 = 0;
}

/** Its sends of one size; -1: not reported, up to interface v3. */
export class SizeRow {
  bytes: f64 = NaN;
  /** Ticks squared, since the last poll of each; sends without a size have none. */
  sumOfSquares: f64 = 0;
  least: f64 = Infinity;
  /** Sum of their own times on the wire (wire.ts). */
  own: f64 = 0;
}

/** One function of one communicator: the waits of all its transfers, and its sends that ended. */
export class CallTotalsRow {
  comm: f64 = NaN;
  /** 0: not known. */
  func: f64 = NaN;
  sends: f64 = 0;
  bytes: f64 = 0;
  /** Sends whose time on the wire is known, and the sum of these times. */
  timed: f64 = 0;
  took: f64 = 0;
  gpuWait: f64 = 0;
  peerWait: f64 = 0;
  sendWait: f64 = 0;
  recvWait: f64 = 0;
  flushWait: f64 = 0;
}

/** What a block of packets has. */
export class BlockCountsRow {
  /** Instants included. */
  slices: f64 = 0;
  openSlices: f64 = 0;
  /** Without phases of steps that ended when they began. Those are written as instants, too. */
  instants: f64 = 0;
  counterSamples: f64 = 0;
  /** Leaving a state does not count. */
  states: f64 = 0;
  tracksWithData: f64 = 0;
  bytes: f64 = 0;
}

/** And how many slices, without instants, lie in the drawn part, by their tracks' detail. */
export class TallyRow extends BlockCountsRow {
  coll: f64 = 0;
  op: f64 = 0;
  step: f64 = 0;
}

/** Arrow ends that a rank has drawn: steps [from, end) of one end of an operation. An operation may have several rows. */
export class FlowEndRow {
  /** Shared by all arrows of the operation, in 52 bits. */
  operation: f64 = NaN;
  /** Flag. */
  sends: f64 = NaN;
  from: f64 = 0;
  /** 0: none. */
  end: f64 = 0;
}

/** When a work ended, as the scan of all files knows. The host writes it for the drawing (draw/work_ends.ts). */
export class WorkEndRow {
  /** As src/model/work_end.ts numbers them. */
  outcome: f64 = NaN;
  /**
   * Its last operation's end; when the end of its last block was noticed; when its communicator was finalized, or the file ended (CutOff).
   */
  lastOp: f64 = NaN;
  noticed: f64 = NaN;
  until: f64 = NaN;
  /** ns of the GPU's timer: its first start and last end. */
  firstStamp: f64 = NaN;
  lastStamp: f64 = NaN;
  /** Its sends that other processes execute: their number, ns of the trace when the last one ended, the processes (a text of the host). */
  executed: f64 = 0;
  executedEnd: f64 = NaN;
  executors: f64 = 0;
}

/** A stamp of a GPU (stamps.ts). All times are ns; all but the GPU's are of the host's clock. */
export class StampRow {
  comm: f64 = NaN;
  /** When it was noticed, and the earliest it can have been taken (-Infinity: not known). */
  noticed: f64 = NaN;
  earliest: f64 = NaN;
  gpu: f64 = NaN;
  /** The call of its launch; NaN: by a graph, or not reported. */
  launched: f64 = NaN;
}

/** One network transfer of one end, for tables (step_table.ts). Times are ns; the first three on the axis of the trace. */
export class TransferRow {
  /** The communicator's number in its file, and numbers of ranks, channels and operations as NCCL counts them. */
  comm: f64 = NaN;
  peer: f64 = NaN;
  channel: f64 = NaN;
  /** Flag. */
  isSend: f64 = NaN;
  /** Number of its function's text, sequence number, and the row of its work in the file. */
  func: f64 = NaN;
  seq: f64 = NaN;
  work: f64 = NaN;
  /** Ordinal of the operation on its connection. */
  op: f64 = NaN;
  step: f64 = NaN;
  bytes: f64 = NaN;
  start: f64 = NaN;
  /** The same in microseconds since 1970, as endTime. */
  startTime: f64 = NaN;
  /** NaN: in flight when the records end. */
  end: f64 = NaN;
  endTime: f64 = NaN;
  gpuWait: f64 = NaN;
  peerWait: f64 = NaN;
  sendWait: f64 = NaN;
  recvWait: f64 = NaN;
  flushWait: f64 = NaN;
  /** The phase that it is in when the records end; NaN: it has ended. */
  waitsIn: f64 = NaN;
  polls: f64 = NaN;
}
