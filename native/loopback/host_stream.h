// The CUDA driver's thread for host functions ("T-cbk"), in stream order. What is captured in a graph is announced and
// posted here, at every replay; so is everything else while replays are still ahead of it, or NCCL would overtake
// itself, and all of it if CUDA_LAUNCH_BLOCKING is set.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_HOST_STREAM_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_HOST_STREAM_H_

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
  /** What a host function does; then the kernel may run. */
  struct Item {
    LaunchPlan plan;
    Schedule schedule;
    bool announced;  // false: the graph has no node for the host, only the kernel
  };

  HostStream(Profiler* profiler, Gpu* gpu, ProgressThread* progress, uint64_t userTag)
      : gpu_(gpu), progress_(progress), events_(profiler, userTag) {}
  /** Performs what is left. */
  ~HostStream() { Stop(); }

  void Add(Item item);
  /** Something was added that is not done yet. What the thread has written is older than a false. */
  bool Busy();
  void Stop();
  /** From then on it makes no callbacks. */
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
  std::thread thread_;  // from the first item on
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_HOST_STREAM_H_
