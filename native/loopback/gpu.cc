#include "loopback/gpu.h"

#include <pthread.h>
#include <sys/prctl.h>

namespace loopback {

Gpu::Gpu(const GpuClock& clock, Completion* completion, bool spin)
    : clock_(clock), completion_(completion), backoff_(spin), thread_([this] { Run(); }) {}

Gpu::~Gpu() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  launched_.notify_one();
  thread_.join();
}

void Gpu::Launch(std::unique_ptr<Kernel> kernel) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    inbox_.push_back(std::move(kernel));
    hasMail_.store(true, std::memory_order_relaxed);
  }
  launched_.notify_one();
}

void Gpu::Run() {
  pthread_setname_np(pthread_self(), "loopback GPU");
  prctl(PR_SET_TIMERSLACK, 1);
  while (WaitForWork()) {
    if (AdvanceStreams()) {
      backoff_.Progressed();
    } else {
      backoff_.Idle();
    }
  }
}

/** Takes in what was launched; sleeps if there is nothing at all to do. False: time to stop. */
bool Gpu::WaitForWork() {
  if (stop_.load(std::memory_order_relaxed)) return false;
  if (!streams_.empty() && !hasMail_.load(std::memory_order_relaxed)) return true;
  std::unique_lock<std::mutex> lock(mutex_);
  launched_.wait(lock, [&] { return stop_ || !inbox_.empty() || !streams_.empty(); });
  for (std::unique_ptr<Kernel>& kernel : inbox_) {
    Comm* const comm = kernel->comm;
    streams_[comm].push_back(std::move(kernel));
  }
  inbox_.clear();
  hasMail_.store(false, std::memory_order_relaxed);
  return !stop_;
}

bool Gpu::AdvanceStreams() {
  bool progressed = false;
  for (auto it = streams_.begin(); it != streams_.end();) {
    Stream& stream = it->second;
    Kernel& kernel = *stream.front();
    progressed |= AdvanceKernel(kernel);
    if (kernel.blocks.empty()) {
      Finish(kernel);
      stream.pop_front();
    }
    it = stream.empty() ? streams_.erase(it) : std::next(it);
  }
  return progressed;
}

bool Gpu::AdvanceKernel(Kernel& kernel) {
  bool progressed = false;
  for (size_t i = 0; i < kernel.blocks.size();) {
    progressed |= AdvanceBlock(kernel, kernel.blocks[i]);
    if (kernel.blocks[i].batches.empty()) {
      kernel.blocks.erase(kernel.blocks.begin() + i);
    } else {
      i++;
    }
  }
  return progressed;
}

bool Gpu::AdvanceBlock(Kernel& kernel, Block& block) {
  Batch& batch = block.batches.front();
  if (!batch.begun) Mark(kernel.comm->workStarted, block, batch);
  bool progressed = !batch.begun;
  batch.begun = true;
  for (size_t i = 0; i < batch.works.size();) {
    const Advance advance = batch.works[i]->TryAdvance();
    progressed |= advance != Advance::kBlocked;
    if (advance == Advance::kDone) {
      batch.works.erase(batch.works.begin() + i);
    } else {
      i++;
    }
    if (!batch.concurrent) break;
  }
  if (batch.works.empty()) {
    Mark(kernel.comm->workCompleted, block, batch);
    block.batches.erase(block.batches.begin());
  }
  return progressed;
}

void Gpu::Mark(std::array<KernelMarks, kMaxChannels>& marks, const Block& block, const Batch& batch) {
  const uint64_t now = clock_.Now();
  for (int i = 0; i < batch.marks; i++) {
    KernelMark& mark = marks[block.channel][(batch.firstCounter + i) % kMaxProfilerMarks];
    mark.timestamp.store(now, std::memory_order_relaxed);
    mark.counter.store(batch.firstCounter + i, std::memory_order_release);
  }
}

void Gpu::Finish(Kernel& kernel) {
  const int64_t now = MonotonicNs();
  for (Task* task : kernel.tasks) task->endNs.store(now, std::memory_order_release);
  completion_->Done();
}

}  // namespace loopback
