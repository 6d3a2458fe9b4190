#include "loopback/kernel_thread.h"

#include <sys/prctl.h>

#include "loopback/kernel_marks.h"

namespace loopback {

KernelThread::KernelThread(Profiler* profiler, Completion* completion, bool spin)
    : completion_(completion), events_(profiler), backoff_(spin) {
  Begin([this] { Run(); });
}

void KernelThread::Post(const ProxyOp& op) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    posted_.emplace_back();
    posted_.back().op = op;
    posted_.back().posted = 0;
  }
  Wake();
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
  if (!Await(lock, [this] { return !posted_.empty() || !active_.empty(); })) return false;
  active_.splice(active_.end(), posted_);
  return true;
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
