// The events of the threads that call NCCL and launch its kernels: GroupApi, CollApi, P2pApi, KernelLaunch, Group,
// Coll, P2p. Each thread has an object of its own. As in NCCL's profiler.cc: which mask bits produce which events, whose
// handle is whose parent, and which handles are not cleared after their stop. Until NCCL 2.27 there are only Group, Coll
// and P2p.

#pragma once

#include <vector>

#include "loopback/copy_engine_events.h"
#include "loopback/profiler.h"
#include "loopback/task.h"

namespace loopback {

/** The tasks of one communicator that become one kernel, and the handles of its events. */
struct LaunchPlan {
  Comm* comm = nullptr;
  std::vector<Task*> colls{};  // in the scheduler's order
  std::vector<Task*> p2ps{};
  std::vector<Task*> windowed{};  // by copy engines or symmetric kernels: each on its own
  void* kernelLaunchHandle = nullptr;
  void* groupHandle = nullptr;

  /** True for a captured launch plan and its replays. */
  bool persistent = false;
  LaunchPlan* captured = nullptr;  // of a replay
  // NCCL has one plan for all replays, so each replay finds the handles of the last one.
  void TakeOldHandles();
  void LeaveHandles();
};

class HostEvents {
 public:
  HostEvents(Profiler* profiler, uint64_t userTag)
      : profiler_(profiler), userTag_(userTag), copyEngine_(profiler, userTag) {}

  const CallCounts& counts() const { return counts_; }

  /** True: calls are captured into a graph from now on. */
  void SetCapturing(bool capturing) { capturing_ = capturing; }

  // Called around each call of the user. `depth` counts ncclGroupStart, with the implicit one.
  void EnterCall();
  void LeaveCall();

  /** Call it first in each call. Samples the mask, and opens the group at its first operation. */
  void StartGroupApi(const Comm& comm, int depth);
  void GroupEndBegins() { RecordGroupApi(nccl_abi::kGroupEndApiStart); }
  void StopGroupApi();

  /** Starts CollApi or P2pApi, and stores in the task what it needs later. */
  void StartCallApi(Task& task);
  void StopCallApi(const Task& task);

  void StartKernelLaunch(LaunchPlan& plan);
  void StopKernelLaunch(const LaunchPlan& plan);
  /** Starts Group, then Coll and P2p of its tasks. Counts sequence numbers for any mask. */
  void StartTasks(LaunchPlan& plan);
  void StopTasks(const LaunchPlan& plan);

  /** True if this release reports symmetric-memory kernels, as it does others. */
  bool ReportsSymmetric(const Task& task) const;

  /** Call them around the enqueueing of a copy engine's work: CeColl, and in it CeSync, CeBatch, CeSync. */
  void StartCopyEngine(Task& task) { copyEngine_.Start(task, counts_); }
  void StopCopyEngine() { copyEngine_.Stop(counts_); }

 private:
  enum class GroupState { kReset, kStarted, kStopped };

  void RecordGroupApi(nccl_abi::EventState state);
  const EventMasks& masks() const { return profiler_->release().masks; }
  void SetMask(LaunchPlan& plan, int mask);
  void StartColl(LaunchPlan& plan, Task& task);
  void StartP2p(LaunchPlan& plan, Task& task);
  void StopTask(const Task& task, int taskMask);
  void StopIfAny(void* handle) {
    if (profiler_->loaded() && handle != nullptr) profiler_->Stop(handle, counts_);
  }

  Profiler* const profiler_;
  const uint64_t userTag_;  // as set by ncclNotifyTag
  CallCounts counts_;

  // NCCL keeps these per thread. A stop does not clear the API handles.
  int mask_ = 0;
  int groupDepth_ = 0;
  bool capturing_ = false;
  GroupState groupState_ = GroupState::kReset;
  void* groupApiHandle_ = nullptr;
  void* collApiHandle_ = nullptr;
  void* p2pApiHandle_ = nullptr;
  CopyEngineEvents copyEngine_;
};

}  // namespace loopback
