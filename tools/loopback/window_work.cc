#include "loopback/window_work.h"

#include <algorithm>
#include <cstring>

namespace loopback {
namespace {

class WindowWork : public Work {
 public:
  WindowWork(const Task& task, int block, int nBlocks)
      : func_(task.func), rank_(task.comm->rank), windows_(task.windows), block_(block) {
    const size_t n = windows_.size();
    const size_t elements = task.bytes / kElementBytes;
    // AllReduce: the rest of the division into blocks belongs to the last rank.
    const size_t own = elements / n;
    const size_t ownEnd = rank_ + 1u == n ? elements : (rank_ + 1) * own;
    const size_t share = DivUp(ownEnd - rank_ * own, nBlocks);
    begin_ = std::min(rank_ * own + block * share, ownEnd);
    end_ = std::min(begin_ + share, ownEnd);
  }

  Advance TryAdvance() override {
    switch (phase_) {
      case 0:
        if (epoch_ == 0) epoch_ = windows_[rank_].flags[block_].ready.load(std::memory_order_relaxed) + 1;
        return WaitFor(&BlockFlags::ready);
      case 1:
        HandleBlock();
        phase_ = 2;
        return Advance::kProgressed;
      default:
        return WaitFor(&BlockFlags::finished);
    }
  }

  int Phase() const override { return phase_; }

 private:
  Advance WaitFor(std::atomic<uint64_t> BlockFlags::*flag) {
    (windows_[rank_].flags[block_].*flag).store(epoch_, std::memory_order_release);
    for (const Window& window : windows_) {
      if ((window.flags[block_].*flag).load(std::memory_order_acquire) < epoch_) return Advance::kBlocked;
    }
    if (++phase_ > 2) return Advance::kDone;
    return Advance::kProgressed;
  }

  /** No other rank uses this part of any buffer meanwhile. */
  void HandleBlock() {
    float* const own = windows_[rank_].data;
    if (func_ != Func::kAllGather) {
      for (size_t i = begin_; i < end_; i++) {
        float sum = 0;
        for (const Window& window : windows_) sum += window.data[i];
        own[i] = sum;
      }
    }
    if (func_ == Func::kReduceScatter) return;
    for (const Window& window : windows_) {
      if (window.data != own) memcpy(window.data + begin_, own + begin_, (end_ - begin_) * kElementBytes);
    }
  }

  const Func func_;
  const int rank_;
  const std::vector<Window> windows_;
  const int block_;
  size_t begin_;
  size_t end_;
  int phase_ = 0;
  uint64_t epoch_ = 0;  // number of this use
};

}  // namespace

std::unique_ptr<Kernel> MakeWindowKernel(Task& task, int nBlocks) {
  auto kernel = std::make_unique<Kernel>();
  kernel->comm = task.comm;
  kernel->tasks = {&task};
  for (int i = 0; i < nBlocks; i++) {
    Batch batch{};
    batch.works.push_back(std::make_unique<WindowWork>(task, i, nBlocks));
    Block block{i, {}};
    block.batches.push_back(std::move(batch));
    kernel->blocks.push_back(std::move(block));
  }
  return kernel;
}

Schedule MakeSymmetricSchedule(Task& task, int nBlocks) {
  Schedule schedule{MakeWindowKernel(task, nBlocks), {}};
  task.nChannels = nBlocks;
  for (Block& block : schedule.kernel->blocks) {
    ProxyOp op{};
    op.kind = ProxyKind::kProfiler;
    op.task = &task;
    op.comm = task.comm;
    op.channel = block.channel;
    op.symmetric = true;
    op.workCounter = ++task.comm->symmetric.counters[block.channel];
    block.batches[0].symmetric = true;
    block.batches[0].marks = 1;
    block.batches[0].firstCounter = op.workCounter;
    schedule.proxyOps.push_back(op);
  }
  return schedule;
}

}  // namespace loopback
