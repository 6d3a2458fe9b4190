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
  while (WaitForWork()) Round() ? backoff_.Progressed() : backoff_.Idle();
}

/** False: time to end. */
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
    it = active_.erase(it);
    completion_->Done();
    ended = true;
  }
  return ended;
}

/** Both ends of a short kernel may be seen at once, but never the end first. True: done. */
bool KernelThread::Advance(ProxySub& sub) {
  const Comm& comm = *sub.op.task->comm;
  uint64_t timestamp;
  if (sub.posted == 0 && ReadMark(comm.workStarted[sub.op.channel], sub.op.workCounter, &timestamp)) {
    events_.StartKernelCh(sub, timestamp);
    sub.posted = 1;
  }
  if (sub.posted == 0 || !ReadMark(comm.workCompleted[sub.op.channel], sub.op.workCounter, &timestamp)) return false;
  events_.StopKernelCh(sub, timestamp);
  return true;
}

}  // namespace loopback
