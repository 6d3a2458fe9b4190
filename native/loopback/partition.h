// How a collective or a transfer is cut into channels, loops, chunks and steps. Pure arithmetic, as NCCL 2.30 does it
// (enqueue.cc): what the proxy and the simulated GPU then do follows from these numbers alone.
//
//   collective ──▶ parts (one per channel) ──▶ loops ──▶ hops around the ring ──▶ chunks ──▶ slices
//
// One slice is one network transfer: one ProxyStep on each side. A slice covers `sliceSteps` buffer slots, a chunk
// `chunkSteps`.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_H_

#include <optional>
#include <vector>

#include "loopback/sizes.h"

namespace loopback {

/** What `--proto` and an operation's suffix say; nothing means "choose by size". */
using ProtoChoice = std::optional<Proto>;

/** Likewise `--algo`; nothing means a ring. */
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

/** Partitions the collectives of one kernel together, because they share out the channels. Same order as the requests. */
std::vector<CollPartition> PartitionCollectives(const std::vector<CollRequest>& requests, int nRanks, int maxChannels);

struct P2pPartition {
  Proto proto;
  size_t chunkBytes;
  std::vector<ChannelPart> parts;
};

/** Both ends compute the same partition: `round` is (receiver - sender) modulo nRanks and chooses the first channel. */
/** In which round NCCL sends so many ranks ahead, where each rank is a node of its own: distances 0, 1, 3, 6 and so on, modulo a power of two. */
int RoundOf(int distance, int nRanks);

P2pPartition PartitionP2p(size_t bytes, ProtoChoice proto, int nRanks, ChannelLimits limits, int round,
                          bool registered = false);

/** Hops in which a rank sends (as many in which it receives) for each loop of a ring. From or to a root: one. */
int HopsPerLoop(Func func, int nRanks);

/** The payload of a chunk in the loop that begins with `remaining` bytes left. Only AllReduce shrinks its last loop. */
size_t LoopChunkBytes(Func func, size_t chunkBytes, size_t remaining, int nRanks);

/** SIMPLE cuts a chunk into slices of at least 1/16 of a slot; the later ones may be empty. */
size_t SliceBytes(Proto proto, int chunkSteps, int sliceSteps, size_t chunkBytes);

/** What each rank's block has of a buffer: whole elements. */
inline size_t BlockBytes(size_t bytes, int nRanks) { return DivUp(bytes, nRanks * kElementBytes) * kElementBytes; }

/** The chunk size that NCCL reports in a ProxyOp: not what is transferred, but chunk times sliceSteps. */
inline size_t ReportedChunkSize(size_t chunkBytes, int sliceSteps) { return chunkBytes * sliceSteps; }

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_H_
