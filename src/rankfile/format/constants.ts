/**
 * The numbers of schemas/rank-file.md: kinds, classes, sizes, offsets, without computation. native/format/rank_file.h has the same numbers
 * for C++. test/rankfile/format/contract.test.ts compares all three, so the names follow those of the C++ header (kHeaderBytes is
 * HEADER_BYTES, Kind::kStop is Kind.Stop).
 */

export const MAGIC: readonly number[] = [0x8e, 0x4e, 0x54, 0x52, 0x0d, 0x0a, 0x1a, 0x0a];
export const ENDIAN_MARK = 0x01020304;

export const WRITER_VERSION = 2;
export const READER_VERSION = 1;

export const HEADER_BYTES = 4096;
/** Bytes that are written once; the header's CRC covers them. */
export const HEADER_FIXED_BYTES = 2048;
export const SLOT_BYTES = 32;
export const AREA_ALIGNMENT = 128;

export const POSITION_MASK = 2 ** 48 - 1;
export const STORED_META_MASK = 2 ** 40 - 1;
export const MAX_PARTS = 15;

export const HANDLE_TAG_SHIFT = 47;
export const HANDLE_RING_SHIFT = 41;
export const HANDLE_POSITION_SHIFT = 1;
export const HANDLE_MUTED = 1;
export const HANDLE_POSITION_MASK = 2 ** 40 - 1;
export const HANDLE_RING_MASK = 63;
export const HANDLE_TAG_MASK = 0xffff_8000_0000_0000n;
export const HANDLE_TAG_FIXED_BITS = 0x8080_0000_0000_0000n;
/** In a handle's ring field: a context, with the communicator's number as position. */
export const CONTEXT_RING = 63;
export const MAX_RINGS = 63;

/** The `comm` field: NULL context. */
export const COMM_NONE = 0xffffffff;
/** The `comm` field: a context of another process. */
export const COMM_FOREIGN = 0xfffffffe;

export const Kind = {
  Empty: 0x00,

  ClockSample: 0x02,
  Communicator: 0x04,
  CommunicatorEnd: 0x05,
  String: 0x06,
  Lease: 0x07,
  LeaseEnd: 0x08,

  StartGroup: 0x10,
  StartColl: 0x11,
  StartP2p: 0x12,
  StartProxyOp: 0x13,
  StartProxyStep: 0x14,
  StartProxyCtrl: 0x15,
  StartKernelCh: 0x16,
  StartNetPlugin: 0x17,
  StartGroupApi: 0x18,
  StartCollApi: 0x19,
  StartP2pApi: 0x1a,
  StartKernelLaunch: 0x1b,
  StartCeColl: 0x1c,
  StartCeSync: 0x1d,
  StartCeBatch: 0x1e,
  StartKernelPhase: 0x1f,
  StartUnknown: 0x20,

  State: 0x30,
  Stop: 0x31,
  Fold: 0x32,

  ControlChange: 0x40,
} as const;
export type KindName = keyof typeof Kind;

/** In the value of a State record: NCCL gave none. */
export const NO_VALUE = 2 ** 48 - 1;
/** In the state of a Fold record: the start itself was repeated. */
export const FOLD_OF_START = 0xffffffff;
/** Flag of StartColl, StartP2p, StartProxyOp: the ordinal cannot be joined. */
export const ORDINAL_NOT_ABSOLUTE = 1;

export const COMMUNICATOR_SLOTS = 8;
export const STRING_SLOTS = 4;
export const LEASE_SLOTS = 4;
export const CLOCK_SAMPLE_SLOTS = 2;
export const CONTROL_CHANGE_SLOTS = 1;
export const MAX_STRING_BYTES = 80;
export const MAX_COMM_NAME_BYTES = 120;
export const STRING_NONE = 0;
export const STRING_LOST = 0xffff;

export const AreaClass = {
  RingSteps: 1,
  RingOps: 2,
  RingHost: 3,
  RingOverflow: 4,
  TableCommunicators: 16,
  TableStrings: 17,
  TableLeases: 18,
  TableHeartbeat: 19,
  TableClock: 20,
  TableControl: 22,
} as const;

/** In the state of a Fold entry (16 bits): the start itself is repeated. */
export const FOLD_STATE_START = 0xffff;

export const Life = { Creating: 0, Recording: 1, Closed: 2 } as const;
export const Mode = { Flight: 0, Stream: 1 } as const;
export const TickSource = { TickTsc: 1, TickCntvct: 2, TickMonotonic: 3 } as const;
export const Placement = { InFile: 1, InRingFile: 2, InMemory: 3 } as const;

export const CHUNK_MAGIC = 0x4b4e4843;
export const CHUNK_ALIGNMENT = 4096;
export const MAX_CHUNK_RAW_BYTES = 2 ** 20;
export const RING_FILE_TAIL_BYTES = 4096;
export const Codec = { Raw: 0, Zstd: 1, ZstdBare: 2, ZstdPlanes: 3 } as const;

// Byte offsets of the fields of each structure; reserved fields are left out.

export const FILE_HEADER = {
  magic: 0,
  endianMark: 8,
  readerVersion: 12,
  writerVersion: 14,
  headerBytes: 16,
  headerCrc: 20,
  slotBytes: 24,
  areaCount: 28,
  directoryOffset: 32,
  chunksOffset: 40,
  tag: 48,
  bootId: 56,
  pidNamespace: 72,
  processStart: 80,
  pid: 88,
  tickSource: 92,
  tickHz: 96,
  startTick: 104,
  startRealtime: 112,
  startMonotonic: 120,
  rank: 128,
  worldSize: 132,
  localRank: 136,
  mode: 140,
  eventMask: 144,
  sampleEvery: 152,
  ringBytes: 160,
  maxBytes: 168,
  placement: 176,
  copyIntervalMs: 180,
  snapshotRealtime: 184,
  ncclVersion: 192,
  hostName: 232,
  runId: 296,
  ncclHostid: 424,
  program: 488,
  gpu: 552,
  recorderVersion: 616,
  ringPath: 648,
  options: 904,
  life: 2048,
  controlWord: 2056,
  controlGeneration: 2064,
  maskNow: 2072,
  chunksBegin: 2080,
  chunksEnd: 2088,
  copiedTick: 2096,
  communicatorsLost: 2104,
  stringsLost: 2112,
  leasesLost: 2120,
  threadsOverflowed: 2128,
  ioErrors: 2136,
  controlAnswered: 2144,
  controlRefused: 2152,
  sampleNow: 2160,
  changedTick: 2168,
} as const;

/** Sizes of the header's text fields. */
export const TEXT_BYTES = {
  hostName: 64,
  runId: 128,
  ncclHostid: 64,
  program: 64,
  gpu: 64,
  recorderVersion: 32,
  ringPath: 256,
  options: 512,
} as const;

export const AREA_ENTRY_BYTES = 64;
export const AREA_ENTRY = {
  areaClass: 0,
  capacity: 4,
  liveOffset: 8,
  foldsOffset: 16,
  slotsOffset: 24,
  foldCapacity: 32,
  clockIntervalMs: 36,
} as const;

export const AREA_LIVE_BYTES = 128;
export const AREA_LIVE = { head: 0, folded: 8, muted: 16, nullCalls: 24, ordinalsLost: 32 } as const;

export const FOLD_BYTES = 32;
export const FOLD = { handle: 0, lastTick: 8, control: 16, aux: 24 } as const;

export const CHUNK_HEADER_BYTES = 64;
export const CHUNK_HEADER = {
  magic: 0,
  codec: 4,
  area: 6,
  firstPosition: 8,
  endPosition: 16,
  firstTick: 24,
  lastTick: 32,
  sequence: 40,
  rawBytes: 48,
  storedBytes: 52,
  payloadCrc: 56,
  headerCrc: 60,
} as const;
