#include "loopback/kernel_thread.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "loopback/kernel_marks.h"

namespace loopback {

KernelThread::KernelThread(Profiler* profiler, Completion* completion, bool spin)
    : completion_(completion), events_(profiler), backoff_(spin), thread_([this] { Run(); }) {}

void KernelThread::Post(const ProxyOp& op) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    posted_.emplace_back();
    posted_.back().op = op;
    posted_.back().posted = 0;
  }
  wake_.notify_one();
}

void KernelThread::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void KernelThread::Freeze() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    freeze_ = true;
  }
  wake_.notify_one();
  while (!frozen_.load(std::memory_order_acquire)) SleepNs(100 * kMicrosecond);
}

void KernelThread::Run() {
  prctl(PR_SET_TIMERSLACK, 1);
  while (WaitForWork()) {
    Round() ? backoff_.Progressed() : backoff_.Idle();
  }
}

/** False: it is time to end. */
bool KernelThread::WaitForWork() {
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait(lock, [&] { return !posted_.empty() || !active_.empty() || stop_ || freeze_; });
  if (freeze_) {
    lock.unlock();
    frozen_.store(true, std::memory_order_release);
    while (true) pause();
  }
  active_.splice(active_.end(), posted_);
  return !stop_ || !active_.empty();
}

bool KernelThread::Round() {
  bool ended = false;
  for (auto it = active_.begin(); it != active_.end();) {
    if (!Advance(*it)) {
      ++it;
      continue;
    }
    completion_->Done();
    it = active_.erase(it);
    ended = true;
  }
  return ended;
}

/** Start and end of a short kernel may be seen at once, but never the end first. True: done. */
bool KernelThread::Advance(ProxySub& sub) {
  const Comm& comm = *sub.op.comm;
  const int channel = sub.op.channel;
  const KernelMarks& started = (sub.op.symmetric ? comm.symmetric.started : comm.workStarted)[channel];
  const KernelMarks& completed = (sub.op.symmetric ? comm.symmetric.completed : comm.workCompleted)[channel];
  uint64_t timestamp;
  if (sub.posted == 0 && ReadMark(started, sub.op.workCounter, &timestamp)) {
    events_.StartKernelCh(sub, timestamp);
    sub.posted = 1;
  }
  if (sub.posted == 0 || !ReadMark(completed, sub.op.workCounter, &timestamp)) return false;
  if (sub.op.symmetric)
    events_.KernelPhases(sub, comm.symmetric.phases[channel][sub.op.workCounter % kMaxProfilerMarks]);
  events_.StopKernelCh(sub, timestamp);
  return true;
}

}  // namespace loopback
