#include "loopback/gpu.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "loopback/payload.h"

namespace loopback {

Gpu::Gpu(const GpuClock& clock, const Options& options, Completion* completion)
    : clock_(clock), troubles_(options), completion_(completion), backoff_(options.spin), thread_([this] { Run(); }) {}

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

/** Takes launched kernels from the inbox. Sleeps if there is nothing to do. False: time to stop. */
bool Gpu::WaitForWork() {
  if (stop_.load(std::memory_order_relaxed)) return false;
  if (!streams_.empty() && !hasMail_.load(std::memory_order_relaxed)) return true;
  std::unique_lock<std::mutex> lock(mutex_);
  launched_.wait(lock, [&] { return stop_ || !inbox_.empty() || !streams_.empty(); });
  for (std::unique_ptr<Kernel>& kernel : inbox_) {
    Stream& stream = streams_[kernel->comm->stream];
    stream.push_back(std::move(kernel));
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
    if (MayAdvance(kernel)) progressed |= AdvanceKernel(kernel);
    if (kernel.blocks.empty()) {
      Finish(kernel);
      stream.pop_front();
    }
    it = stream.empty() ? streams_.erase(it) : std::next(it);
  }
  return progressed;
}

bool Gpu::MayAdvance(Kernel& kernel) {
  if (troubles_.IsFrozen()) return false;
  if (kernel.begun) return true;
  const int iteration = kernel.tasks[0]->iteration;
  if (troubles_.NeverBegins(iteration)) return false;
  if (kernel.beginsAt == 0) kernel.beginsAt = troubles_.BeginsAt(iteration);
  return MonotonicNs() >= kernel.beginsAt;
}

void Gpu::Begin(Kernel& kernel) {
  const int64_t now = MonotonicNs();
  for (Task* task : kernel.tasks) {
    if (kernel.isReplay) FillInput(*task);
    task->begunNs.store(now, std::memory_order_relaxed);
  }
  kernel.begun = true;
}

bool Gpu::AdvanceKernel(Kernel& kernel) {
  if (!kernel.begun) Begin(kernel);
  bool progressed = false;
  for (size_t i = 0; i < kernel.blocks.size();) {
    progressed |= AdvanceBlock(kernel, kernel.blocks[i]);
    if (kernel.blocks[i].batches.empty()) {
      kernel.blocks.erase(kernel.blocks.begin() + i);
    } else {
      i++;
    }
  }
  if (progressed) troubles_.Advanced(kernel.tasks[0]->iteration);
  return progressed;
}

bool Gpu::AdvanceBlock(Kernel& kernel, Block& block) {
  Batch& batch = block.batches.front();
  if (!batch.begun) MarkBegin(*kernel.comm, block, batch);
  bool progressed = !batch.begun;
  batch.begun = true;
  for (size_t i = 0; i < batch.works.size();) {
    const Advance advance = batch.works[i]->TryAdvance();
    if (batch.symmetric && batch.works[i]->Phase() != batch.phase) MarkPhase(*kernel.comm, block, batch, ++batch.phase);
    progressed |= advance != Advance::kBlocked;
    if (advance == Advance::kDone) {
      batch.works.erase(batch.works.begin() + i);
    } else {
      i++;
    }
    if (!batch.concurrent) break;
  }
  if (batch.works.empty()) {
    MarkEnd(kernel, block, batch);
    block.batches.erase(block.batches.begin());
  }
  return progressed;
}

void Gpu::MarkBegin(Comm& comm, const Block& block, Batch& batch) {
  if (!batch.symmetric) {
    uint64_t& selfWorks = comm.selfWorks[block.channel];
    batch.firstCounter += selfWorks;
    batch.marks += batch.uncounted;
    selfWorks += batch.uncounted;
  }
  Mark(batch.symmetric ? comm.symmetric.started : comm.workStarted, block, batch);
  if (batch.symmetric) MarkPhase(comm, block, batch, 0);
}

void Gpu::MarkEnd(const Kernel& kernel, const Block& block, const Batch& batch) {
  Comm& comm = *kernel.comm;
  Mark(batch.symmetric ? comm.symmetric.completed : comm.workCompleted, block, batch);
}

/** The beginning of a phase, or the end of the last one. */
void Gpu::MarkPhase(Comm& comm, const Block& block, const Batch& batch, int phase) {
  auto& times = comm.symmetric.phases[block.channel][batch.firstCounter % kMaxProfilerMarks];
  times[phase].store(clock_.Now(), std::memory_order_relaxed);
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
  if (kernel.isReplay) {
    for (Task* task : kernel.tasks) task->mismatch = CheckOutput(*task);
  }
  const int64_t now = MonotonicNs();
  for (Task* task : kernel.tasks) task->endNs.store(now, std::memory_order_release);
  completion_->Done();
}

}  // namespace loopback
