// NCCL's calls as a profiler sees them: group start and end, collectives, sends and receives. A call only enqueues. The
// outermost group end launches one kernel per communicator and posts the proxy's operations.
//
//   call ─▶ GroupApi/CollApi/P2pApi events, task ─▶ group end ─▶ launch plan per communicator ─▶ Gpu, ProgressThread
//
// All of it runs on one thread, with two exceptions: non-blocking communicators launch on a thread of their own, and the
// host stream does the work of CUDA graphs.

#pragma once

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
  /** ncclAllReduce, ncclSend and so on, as the task says. AlltoAll comes as its sends and receives. */
  void Call(const std::vector<Task*>& tasks);

  /** Calls are captured from now on, not executed. */
  void BeginCapture(Graph* graph);
  void EndCapture();
  /** cudaGraphLaunch. `replays`: the replay of each of the graph's tasks. */
  void LaunchGraph(Graph& graph, const std::vector<Task*>& replays);

  /** Waits until non-blocking communicators have finished their launches, as with ncclCommGetAsyncError. */
  void AwaitLaunch();

  /** Called once, with the number of steps, before the next kernel's operations are posted. */
  void BeforeNextPost(std::function<void(int64_t steps)> hook) { beforePost_ = std::move(hook); }
  /** The next launch hands the proxy the operations of channel 0 only, and does not return. */
  void StickInNextPost() { sticks_ = true; }
  /** A call does this while it waits for other ranks. */
  void WhileWaiting(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  /** Afterwards only the calling thread makes callbacks. */
  void Freeze();

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
  [[noreturn]] void StickInPost(std::vector<ProxyOp> ops);

  HostEvents events_;
  HostEvents launchEvents_;  // for the thread of non-blocking communicators
  Gpu* const gpu_;
  ProgressThread* const progress_;
  Completion* const completion_;
  FirstUse* const firstUse_;
  HostStream hostStream_;
  const Options& options_;
  const int maxChannels_;
  const bool launchBlocking_;
  bool sticks_ = false;
  int depth_ = 0;
  std::vector<LaunchPlan> pending_;  // of the open group
  Graph* graph_ = nullptr;           // what is being captured
  std::thread launchThread_;
  std::function<void(int64_t)> beforePost_;
  std::function<void()> meanwhile_ = [] {};
};

}  // namespace loopback
