// Watches kernels in NCCL 2.31: a thread of its own, which the proxy cannot delay. As in NCCL it has no name of its own,
// so it shows the process's name. Until 2.30 the progress thread watches kernels (kernel_watch.cc).

#pragma once

#include <list>

#include "loopback/clock.h"
#include "loopback/completion.h"
#include "loopback/proxy_events.h"
#include "loopback/proxy_op.h"
#include "loopback/side_thread.h"

namespace loopback {

class KernelThread : public SideThread {
 public:
  KernelThread(Profiler* profiler, Completion* completion, bool spin);
  ~KernelThread() { Stop(); }

  void Post(const ProxyOp& op);

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();
  bool WaitForWork();
  bool Round();
  bool Advance(ProxySub& sub);

  Completion* const completion_;
  ProxyEvents events_;
  Backoff backoff_;

  std::list<ProxySub> posted_;  // under mutex_
  std::list<ProxySub> active_;  // the thread's own
};

}  // namespace loopback
