#include "loopback/nccl_api.h"

#include <algorithm>

#include "loopback/scheduler.h"

namespace loopback {

void NcclApi::GroupEnd() { EndInternalGroup(); }

/** Each call is a group of its own inside the user's. */
void NcclApi::Call(Task* task) {
  depth_ += 1;
  events_.EnterCall();
  // A copy within the GPU, or nothing at all: the profiler never hears of it.
  const bool visible = IsP2p(task->func) || (task->comm->nRanks > 1 && task->count > 0);
  if (visible) {
    events_.StartGroupApi(*task->comm, depth_);
    events_.StartCallApi(*task);
    Join(task);
    events_.StopCallApi(*task);
  } else {
    task->endNs = MonotonicNs();
  }
  EndInternalGroup();
}

void NcclApi::EndInternalGroup() {
  events_.LeaveCall();
  if (--depth_ > 0) return;
  events_.GroupEndBegins();
  LaunchAll();
  events_.StopGroupApi();
}

void NcclApi::Join(Task* task) {
  auto plan = std::find_if(pending_.begin(), pending_.end(), [&](auto& p) { return p.comm == task->comm; });
  if (plan == pending_.end()) {
    pending_.emplace_back();
    plan = pending_.end() - 1;
    plan->comm = task->comm;
  }
  (IsP2p(task->func) ? plan->p2ps : plan->colls).push_back(task);
}

void NcclApi::LaunchAll() {
  for (LaunchPlan& plan : pending_) Launch(plan);
  pending_.clear();
}

/** The kernel is launched first, and may be running when its tasks are announced and the proxy hears of them. */
void NcclApi::Launch(LaunchPlan& plan) {
  Schedule schedule = MakeSchedule(plan, maxChannels_);
  completion_->Add(1 + schedule.proxyOps.size());
  events_.StartKernelLaunch(plan);
  gpu_->Launch(std::move(schedule.kernel));
  events_.StopKernelLaunch(plan);
  events_.StartTasks(plan);
  Post(std::move(schedule.proxyOps));
  events_.StopTasks(plan);
}

void NcclApi::Post(std::vector<ProxyOp> ops) {
  if (beforePost_) {
    int64_t steps = 0;
    for (const ProxyOp& op : ops) steps += op.truth == nullptr ? 0 : op.truth->nSteps;
    beforePost_(steps);
    beforePost_ = nullptr;
  }
  progress_->Post(std::move(ops));
}

}  // namespace loopback
