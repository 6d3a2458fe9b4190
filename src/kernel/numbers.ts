/**
 * The numbers of rank files that the kernel needs. test/kernel/numbers.test.ts holds them to src/rankfile/format, where each is explained.
 */

export const SLOT_BYTES: i32 = 32;
/** A record has at most this many slots. */
export const MAX_PARTS: i32 = 15;
export const MAX_RINGS: i32 = 63;
/** In a handle's ring field: a context, with the communicator's number as position. */
export const CONTEXT_RING: i32 = 63;
/** The `comm` field: a context of another process. */
export const COMM_FOREIGN: u32 = 0xfffffffe;
/** In the state of a Fold record: the start itself was repeated. */
export const FOLD_OF_START: u32 = 0xffffffff;
/** In the value of a State record: NCCL gave none. */
export const NO_VALUE: u64 = (1 << 48) - 1;

/** NCCL keeps at most this many steps of a connection in flight and names their slots step % 8. */
export const NCCL_STEPS: i32 = 8;

/** Classes of rings. */
export const enum RingClass {
  Steps = 1,
  Ops = 2,
  Host = 3,
  Overflow = 4,
}

/** Kinds of records. */
export const enum Kind {
  ClockSample = 0x02,

  StartGroup = 0x10,
  StartColl = 0x11,
  StartP2p = 0x12,
  StartProxyOp = 0x13,
  StartProxyStep = 0x14,
  StartProxyCtrl = 0x15,
  StartKernelCh = 0x16,
  StartNetPlugin = 0x17,
  StartGroupApi = 0x18,
  StartCollApi = 0x19,
  StartP2pApi = 0x1a,
  StartKernelLaunch = 0x1b,
  StartCeColl = 0x1c,
  StartCeSync = 0x1d,
  StartCeBatch = 0x1e,
  StartKernelPhase = 0x1f,
  StartUnknown = 0x20,

  State = 0x30,
  Stop = 0x31,
  Fold = 0x32,
}

/** NCCL's states of events. */
export const enum State {
  OpSendRemFifoWait = 1,
  OpSendTransmitted = 2,
  OpRecvDone = 7,
  SendGpuWait = 8,
  SendWait = 9,
  RecvWait = 10,
  RecvFlushWait = 11,
  RecvGpuWait = 12,
  CtrlIdle = 13,
  CtrlActive = 14,
  CtrlSleep = 15,
  CtrlWakeup = 16,
  CtrlAppend = 17,
  CtrlAppendEnd = 18,
  OpInProgress = 19,
  SendPeerWait = 20,
  NetPluginUpdate = 21,
  KernelChStop = 22,
  GroupStartApiStop = 23,
  GroupEndApiStart = 24,
  CeCollStart = 25,
  CeBatchComplete = 30,
  KernelPhaseStop = 31,
}
