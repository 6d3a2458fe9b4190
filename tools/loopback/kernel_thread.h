// Watches kernels in NCCL 2.31: a thread of its own, which the proxy cannot delay. As in NCCL it has no name of its own,
// so it shows the process's name. Until 2.30 the progress thread watches kernels (kernel_watch.cc).

#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "loopback/clock.h"
#include "loopback/completion.h"
#include "loopback/proxy_events.h"
#include "loopback/proxy_op.h"

namespace loopback {

class KernelThread {
 public:
  KernelThread(Profiler* profiler, Completion* completion, bool spin);
  ~KernelThread() { Stop(); }

  void Post(const ProxyOp& op);
  /** Finishes what it watches, and joins. */
  void Stop();
  /** As in ProgressThread: there is no callback after it. */
  void Freeze();

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();
  bool WaitForWork();
  bool Round();
  bool Advance(ProxySub& sub);

  Completion* const completion_;
  ProxyEvents events_;
  Backoff backoff_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<ProxySub> posted_;  // under mutex_
  bool stop_ = false;           // under mutex_
  bool freeze_ = false;         // under mutex_
  std::atomic<bool> frozen_{false};

  // The thread's own.
  std::list<ProxySub> active_;
  std::thread thread_;
};

}  // namespace loopback
