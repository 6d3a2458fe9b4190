// The rank file, which the recorder writes and every reader reads. schemas/rank-file.md is the normative text. This header
// is the same contract for C++. A test compares both, and src/rankfile/format.
//
// Users
//   producer   one NCCL thread (API, launch, proxy progress...) inside the training job. Appends to its own ring.
//   recorder   the plugin's one background thread. Owns the file system, tables of clock samples, heartbeat, chunks.
//   reader     another process, now or later: of the live file, of a copy, or of the file after a SIGKILL.
//
// Vocabulary
//   slot       32 bytes: three payload words and one meta word with a check (below).
//   record     one to fifteen consecutive slots: the content of one callback.
//   area       an array of slots with its own count of positions. *Rings* are areas written by producers and
//              overwritten when full; *tables* are areas of small, rarely written facts.
//   position   the number of a slot in its area, counted from 0 for ever: position p lies at index p mod capacity.
//              Lost records are a gap in positions, which is exact and costs nothing.
//   handle     the 64-bit number that the plugin gives NCCL as void*: the place of its start record. Never reused.
//
//   0          4096              directory_offset                                        chunks_offset
//   | FileHeader | AreaEntry[area_count] | area 0: AreaLive, folds, slots | area 1 ... | chunks ... |
//
// Life of the file (FileHeader::life; moved by the recorder only)
//
//   kCreating ──header complete──▶ kRecording ──last finalize or exit──▶ kClosed ──next init──▶ kRecording
//
//   There is no "died", because a killed process cannot write it. kRecording with an old heartbeat only means "not closed,
//   last seen alive at ...".
//
// A slot is committed if its check fits its position. The head in AreaLive is a hint: it says which lap a slot belongs to,
// and may be older than the slots. In a plain copy of a live file it was thousands of records behind. A slot whose check
// fails is torn or empty. A record is complete if all its slots are committed.
//
// All numbers are little-endian. Zeroed memory is valid and empty: kind 0, life kCreating, count 0.

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace rank_file {

// 0x8E keeps text tools away, CR LF and 0x1A show a copy that was "converted" on its way (as PNG does).
constexpr uint8_t kMagic[8] = {0x8E, 'N', 'T', 'R', 0x0D, 0x0A, 0x1A, 0x0A};
constexpr uint32_t kEndianMark = 0x01020304;

// There are two versions.
//   kWriterVersion  "who wrote this?"       +1 with every change of this header that a file can show.
//   kReaderVersion  "who may read this?"    becomes kWriterVersion if an older reader would misread a new file (a field
//                   moved, a meaning changed, the check is computed otherwise). New kinds, new areas and new fields in
//                   reserved bytes do not count, because readers skip and count unknown kinds and areas.
constexpr uint16_t kWriterVersion = 2;
constexpr uint16_t kReaderVersion = 1;

constexpr uint32_t kHeaderBytes = 4096;
constexpr uint32_t kSlotBytes = 32;
constexpr uint32_t kAreaAlignment = 128;  // two cache lines, so that producers share none

// ---------------------------------------------------------------------------------------------------------------------
// Slots
//
//   word 0..2   payload, by kind
//   word 3      63........40 39..........16 15..12 11...8 7....0
//               check (24)   position (24)  parts  part   kind
//
//   parts = slots of the record, part = this one's number from 0; all slots of a record carry the same kind.
//   The check covers the payload, kind, part, parts and the *whole* 48-bit position, of which the slot stores the low 24.

struct Slot {
  uint64_t words[4];
};
static_assert(sizeof(Slot) == kSlotBytes, "format");

constexpr uint64_t kPositionMask = (uint64_t{1} << 48) - 1;
constexpr uint64_t kStoredMetaMask = (uint64_t{1} << 40) - 1;
constexpr uint32_t kMaxParts = 15;

constexpr uint64_t RotateLeft(uint64_t word, int bits) { return (word << bits) | (word >> (64 - bits)); }

// kind, part, parts and the whole position in one word; word 3 keeps its low 40 bits.
constexpr uint64_t SlotMeta(uint32_t kind, uint32_t part, uint32_t parts, uint64_t position) {
  return uint64_t{kind} | uint64_t{part} << 8 | uint64_t{parts} << 12 | (position & kPositionMask) << 16;
}

// 24 bits. Built from 32-bit multiplications so that a reader without 64-bit integers (JavaScript) is as quick.
constexpr uint32_t SlotCheck(uint64_t word0, uint64_t word1, uint64_t word2, uint64_t meta) {
  const uint64_t mixed = word0 ^ RotateLeft(word1, 21) ^ RotateLeft(word2, 42) ^ meta;
  uint32_t hash = static_cast<uint32_t>(mixed) * 0x9E3779B1u + static_cast<uint32_t>(mixed >> 32) * 0x85EBCA77u;
  hash ^= hash >> 15;
  hash *= 0xC2B2AE3Du;
  return hash >> 8;
}

constexpr uint64_t SlotWord3(uint64_t word0, uint64_t word1, uint64_t word2, uint64_t meta) {
  return (meta & kStoredMetaMask) | uint64_t{SlotCheck(word0, word1, word2, meta)} << 40;
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles and contexts: numbers, not pointers
//
//   63.............47 46..41 40.............1 0
//   tag (17)          ring   position (40)    muted
//
//   tag       one per process, random, bits 63 and 55 set: so it is unlike any user-space pointer on x86-64 and aarch64
//             (also with tagged addresses), and a parent from another process (PXN) can be recognized.
//   ring      the area that holds the start record; kContextRing marks a context, whose position is the
//             communicator's number.
//   position  of the first slot of the start record, modulo 2^40.
//   muted     the event was sampled out: there is no start record, and children inherit the bit.

constexpr int kHandleTagShift = 47;
constexpr int kHandleRingShift = 41;
constexpr int kHandlePositionShift = 1;
constexpr uint64_t kHandleMuted = 1;
constexpr uint64_t kHandlePositionMask = (uint64_t{1} << 40) - 1;
constexpr uint64_t kHandleRingMask = 63;
constexpr uint64_t kHandleTagMask = ~uint64_t{0} << kHandleTagShift;
constexpr uint64_t kHandleTagFixedBits = uint64_t{1} << 63 | uint64_t{1} << 55;
constexpr uint32_t kContextRing = 63;
constexpr uint32_t kMaxRings = 63;

constexpr uint64_t MakeHandle(uint64_t tag, uint32_t ring, uint64_t position) {
  return tag | uint64_t{ring} << kHandleRingShift | (position & kHandlePositionMask) << kHandlePositionShift;
}
constexpr bool HandleIsOurs(uint64_t handle, uint64_t tag) { return (handle & kHandleTagMask) == tag; }
constexpr uint32_t HandleRing(uint64_t handle) { return (handle >> kHandleRingShift) & kHandleRingMask; }
constexpr uint64_t HandlePosition(uint64_t handle) { return (handle >> kHandlePositionShift) & kHandlePositionMask; }

// The `comm` field of records: the communicator's number, or
constexpr uint32_t kCommNone = 0xFFFFFFFF;     // NULL context, or no room in the table
constexpr uint32_t kCommForeign = 0xFFFFFFFE;  // a context of another process, or garbage

// ---------------------------------------------------------------------------------------------------------------------
// Kinds
//
// Words are written  w0 | w1 | w2  per slot; "a:16 b:16" are bit fields from bit 0 upwards; i32 fields are two's
// complement. Every first slot has the tick in w0. Strings are numbers of the string table (below).

enum Kind : uint8_t {
  kEmpty = 0x00,

  // Tables
  kClockSample = 0x02,      // tick | REALTIME ns | MONOTONIC ns ;  bracket width in ticks | BOOTTIME ns | 0
  kCommunicator = 0x04,     // init tick | commId | rank:32 nRanks:32 ;  nNodes:32 abi:8 0:24 | name length | 0 ;
                            //   five slots of name bytes. 7 slots, at number * 8. Before v4 written once more when
                            //   the first Coll or P2p tells commId, name and rank; nRanks stays 0
  kCommunicatorEnd = 0x05,  // finalize tick | 0 | 0.  At number * 8 + 7
  kString = 0x06,           // tick | length | bytes ; three slots of bytes. 4 slots, at (id - 1) * 4
  kLease = 0x07,     // tick | first position | area:32 tid:32 ;  thread name, 16 bytes | 0. 2 slots, at number * 4
  kLeaseEnd = 0x08,  // tick | end position | 0.  At number * 4 + 2

  // Starts: 0x10 + the bit number of NCCL's event type
  kStartGroup = 0x10,         // tick | parent | comm:32 0:32
  kStartColl = 0x11,          // tick | parent | comm:32 rank:32 ;
                              //   seqNumber | count | func:16 datatype:16 algo:16 proto:16 ;
                              //   parentGroup | root:32 ordinal:32 | nChannels:8 nWarps:8 flags:16 0:32 ;
                              //   sendBuff | recvBuff | userTag ;
                              //   fifth slot from v7 on, if one of its fields is not 0:
                              //   kernelVariant:16 isSymColl:8 0:40 | 0 | 0
  kStartP2p = 0x12,           // tick | parent | comm:32 rank:32 ;
                              //   buff | count | func:16 datatype:16 nChannels:8 0:8 flags:16 ;
                              //   parentGroup | peer:32 ordinal:32 | userTag
  kStartProxyOp = 0x13,       // tick | parent | comm:32 peer:32 ;
                              //   ordinal:32 nSteps:32 | chunkSize:32 pid:32 | channel:8 isSend:8 flags:16 rank:32 ;
                              //   third slot when comm is kCommForeign: context | 0 | 0
  kStartProxyStep = 0x14,     // tick | parent | comm:32 step:32
  kStartProxyCtrl = 0x15,     // tick | parent | comm:32 0:32
  kStartKernelCh = 0x16,      // tick | parent | comm:32 channel:8 0:24 ;  pTimer | 0 | 0
  kStartNetPlugin = 0x17,     // tick | parent | comm:32 0:32 ;  id | length | wrId ;
                              //   device:32 opcode:32 | qpNum:32 type:8 0:24 | fd:32 op:32
  kStartGroupApi = 0x18,      // tick | parent | comm:32 graphCaptured:1 groupDepth:31
  kStartCollApi = 0x19,       // tick | parent | comm:32 func:16 datatype:16 ;
                              //   count | stream | root:32 graphCaptured:1 0:31 ;  userTag | 0 | 0 (from v7 on)
  kStartP2pApi = 0x1A,        // as kStartCollApi, root = -1
  kStartKernelLaunch = 0x1B,  // tick | parent | comm:32 0:32 ;  stream | 0 | 0
  kStartCeColl = 0x1C,        // tick | parent | comm:32 rank:32 ;
                              //   seqNumber | count | func:16 datatype:16 syncStrategy:16 intraBatchSync:8 0:8 ;
                              //   root:32 ceSeqNum:32 | batchSize:32 numBatches:32 | stream ;
                              //   sendBuff | recvBuff | userTag
  kStartCeSync = 0x1D,        // tick | parent | comm:32 nRanks:32 ;  isComplete:8 0:56 | 0 | 0
  kStartCeBatch = 0x1E,       // tick | parent | comm:32 numOps:32 ;  totalBytes | useIntraSync:8 0:56 | 0
  kStartKernelPhase = 0x1F,   // tick | parent | comm:32 channel:8 phase:8 0:16 ;  pTimer | name:16 0:48 | 0
  kStartUnknown = 0x20,       // tick | parent | comm:32 rank:32 ;  event type | 0 | 0

  // States, stops and repeats of started events
  kState = 0x30,  // tick | handle | state:16 value:48          (value kNoValue: NCCL gave none)
                  // two slots when either does not fit: tick | handle | state:32 0:32 ;  value | 0 | 0
  kStop = 0x31,   // tick | handle | 0
  kFold = 0x32,   // tick | handle | state:32 0:32 ;  tick of the last repeat | repeats | 0
                  // repeats of a state (or of a start, state kFoldOfStart) that were not recorded one by one

  // Tables again
  kControlChange = 0x40,  // tick | done | events:32 sampleEvery:32.  At number
                          // 0x42 is reserved: earlier recorders exchanged times with each other
};

constexpr uint64_t kNoValue = (uint64_t{1} << 48) - 1;
constexpr uint32_t kFoldOfStart = 0xFFFFFFFF;

// Flags of kStartColl, kStartP2p, kStartProxyOp.
constexpr uint16_t kOrdinalNotAbsolute = 1;  // recording was off, or the count lost, before it: joins nothing

// ordinal: how many before this one, counted from communicator init, also while muted; modulo 2^32
//   kStartColl     with the same (context, func, seqNumber): the replay ordinal of a captured graph
//   kStartP2p      with the same (context, func, peer)
//   kStartProxyOp  on the same connection (context, channel, peer, isSend)

// Table geometry: a table's entries have a fixed number of slots, entry n starts at position n * slots per entry.
constexpr uint32_t kCommunicatorSlots = 8;
constexpr uint32_t kStringSlots = 4;
constexpr uint32_t kLeaseSlots = 4;
constexpr uint32_t kClockSampleSlots = 2;
constexpr uint32_t kControlChangeSlots = 1;
constexpr uint32_t kMaxStringBytes = 80;     // 8 in the first slot, 24 in each of the other three
constexpr uint32_t kMaxCommNameBytes = 120;  // a longer name is cut; its true length is stored
constexpr uint16_t kStringNone = 0;          // NULL
constexpr uint16_t kStringLost = 0xFFFF;     // the table was full; counted in strings_lost

// ---------------------------------------------------------------------------------------------------------------------
// Areas

enum AreaClass : uint32_t {
  kRingSteps = 1,     // one proxy progress thread's ProxySteps: seconds of history
  kRingOps = 2,       // the same thread's rarer records (ProxyOp, KernelCh, ProxyCtrl): must outlive the steps
  kRingHost = 3,      // one other thread: API, launch, callback
  kRingOverflow = 4,  // shared by threads beyond the pool; several producers, positions taken by fetch-and-add
  kTableCommunicators = 16,
  kTableStrings = 17,
  kTableLeases = 18,     // which thread wrote which positions of which ring
  kTableHeartbeat = 19,  // two kClockSample entries, written alternately: the newest is the last sign of life
  kTableClock = 20,      // kClockSample entries; several areas with rising intervals cover the whole run
                         // 21 is reserved, with kind 0x42
  kTableControl = 22,    // kControlChange entries: the newest changes of what is recorded
};

struct AreaEntry {
  uint32_t area_class;
  uint32_t capacity;      // slots, a power of two
  uint64_t live_offset;   // of the AreaLive, from the start of the file
  uint64_t folds_offset;  // of the Fold entries
  uint64_t slots_offset;
  uint32_t fold_capacity;      // Fold entries, a power of two or 0
  uint32_t clock_interval_ms;  // kTableClock: intended interval; else 0
  uint64_t reserved[3];        // 0, ignored by readers
};
static_assert(sizeof(AreaEntry) == 64, "format");
static_assert(offsetof(AreaEntry, capacity) == 4 && offsetof(AreaEntry, live_offset) == 8, "format");
static_assert(offsetof(AreaEntry, folds_offset) == 16 && offsetof(AreaEntry, slots_offset) == 24, "format");
static_assert(offsetof(AreaEntry, fold_capacity) == 32 && offsetof(AreaEntry, clock_interval_ms) == 36, "format");

// Written by the area's producer on every record (kRingOverflow: by several, atomically), without ordering against the slots.
struct AreaLive {
  uint64_t head;           // next position: a hint
  uint64_t folded;         // repeats that became counts
  uint64_t muted;          // callbacks on muted events
  uint64_t null_calls;     // stop or state of a NULL handle: nothing to record
  uint64_t ordinals_lost;  // starts whose counter could not be kept (flag kOrdinalNotAbsolute)
  uint64_t reserved[11];   // 0, ignored by readers
};
static_assert(sizeof(AreaLive) == 128, "format");
static_assert(offsetof(AreaLive, folded) == 8 && offsetof(AreaLive, muted) == 16, "format");
static_assert(offsetof(AreaLive, null_calls) == 24 && offsetof(AreaLive, ordinals_lost) == 32, "format");

// The producer's cache of repeats that still go on. When another state ends the run, or another event needs the entry, the
// count moves into a kFold record and the entry is emptied. A count of 0 has no meaning. A process killed between the two
// leaves one run twice: equal handle, state and last tick count once.
struct Fold {
  uint64_t handle;     // 0: empty. Stored last when an entry is taken
  uint64_t last_tick;  // of the newest repeat
  uint64_t control;    // count:32 state:16 key:16; key = FoldKey(handle): a torn copy does not match
  uint64_t aux;        // the producer's own (which start is repeated); readers ignore it
};
static_assert(sizeof(Fold) == 32, "format");
constexpr uint16_t kFoldStateStart = 0xFFFF;  // in `control`: the start itself is repeated
constexpr uint16_t FoldKey(uint64_t handle) { return static_cast<uint16_t>(handle * 0x9E3779B97F4A7C15u >> 48); }

// ---------------------------------------------------------------------------------------------------------------------
// The header

enum Life : uint32_t { kCreating = 0, kRecording = 1, kClosed = 2 };
enum Mode : uint32_t { kFlight = 0, kStream = 1 };
enum TickSource : uint32_t { kTickTsc = 1, kTickCntvct = 2, kTickMonotonic = 3 };
// Where producers write. If not into this file, it has copies up to `copied_tick`.
enum Placement : uint32_t { kInFile = 1, kInRingFile = 2, kInMemory = 3 };

struct FileHeader {
  // [0, 2048): written once, before life becomes kRecording; header_crc covers it
  uint8_t magic[8];
  uint32_t endian_mark;
  uint16_t reader_version;  // the oldest reader that may read this
  uint16_t writer_version;
  uint32_t header_bytes;
  uint32_t header_crc;  // CRC-32 (zlib) of bytes [0, 2048) with this field 0
  uint32_t slot_bytes;
  uint32_t area_count;
  uint64_t directory_offset;
  uint64_t chunks_offset;  // where chunks may begin; 4096-aligned
  uint64_t tag;            // of this process's handles: only bits 47 to 63
  uint8_t boot_id[16];     // with pid_namespace, pid and process_start: which process, cluster-wide
  uint64_t pid_namespace;  // inode of /proc/self/ns/pid
  uint64_t process_start;  // field 22 of /proc/self/stat, clock ticks since boot
  uint32_t pid;
  uint32_t tick_source;
  uint64_t tick_hz;         // nominal; the clock samples say what it really was
  uint64_t start_tick;      // nothing in the file is older
  uint64_t start_realtime;  // ns, at start_tick
  uint64_t start_monotonic;
  int32_t rank;        // by RANK and its relatives; -1 unknown
  int32_t world_size;  // -1 unknown
  int32_t local_rank;  // -1 unknown
  uint32_t mode;
  uint64_t event_mask;    // NCCL event types asked for at init
  uint64_t sample_every;  // 1: everything. N: every Nth collective by sequence number
  uint64_t ring_bytes;    // budget of all rings
  uint64_t max_bytes;     // disk limit of stream mode; 0: none
  uint32_t placement;
  uint32_t copy_interval_ms;
  uint64_t snapshot_realtime;  // of a copy: ns since 1970 when its rings were read. 0: unknown
  uint32_t nccl_version;       // as ncclGetVersion gives it: 23007 is 2.30.7. 0: unknown
  uint32_t reserved_a[9];      // 0, ignored
  char host_name[64];          // text fields: UTF-8, NUL-terminated, cut if too long
  char run_id[128];
  char nccl_hostid[64];
  char program[64];  // name only: never arguments or environment
  char gpu[64];      // UUID or bus id, best effort
  char recorder_version[32];
  char ring_path[256];      // kInRingFile: a hint for people, never opened without request
  char options[512];        // settings in force, NAME=value separated by spaces
  uint8_t reserved_b[632];  // 0, ignored

  // [2048, 4096): changes while recording
  uint32_t life;
  uint32_t reserved_c;
  uint64_t control_word;        // events:32 sample:32, a request of another process to record this
  uint64_t control_generation;  // request:32 check:32
  uint64_t mask_now;            // NCCL event types being recorded
  uint64_t chunks_begin;        // no kept chunk is before it. 0: none yet
  uint64_t chunks_end;          // a hint
  uint64_t copied_tick;         // placement other than kInFile: rings are complete up to here
  uint64_t communicators_lost;  // table full of live ones
  uint64_t strings_lost;
  uint64_t leases_lost;
  uint64_t threads_overflowed;  // threads that found no ring of their own
  uint64_t io_errors;           // failed writes of the recorder's own, and what it lost otherwise
  uint64_t control_answered;    // the last request that was done or refused
  uint64_t control_refused;     // requests that were refused
  uint64_t sample_now;          // as sample_every
  uint64_t changed_tick;        // when mask_now or sample_now was last changed; 0: never
  uint8_t reserved_d[1920];     // 0, ignored
};
static_assert(sizeof(FileHeader) == kHeaderBytes, "format");
static_assert(offsetof(FileHeader, endian_mark) == 8 && offsetof(FileHeader, reader_version) == 12, "format");
static_assert(offsetof(FileHeader, header_bytes) == 16 && offsetof(FileHeader, header_crc) == 20, "format");
static_assert(offsetof(FileHeader, slot_bytes) == 24 && offsetof(FileHeader, area_count) == 28, "format");
static_assert(offsetof(FileHeader, directory_offset) == 32 && offsetof(FileHeader, chunks_offset) == 40, "format");
static_assert(offsetof(FileHeader, tag) == 48 && offsetof(FileHeader, boot_id) == 56, "format");
static_assert(offsetof(FileHeader, pid_namespace) == 72 && offsetof(FileHeader, process_start) == 80, "format");
static_assert(offsetof(FileHeader, pid) == 88 && offsetof(FileHeader, tick_source) == 92, "format");
static_assert(offsetof(FileHeader, tick_hz) == 96 && offsetof(FileHeader, start_tick) == 104, "format");
static_assert(offsetof(FileHeader, start_realtime) == 112 && offsetof(FileHeader, start_monotonic) == 120, "format");
static_assert(offsetof(FileHeader, rank) == 128 && offsetof(FileHeader, world_size) == 132, "format");
static_assert(offsetof(FileHeader, local_rank) == 136 && offsetof(FileHeader, mode) == 140, "format");
static_assert(offsetof(FileHeader, event_mask) == 144 && offsetof(FileHeader, sample_every) == 152, "format");
static_assert(offsetof(FileHeader, ring_bytes) == 160 && offsetof(FileHeader, max_bytes) == 168, "format");
static_assert(offsetof(FileHeader, placement) == 176 && offsetof(FileHeader, copy_interval_ms) == 180, "format");
static_assert(offsetof(FileHeader, snapshot_realtime) == 184 && offsetof(FileHeader, nccl_version) == 192, "format");
static_assert(offsetof(FileHeader, host_name) == 232 && offsetof(FileHeader, run_id) == 296, "format");
static_assert(offsetof(FileHeader, nccl_hostid) == 424 && offsetof(FileHeader, program) == 488, "format");
static_assert(offsetof(FileHeader, gpu) == 552 && offsetof(FileHeader, recorder_version) == 616, "format");
static_assert(offsetof(FileHeader, ring_path) == 648 && offsetof(FileHeader, options) == 904, "format");
static_assert(offsetof(FileHeader, life) == 2048 && offsetof(FileHeader, control_word) == 2056, "format");
static_assert(offsetof(FileHeader, control_generation) == 2064 && offsetof(FileHeader, mask_now) == 2072, "format");
static_assert(offsetof(FileHeader, chunks_begin) == 2080 && offsetof(FileHeader, chunks_end) == 2088, "format");
static_assert(offsetof(FileHeader, copied_tick) == 2096 && offsetof(FileHeader, communicators_lost) == 2104, "format");
static_assert(offsetof(FileHeader, strings_lost) == 2112 && offsetof(FileHeader, leases_lost) == 2120, "format");
static_assert(offsetof(FileHeader, threads_overflowed) == 2128 && offsetof(FileHeader, io_errors) == 2136, "format");
constexpr uint32_t kHeaderFixedBytes = 2048;

// ---------------------------------------------------------------------------------------------------------------------
// Chunks (stream mode): slots copied out of a ring before it wraps, in order, gaps allowed only between chunks.
//
// A chunk begins at a multiple of 4096. The next chunk begins at the first such multiple after its payload. If there is
// no valid chunk header (a hole punched to stay within max_bytes, a torn write), a reader tries the next multiple. If a
// position is in several chunks, or in a chunk and in the ring, the chunk that comes first counts.

constexpr uint32_t kChunkMagic = 0x4B4E4843;  // "CHNK"
constexpr uint32_t kChunkAlignment = 4096;
constexpr uint32_t kMaxChunkRawBytes = 1u << 20;
// kZstd: one independent frame of the slots.
// kZstdBare: a frame of slots without what a reader can compute, half as large: words 0 of part 0 are differences to the
// one before, bits 16 to 63 of word 3 are xored with their expected value.
// kZstdPlanes: as kZstdBare, but byte 0 of all slots first, then byte 1 and so on. Smaller and faster again.
enum Codec : uint16_t { kRaw = 0, kZstd = 1, kZstdBare = 2, kZstdPlanes = 3 };

struct ChunkHeader {
  uint32_t magic;
  uint16_t codec;
  uint16_t area;  // index in the directory
  uint64_t first_position;
  uint64_t end_position;  // one past the last; (end - first) * 32 == raw_bytes
  uint64_t first_tick;    // smallest and largest w0 of first slots inside
  uint64_t last_tick;
  uint64_t sequence;  // of chunks in this file, from 0
  uint32_t raw_bytes;
  uint32_t stored_bytes;  // of the payload that follows the header
  uint32_t payload_crc;   // CRC-32 of the stored payload
  uint32_t header_crc;    // CRC-32 of this header with this field 0
};
static_assert(sizeof(ChunkHeader) == 64, "format");
static_assert(offsetof(ChunkHeader, codec) == 4 && offsetof(ChunkHeader, area) == 6, "format");
static_assert(offsetof(ChunkHeader, first_position) == 8 && offsetof(ChunkHeader, end_position) == 16, "format");
static_assert(offsetof(ChunkHeader, first_tick) == 24 && offsetof(ChunkHeader, last_tick) == 32, "format");
static_assert(offsetof(ChunkHeader, sequence) == 40 && offsetof(ChunkHeader, raw_bytes) == 48, "format");
static_assert(offsetof(ChunkHeader, stored_bytes) == 52 && offsetof(ChunkHeader, payload_crc) == 56, "format");

// ---------------------------------------------------------------------------------------------------------------------
// Ring files (placement kInRingFile): the same bytes from 0 to chunks_offset, then the path of the rank file and where it
// holds (schemas/rank-file.md).

constexpr uint32_t kRingFileTailBytes = 4096;

}  // namespace rank_file
