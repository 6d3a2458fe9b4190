// NCCL's calls, as far as the profiler can see them: group start and end, collectives, sends and receives. A call
// only enqueues; the outermost group end launches one kernel for each communicator, and posts the proxy's share.
//
//   call ─▶ GroupApi/CollApi/P2pApi events, task ─▶ group end ─▶ plan per communicator ─▶ Gpu and ProgressThread
//
// All of it on one thread, but for two things: non-blocking communicators launch on a thread of their own, and what
// belongs to a CUDA graph is left to the host stream.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_

#include <functional>
#include <thread>
#include <vector>

#include "loopback/first_use.h"
#include "loopback/gpu.h"
#include "loopback/graph.h"
#include "loopback/host_events.h"
#include "loopback/host_stream.h"
#include "loopback/options.h"
#include "loopback/progress.h"
#include "loopback/scheduler.h"

namespace loopback {

class NcclApi {
 public:
  NcclApi(Profiler* profiler, Gpu* gpu, ProgressThread* progress, Completion* completion, FirstUse* firstUse,
          const Options& options);
  ~NcclApi() { AwaitLaunch(); }

  void GroupStart();
  void GroupEnd() { EndInternalGroup(); }
  /** ncclAllReduce, ncclSend and so on; which one is in the task. AlltoAll comes as its sends and receives. */
  void Call(const std::vector<Task*>& tasks);

  /** What is called from now on is captured, not done. */
  void BeginCapture(Graph* graph);
  void EndCapture();
  /** cudaGraphLaunch: of each of the graph's tasks the replay. */
  void LaunchGraph(Graph& graph, const std::vector<Task*>& replays);

  /** Until non-blocking communicators have done what they were asked for, as ncclCommGetAsyncError tells. */
  void AwaitLaunch();

  /** Called once, with the number of steps, before the next kernel's operations are posted. */
  void BeforeNextPost(std::function<void(int64_t steps)> hook) { beforePost_ = std::move(hook); }
  /** What a call does while it waits for others. */
  void WhileWaiting(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  /** No more callbacks from any thread of ours but this one. */
  void Freeze();

  /** Or waiting to be launched. */
  bool KernelsRunning() { return hostStream_.Busy() || !gpu_->idle(); }
  /** KernelFaults::lostAt has come: somebody watches a kernel that will never end. */
  bool lostMark() const { return lostMark_; }

  std::vector<const CallCounts*> counts() const {
    return {&events_.counts(), &launchEvents_.counts(), &hostStream_.counts()};
  }

 private:
  void EndInternalGroup();
  void Connect();
  void Join(Task* task);
  void LaunchAll(std::vector<LaunchPlan> plans, HostEvents& events);
  std::vector<LaunchPlan> PlansOf(LaunchPlan whole, const HostEvents& events) const;
  Schedule ScheduleOf(LaunchPlan& plan) const;
  void BeginLaunch(LaunchPlan& plan, HostEvents& events);
  void EndLaunch(const LaunchPlan& plan, HostEvents& events);
  void Launch(LaunchPlan& plan, HostEvents& events);
  void Capture(LaunchPlan& plan, HostEvents& events);
  void Expect(Schedule& schedule);
  int CountAwaited(std::vector<ProxyOp>& ops);

  HostEvents events_;
  HostEvents launchEvents_;  // of the thread of non-blocking communicators
  Gpu* const gpu_;
  ProgressThread* const progress_;
  Completion* const completion_;
  FirstUse* const firstUse_;
  HostStream hostStream_;
  const Options& options_;
  const int maxChannels_;
  const bool launchBlocking_;
  bool lostMark_ = false;
  int depth_ = 0;
  std::vector<LaunchPlan> pending_;  // of the open group
  Graph* graph_ = nullptr;           // what is being captured
  std::thread launchThread_;
  std::function<void(int64_t)> beforePost_;
  std::function<void()> meanwhile_ = [] {};
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_NCCL_API_H_
