// NCCL's calls, as far as the profiler can see them: group start and end, collectives, sends and receives. A call
// only enqueues; the outermost group end launches one kernel for each communicator, and posts the proxy's share.
//
//   call ─▶ GroupApi/CollApi/P2pApi events, task ─▶ group end ─▶ plan per communicator ─▶ Gpu and ProgressThread
//
// All of it on one thread.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_

#include <functional>
#include <vector>

#include "loopback/gpu.h"
#include "loopback/host_events.h"
#include "loopback/progress.h"

namespace loopback {

class NcclApi {
 public:
  NcclApi(Profiler* profiler, Gpu* gpu, ProgressThread* progress, Completion* completion, int maxChannels,
          uint64_t userTag)
      : events_(profiler, userTag),
        gpu_(gpu),
        progress_(progress),
        completion_(completion),
        maxChannels_(maxChannels) {}

  void GroupStart() { depth_ += 1; }
  void GroupEnd();
  /** ncclAllReduce, ncclSend and so on; which one is in the task. */
  void Call(Task* task);

  /** Called once, with the number of steps, before the next kernel's operations are posted. */
  void BeforeNextPost(std::function<void(int64_t steps)> hook) { beforePost_ = std::move(hook); }

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void EndInternalGroup();
  void Join(Task* task);
  void LaunchAll();
  void Launch(LaunchPlan& plan);
  void Post(std::vector<ProxyOp> ops);

  HostEvents events_;
  Gpu* const gpu_;
  ProgressThread* const progress_;
  Completion* const completion_;
  const int maxChannels_;
  int depth_ = 0;
  std::vector<LaunchPlan> pending_;  // of the open group
  std::function<void(int64_t)> beforePost_;
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_
