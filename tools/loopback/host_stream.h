// The CUDA driver's thread for host functions ("T-cbk"), in stream order. It announces and posts the work of a captured
// graph at every replay. It does the same for other work while replays are queued before it, so that NCCL keeps its order,
// and for all work if CUDA_LAUNCH_BLOCKING is set.

#pragma once

#include <deque>

#include "loopback/gpu.h"
#include "loopback/host_events.h"
#include "loopback/progress.h"
#include "loopback/scheduler.h"
#include "loopback/side_thread.h"

namespace loopback {

class HostStream : public SideThread {
 public:
  /** The work of a host function. The kernel may run after it. */
  struct Item {
    LaunchPlan plan;
    Schedule schedule;
    bool announced;  // false: the graph has no host node, only the kernel
  };

  HostStream(Profiler* profiler, Gpu* gpu, ProgressThread* progress, uint64_t userTag)
      : gpu_(gpu), progress_(progress), events_(profiler, userTag) {}
  /** Performs the rest. */
  ~HostStream() { Stop(); }

  /** The thread begins with the first item. */
  void Add(Item item);
  /** True while an added item is not done. False: everything that the thread wrote is visible. */
  bool Busy();

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();
  void Perform(Item& item);

  Gpu* const gpu_;
  ProgressThread* const progress_;
  HostEvents events_;
  std::deque<Item> items_;  // under mutex_; the first one is being performed
};

}  // namespace loopback
