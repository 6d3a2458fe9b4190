// NCCL's names and sizes: functions, protocols, buffers, steps. Numbers as of NCCL 2.30 with default settings.

#pragma once

#include <cstddef>

namespace loopback {

/** Channels of a communicator, and how many of them one send or receive may use. */
struct ChannelLimits {
  int all;
  int ofPeer;
};

/** AlltoAll is the user's call. NCCL makes sends and receives of it. */
enum class Func { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kReduce, kSend, kRecv, kAllToAll };
constexpr int kFuncs = 8;
constexpr bool IsP2p(Func func) { return func == Func::kSend || func == Func::kRecv; }
/** Data flows from or to one rank. */
constexpr bool HasRoot(Func func) { return func == Func::kBroadcast || func == Func::kReduce; }
/** The larger buffer has one block per rank. */
constexpr bool InBlocks(Func func) {
  return func == Func::kAllGather || func == Func::kReduceScatter || func == Func::kAllToAll;
}

/** The strings that NCCL passes to a plugin: static literals. */
const char* FuncName(Func func);

enum class Algo { kRing, kTree };
const char* AlgoName(Algo algo);

enum class Proto { kLl, kLl128, kSimple };
constexpr int kProtos = 3;
const char* ProtoName(Proto proto);

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

/** The longest message of a network that is given the user's memory: NCCL's NCCL_MAX_NET_SIZE. */
constexpr size_t kMaxMessage = 1024 * kMiB;

/** Slots of a connection's buffer: the most steps in flight. */
constexpr int kSteps = 8;
/** Shared connections divide this many steps among their channels. */
constexpr int kSharedSteps = 16;
constexpr int kMaxChannels = 64;
/** A kernel's start and stop marks: a ring of this many per channel. */
constexpr int kMaxProfilerMarks = 64;
constexpr int kElementBytes = 4;  // everything here is float

/**
 * How a protocol puts payload into lines on the wire. SIMPLE has no lines. LL has a flag beside every 4 bytes, LL128 an
 * 8-byte flag behind 120 bytes. Chunks are rounded down to multiples of the grain.
 */
struct ProtoShape {
  size_t slotBytes;  // wire bytes of one step
  size_t lineBytes;
  size_t linePayload;
  size_t grainBytes;
};
constexpr ProtoShape kProtoShapes[kProtos] = {
    {64 * kKiB, 16, 8, 16},
    {614400, 128, 120, 1920},
    {512 * kKiB, 1, 1, 512},
};
constexpr const ProtoShape& Shape(Proto proto) { return kProtoShapes[static_cast<int>(proto)]; }

constexpr size_t DivUp(size_t a, size_t b) { return (a + b - 1) / b; }
constexpr size_t RoundUp(size_t a, size_t b) { return DivUp(a, b) * b; }

/** Bytes on the wire for this many bytes of payload. */
constexpr size_t WireBytes(Proto proto, size_t payload) {
  return DivUp(payload, Shape(proto).linePayload) * Shape(proto).lineBytes;
}
/** Payload one step can carry. */
constexpr size_t SlotPayload(Proto proto) {
  return Shape(proto).slotBytes / Shape(proto).lineBytes * Shape(proto).linePayload;
}

static_assert(SlotPayload(Proto::kLl) == 32 * kKiB, "LL carries a flag for each word");
static_assert(SlotPayload(Proto::kLl128) == 576000, "LL128 carries 120 of 128 bytes");
static_assert(SlotPayload(Proto::kSimple) == 512 * kKiB, "SIMPLE carries payload only");

}  // namespace loopback
