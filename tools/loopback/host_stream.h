// The CUDA driver's thread for host functions ("T-cbk"), in stream order. It announces and posts the work of a captured
// graph at every replay. It does the same for other work while replays are queued before it, so that NCCL keeps its order,
// and for all work if CUDA_LAUNCH_BLOCKING is set.

#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "loopback/gpu.h"
#include "loopback/host_events.h"
#include "loopback/progress.h"
#include "loopback/scheduler.h"

namespace loopback {

class HostStream {
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

  void Add(Item item);
  /** True while an added item is not done. False: everything that the thread wrote is visible. */
  bool Busy();
  void Stop();
  /** Afterwards it makes no callbacks. */
  void Freeze();

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();
  void Perform(Item& item);

  Gpu* const gpu_;
  ProgressThread* const progress_;
  HostEvents events_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;  // the first one is being performed
  bool stop_ = false;
  bool freeze_ = false;
  bool frozen_ = false;
  std::thread thread_;  // starts with the first item
};

}  // namespace loopback
