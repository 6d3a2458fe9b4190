// The tree algorithm of one channel, chunk by chunk. A rank adds the data from below to its own and sends the sum up. The
// root's sums come down. Both directions run at the same time. A result is stored only after the own data went up.
//
//   leaf      send up                              recv from up, store
//   branch    recv from below, reduce, send up     recv from up, store, send down
//   root      recv from below, reduce, store       send down

#include <algorithm>
#include <cstring>

#include "loopback/work.h"

namespace loopback {
namespace {

class TreeWork : public Work {
 public:
  TreeWork(const Task& task, const CollPartition& partition, const ChannelPart& part)
      : data_(reinterpret_cast<char*>(task.buffer) + part.offset),
        bytes_(part.bytes),
        chunkBytes_(partition.chunkBytes) {
    const Comm& comm = *task.comm;
    const Tree& tree = comm.tree(part.channel);
    const auto find = [&](int peer, bool isSend) { return comm.Find({peer, part.channel, isSend, false}); };
    for (int peer : tree.down) {
      fromBelow_.emplace_back(find(peer, false), partition.proto);
      toBelow_.emplace_back(find(peer, true), partition.proto);
    }
    if (tree.up == Tree::kNobody) return;
    fromAbove_.emplace_back(find(tree.up, false), partition.proto);
    toAbove_.emplace_back(find(tree.up, true), partition.proto);
  }

  Advance TryAdvance() override {
    if (!begun_) Begin();
    const bool wentUp = TryUp();
    const bool wentDown = TryDown();
    if (down_ == bytes_) {
      End();
      return Advance::kDone;
    }
    return wentUp || wentDown ? Advance::kProgressed : Advance::kBlocked;
  }

 private:
  void Begin() {
    begun_ = true;
    for (auto* senders : {&toBelow_, &toAbove_})
      for (GpuSender& sender : *senders) sender.Begin(1);
    for (auto* receivers : {&fromBelow_, &fromAbove_})
      for (GpuReceiver& receiver : *receivers) receiver.Begin(1);
  }

  void End() {
    for (auto* senders : {&toBelow_, &toAbove_})
      for (GpuSender& sender : *senders) sender.End();
    for (auto* receivers : {&fromBelow_, &fromAbove_})
      for (GpuReceiver& receiver : *receivers) receiver.End();
  }

  static bool AllHaveData(const std::vector<GpuReceiver>& receivers) {
    return std::all_of(receivers.begin(), receivers.end(), [](const GpuReceiver& r) { return r.HasData(1); });
  }
  static bool AllHaveRoom(const std::vector<GpuSender>& senders) {
    return std::all_of(senders.begin(), senders.end(), [](const GpuSender& s) { return s.HasRoom(1); });
  }

  size_t ChunkAt(size_t offset) const { return std::min(chunkBytes_, bytes_ - offset); }

  bool TryUp() {
    if (up_ == bytes_ || !AllHaveData(fromBelow_) || !AllHaveRoom(toAbove_)) return false;
    const size_t n = ChunkAt(up_);
    float* const sum = reinterpret_cast<float*>(data_ + up_);
    for (GpuReceiver& below : fromBelow_) {
      const float* const value = below.Payload(n, GpuScratch());
      for (size_t i = 0; i < n / sizeof(float); i++) sum[i] += value[i];
      below.Consume(1);
    }
    for (GpuSender& above : toAbove_) above.Post(sum, n, 1);
    up_ += n;
    return true;
  }

  bool TryDown() {
    if (down_ == up_ || !AllHaveData(fromAbove_) || !AllHaveRoom(toBelow_)) return false;
    const size_t n = ChunkAt(down_);
    float* const result = reinterpret_cast<float*>(data_ + down_);
    for (GpuReceiver& above : fromAbove_) {
      memcpy(result, above.Payload(n, GpuScratch()), n);
      above.Consume(1);
    }
    for (GpuSender& below : toBelow_) below.Post(result, n, 1);
    down_ += n;
    return true;
  }

  char* const data_;
  const size_t bytes_;
  const size_t chunkBytes_;
  bool begun_ = false;
  size_t up_ = 0;    // bytes whose sums have gone up, or at the root are complete
  size_t down_ = 0;  // bytes whose results are here
  std::vector<GpuReceiver> fromBelow_;
  std::vector<GpuSender> toBelow_;
  std::vector<GpuReceiver> fromAbove_;  // one, or at the root none
  std::vector<GpuSender> toAbove_;
};

}  // namespace

std::unique_ptr<Work> MakeTreeWork(const Task& task, const CollPartition& partition, const ChannelPart& part) {
  return std::make_unique<TreeWork>(task, partition, part);
}

}  // namespace loopback
