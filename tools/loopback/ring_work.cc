// The ring algorithms of one channel. In each loop a chunk per rank travels around the ring. The collectives differ only
// in what a rank does with the chunk of each hop:
//
//   hop             0      1 … N-2           N-1                        N … 2N-3       2N-2
//   AllReduce       send   recv+reduce+send  recv+reduce+store+send     recv+store+send  recv+store
//   ReduceScatter   send   recv+reduce+send  recv+reduce+store
//   AllGather       send   recv+store+send   recv+store
//
// Broadcast and Reduce have one hop per loop, in which the ring is a chain: the root (Reduce: its successor) begins,
//
//   Broadcast       send          recv+store+send     recv+store (the root's predecessor)
//   Reduce          send          recv+reduce+send    recv+reduce+store (the root)

#include <algorithm>
#include <cstring>

#include "loopback/work.h"

namespace loopback {
namespace {

struct Hop {
  bool recv;
  bool send;
  bool reduce;
  bool store;
  int chunk;  // which of the loop's chunks, or whose block
};

/** The last hop only receives. In a chain each rank has one hop. */
int HopCount(Func func, int nRanks) { return HasRoot(func) ? 1 : HopsPerLoop(func, nRanks) + 1; }

Hop ChainHop(const Task& task) {
  const bool recv = RingReceives(task);
  const bool send = RingSends(task);
  if (task.func == Func::kBroadcast) return {recv, send, false, recv, 0};
  return {recv, send, recv, !send, 0};
}

Hop HopOf(const Task& task, int hop) {
  const Func func = task.func;
  if (HasRoot(func)) return ChainHop(task);
  const Comm& comm = *task.comm;
  const int n = comm.nRanks;
  const bool recv = hop != 0;
  const bool send = hop != HopCount(func, n) - 1;
  // The rank `places` before this one in the ring. With each hop the chunk comes from one place further back.
  const auto back = [&](int places) { return comm.ring[((-places % n) + n) % n]; };
  switch (func) {
    case Func::kAllReduce:
      return {recv, send, recv && hop < n, hop >= n - 1, back(hop + 1)};
    case Func::kReduceScatter:
      return {recv, send, recv, !send, back(hop + 1)};
    default:
      return {recv, send, false, recv, back(hop)};
  }
}

class RingWork : public Work {
 public:
  RingWork(const Task& task, const CollPartition& partition, const ChannelPart& part)
      : task_(task),
        nRanks_(task.comm->nRanks),
        partition_{partition.algo,       partition.proto,      partition.chunkSteps,
                   partition.sliceSteps, partition.chunkBytes, {}},
        part_(part),
        blockBytes_(InBlocks(task.func) ? task.bytes / task.comm->nRanks : 0),
        receiver_(RingConnection(*task.comm, part.channel, false), partition.proto),
        sender_(RingConnection(*task.comm, part.channel, true), partition.proto) {}

  Advance TryAdvance() override {
    if (!begun_) Begin();
    if (hop_.recv && !receiver_.HasData(partition_.sliceSteps)) return Advance::kBlocked;
    if (hop_.send && !sender_.HasRoom(partition_.sliceSteps)) return Advance::kBlocked;
    DoSlice();
    return NextSlice() ? Advance::kProgressed : Advance::kDone;
  }

 private:
  void Begin() {
    begun_ = true;
    receiver_.Begin(partition_.chunkSteps);
    sender_.Begin(partition_.chunkSteps);
    BeginLoop();
  }

  void BeginLoop() {
    chunkBytes_ = LoopChunkBytes(task_.func, partition_.chunkBytes, part_.bytes - loopOffset_, nRanks_);
    hopIndex_ = 0;
    BeginHop();
  }

  /** Chunks beyond the end of the data are shorter, or empty. */
  void BeginHop() {
    hop_ = HopOf(task_, hopIndex_);
    slice_ = 0;
    offset_ = 0;
    const size_t inPart = loopOffset_ + (blockBytes_ == 0 ? hop_.chunk * chunkBytes_ : 0);
    hopBytes_ = inPart >= part_.bytes ? 0 : std::min(chunkBytes_, part_.bytes - inPart);
    data_ =
        reinterpret_cast<char*>(task_.buffer) + hop_.chunk * blockBytes_ + part_.offset + std::min(inPart, part_.bytes);
    sliceBytes_ = SliceBytes(partition_.proto, partition_.chunkSteps, partition_.sliceSteps, hopBytes_);
  }

  void DoSlice() {
    const size_t bytes = std::min(sliceBytes_, hopBytes_ - offset_);
    float* const own = reinterpret_cast<float*>(data_ + offset_);
    const float* value = own;
    if (hop_.recv) value = receiver_.Payload(bytes, GpuScratch());
    if (hop_.reduce) value = Reduce(value, own, bytes / sizeof(float));
    if (hop_.store && value != own) memcpy(own, value, bytes);
    if (hop_.send) sender_.Post(value, bytes, partition_.sliceSteps);
    if (hop_.recv) receiver_.Consume(partition_.sliceSteps);
    offset_ += bytes;
    slice_ += 1;
  }

  /** Writes the sum where it is needed next. */
  const float* Reduce(const float* received, float* own, size_t n) {
    float* sum = GpuScratch();
    if (hop_.send && partition_.proto == Proto::kSimple) sum = sender_.Slot();
    if (hop_.store) sum = own;
    for (size_t i = 0; i < n; i++) sum[i] = received[i] + own[i];
    return sum;
  }

  bool NextSlice() {
    if (slice_ < partition_.chunkSteps / partition_.sliceSteps) return true;
    if (++hopIndex_ < HopCount(task_.func, nRanks_)) {
      BeginHop();
      return true;
    }
    loopOffset_ += task_.func == Func::kAllReduce ? chunkBytes_ * nRanks_ : chunkBytes_;
    if (loopOffset_ < part_.bytes) {
      BeginLoop();
      return true;
    }
    receiver_.End();
    sender_.End();
    return false;
  }

  const Task& task_;
  const int nRanks_;
  const CollPartition partition_;
  const ChannelPart part_;
  const size_t blockBytes_;  // 0: the whole buffer is one
  GpuReceiver receiver_;
  GpuSender sender_;

  bool begun_ = false;
  size_t loopOffset_ = 0;
  size_t chunkBytes_ = 0;  // of this loop
  int hopIndex_ = 0;
  Hop hop_{};
  char* data_ = nullptr;  // this hop's chunk in the user's buffer
  size_t hopBytes_ = 0;
  size_t sliceBytes_ = 0;
  int slice_ = 0;
  size_t offset_ = 0;  // of the slice within the chunk
};

}  // namespace

bool RingReceives(const Task& task) {
  if (!HasRoot(task.func)) return true;
  return task.peer != (task.func == Func::kBroadcast ? task.comm->rank : task.comm->ringPrev());
}

bool RingSends(const Task& task) {
  if (!HasRoot(task.func)) return true;
  return task.peer != (task.func == Func::kBroadcast ? task.comm->ringNext() : task.comm->rank);
}

std::unique_ptr<Work> MakeRingWork(const Task& task, const CollPartition& partition, const ChannelPart& part) {
  return std::make_unique<RingWork>(task, partition, part);
}

}  // namespace loopback
