// Partitions a collective or a transfer into channels, loops, chunks and steps. Pure arithmetic, as in NCCL 2.30
// (enqueue.cc). The proxy and the simulated GPU follow these numbers.
//
//   collective ──▶ parts (one per channel) ──▶ loops ──▶ hops around the ring ──▶ chunks ──▶ slices
//
// One slice is one network transfer: one ProxyStep on each side. A slice covers `sliceSteps` buffer slots, a chunk
// `chunkSteps`.

#pragma once

#include <optional>
#include <vector>

#include "loopback/sizes.h"

namespace loopback {

/** From `--proto` or an operation's suffix. Nothing: choose by size. */
using ProtoChoice = std::optional<Proto>;

/** Likewise from `--algo`. Nothing: a ring. */
using AlgoChoice = std::optional<Algo>;

/** The share of one channel. */
struct ChannelPart {
  int channel;
  size_t offset;  // bytes into the operation's buffer (InBlocks: into each rank's block)
  size_t bytes;   // of that buffer or block
  int loops;
  int rawSteps;  // buffer slots used in each direction
  int nSteps;    // transfers in each direction: rawSteps in units of sliceSteps
};

struct CollRequest {
  Func func;
  size_t bytes;  // the buffer; InBlocks: one rank's block
  ProtoChoice proto;
  AlgoChoice algo;  // AllReduce
  bool registered = false;
};

struct CollPartition {
  Algo algo;
  Proto proto;
  int chunkSteps;
  int sliceSteps;
  size_t chunkBytes;  // payload of one chunk, before the last loop shrinks it
  std::vector<ChannelPart> parts;
};

/** Partitions the collectives of one kernel together, because they share its channels. In the order of the requests. */
std::vector<CollPartition> PartitionCollectives(const std::vector<CollRequest>& requests, int nRanks, int maxChannels);

struct P2pPartition {
  Proto proto;
  size_t chunkBytes;
  std::vector<ChannelPart> parts;
};

/** Both ends compute the same partition: `round` is (receiver - sender) modulo nRanks and chooses the first channel. */
/**
 * The round in which NCCL sends `distance` ranks ahead, if each rank is a node of its own: distances 0, 1, 3, 6 and so on,
 * modulo a power of two.
 */
int RoundOf(int distance, int nRanks);

P2pPartition PartitionP2p(size_t bytes, ProtoChoice proto, int nRanks, ChannelLimits limits, int round,
                          bool registered = false);

/** Number of hops in which a rank sends, and in which it receives, per loop of a ring. With a root: one. */
int HopsPerLoop(Func func, int nRanks);

/** The payload of a chunk in the loop that begins with `remaining` bytes left. Only AllReduce shrinks its last loop. */
size_t LoopChunkBytes(Func func, size_t chunkBytes, size_t remaining, int nRanks);

/** SIMPLE cuts a chunk into slices of at least 1/16 of a slot. Later slices may be empty. */
size_t SliceBytes(Proto proto, int chunkSteps, int sliceSteps, size_t chunkBytes);

/** Bytes of a rank's block of a buffer: whole elements. */
inline size_t BlockBytes(size_t bytes, int nRanks) { return DivUp(bytes, nRanks * kElementBytes) * kElementBytes; }

/** The chunk size that NCCL reports in a ProxyOp: chunk times sliceSteps, not the transferred size. */
inline size_t ReportedChunkSize(size_t chunkBytes, int sliceSteps) { return chunkBytes * sliceSteps; }

}  // namespace loopback
