#include "loopback/nccl_api.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "loopback/clock.h"
#include "loopback/parse.h"
#include "loopback/payload.h"
#include "loopback/scheduler.h"
#include "loopback/split_plan.h"
#include "loopback/window_work.h"

namespace loopback {
namespace {

/** False for a collective of one rank, which is a copy in the GPU, or of no data. The profiler never sees these. */
bool IsVisible(const Task& task) {
  const bool isCollective = !IsP2p(task.func) || task.ofAllToAll;
  return !isCollective || (task.comm->nRanks > 1 && task.count > 0);
}

/** `before`: the task called before it. */
void DoUnseen(Task& task, const Task* before) {
  if (task.ofAllToAll && task.func == Func::kRecv) memcpy(task.buffer, before->buffer, task.bytes);
  task.endNs = MonotonicNs();
}

}  // namespace

NcclApi::NcclApi(Profiler* profiler, Gpu* gpu, ProgressThread* progress, Completion* completion, FirstUse* firstUse,
                 const Options& options)
    : events_(profiler, options.userTag),
      launchEvents_(profiler, options.userTag),
      gpu_(gpu),
      progress_(progress),
      completion_(completion),
      firstUse_(firstUse),
      hostStream_(profiler, gpu, progress, options.userTag),
      options_(options),
      maxChannels_(options.channels),
      launchBlocking_(EnvNumber("CUDA_LAUNCH_BLOCKING", 0) != 0) {}

void NcclApi::GroupStart() {
  if (depth_ == 0) AwaitLaunch();
  depth_ += 1;
}

/** Each call is a group inside the user's group. */
void NcclApi::Call(const std::vector<Task*>& tasks) {
  GroupStart();
  events_.EnterCall();
  const Task* before = nullptr;
  for (Task* task : tasks) {
    if (IsVisible(*task)) {
      events_.StartGroupApi(*task->comm, depth_);
      events_.StartCallApi(*task);
      Join(task);
      events_.StopCallApi(*task);
    } else {
      DoUnseen(*task, before);
    }
    before = task;
  }
  EndInternalGroup();
}

/** The end of any group may end the event, because NCCL's profiler counts calls, not the user's inner groups. */
void NcclApi::EndInternalGroup() {
  events_.LeaveCall();
  depth_ -= 1;
  if (depth_ == 0) {
    events_.GroupEndBegins();
    Connect();
    if (!options_.nonBlocking) LaunchAll(std::move(pending_), events_);
  }
  events_.StopGroupApi();
  if (depth_ == 0 && options_.nonBlocking && !pending_.empty()) {
    launchThread_ = std::thread([this, plans = std::move(pending_)]() mutable {
      pthread_setname_np(pthread_self(), "loopback launch");
      LaunchAll(std::move(plans), launchEvents_);
    });
  }
  if (depth_ == 0) pending_.clear();
}

void NcclApi::Connect() {
  std::vector<Task*> tasks;
  for (const LaunchPlan& plan : pending_) {
    tasks.insert(tasks.end(), plan.colls.begin(), plan.colls.end());
    tasks.insert(tasks.end(), plan.p2ps.begin(), plan.p2ps.end());
  }
  firstUse_->Connect(tasks, meanwhile_);
}

void NcclApi::AwaitLaunch() {
  if (launchThread_.joinable()) launchThread_.join();
}

void NcclApi::Join(Task* task) {
  auto plan = std::find_if(pending_.begin(), pending_.end(), [&](auto& p) { return p.comm == task->comm; });
  if (plan == pending_.end()) {
    // NCCL orders the communicators of a group by their hashes, not by the order of calls.
    plan =
        std::find_if(pending_.begin(), pending_.end(), [&](auto& p) { return p.comm->spec.id > task->comm->spec.id; });
    plan = pending_.emplace(plan);
    plan->comm = task->comm;
  }
  auto& tasks = task->engine != Engine::kKernel ? plan->windowed : IsP2p(task->func) ? plan->p2ps : plan->colls;
  tasks.push_back(task);
}

void NcclApi::LaunchAll(std::vector<LaunchPlan> plans, HostEvents& events) {
  for (LaunchPlan& whole : plans) {
    for (LaunchPlan& plan : PlansOf(std::move(whole), events)) {
      graph_ == nullptr ? Launch(plan, events) : Capture(plan, events);
    }
  }
}

/** Tasks without connections (windows) get a launch plan each, all others share one. */
std::vector<LaunchPlan> NcclApi::PlansOf(LaunchPlan whole, const HostEvents& events) const {
  std::vector<LaunchPlan> plans;
  for (Task* task : whole.windowed) {
    plans.emplace_back();
    plans.back().comm = whole.comm;
    task->unreported = task->engine != Engine::kSymmetric || !events.ReportsSymmetric(*task);
    (task->unreported ? plans.back().windowed : plans.back().colls).push_back(task);
  }
  whole.windowed.clear();
  if (whole.colls.empty() && whole.p2ps.empty()) return plans;
  for (LaunchPlan& plan : SplitPlan(std::move(whole), options_.planTasks)) plans.push_back(std::move(plan));
  return plans;
}

Schedule NcclApi::ScheduleOf(LaunchPlan& plan) const {
  if (!plan.windowed.empty()) {
    Task& task = *plan.windowed[0];
    return {MakeWindowKernel(task, task.engine == Engine::kCopyEngine ? 1 : maxChannels_), {}};
  }
  const bool symmetric = !plan.colls.empty() && plan.colls[0]->engine == Engine::kSymmetric;
  return symmetric ? MakeSymmetricSchedule(*plan.colls[0], maxChannels_) : MakeSchedule(plan, maxChannels_);
}

/** Copy engines have events of their own. Symmetric-memory kernels have none until NCCL 2.31. */
void NcclApi::BeginLaunch(LaunchPlan& plan, HostEvents& events) {
  if (plan.windowed.empty()) return events.StartKernelLaunch(plan);
  if (plan.windowed[0]->engine == Engine::kCopyEngine) events.StartCopyEngine(*plan.windowed[0]);
}

void NcclApi::EndLaunch(const LaunchPlan& plan, HostEvents& events) {
  if (plan.windowed.empty()) return events.StopKernelLaunch(plan);
  if (plan.windowed[0]->engine == Engine::kCopyEngine) events.StopCopyEngine();
}

/** Launches the kernel first, so it may run before its tasks are announced and posted to the proxy. */
void NcclApi::Launch(LaunchPlan& plan, HostEvents& events) {
  Schedule schedule = ScheduleOf(plan);
  Expect(schedule);
  BeginLaunch(plan, events);
  const bool byHostStream = launchBlocking_ || hostStream_.Busy();
  if (!byHostStream) gpu_->Launch(std::move(schedule.kernel));
  EndLaunch(plan, events);
  const bool announced = plan.windowed.empty();
  if (byHostStream) return hostStream_.Add({std::move(plan), std::move(schedule), announced});
  if (!announced) return;
  events.StartTasks(plan);
  if (sticks_) StickInPost(std::move(schedule.proxyOps));
  progress_->Post(std::move(schedule.proxyOps));
  events.StopTasks(plan);
}

/** As where slots of operations were lost: the caller waits for free ones until the process ends. */
void NcclApi::StickInPost(std::vector<ProxyOp> ops) {
  ops.erase(std::remove_if(ops.begin(), ops.end(), [](const ProxyOp& op) { return op.channel != 0; }), ops.end());
  progress_->Post(std::move(ops));
  while (true) {
    SleepNs(kMillisecond);
    meanwhile_();
  }
}

/** If there are no operations, a replay has no host node, so the tasks are announced now. */
void NcclApi::Capture(LaunchPlan& plan, HostEvents& events) {
  plan.persistent = true;
  const bool hasProxyOps = !ScheduleOf(plan).proxyOps.empty();
  BeginLaunch(plan, events);
  EndLaunch(plan, events);
  if (!hasProxyOps) {
    events.StartTasks(plan);
    events.StopTasks(plan);
  }
  graph_->nodes.push_back({std::move(plan), hasProxyOps});
}

void NcclApi::BeginCapture(Graph* graph) {
  AwaitLaunch();
  graph_ = graph;
  events_.SetCapturing(true);
}

void NcclApi::EndCapture() {
  AwaitLaunch();
  graph_ = nullptr;
  events_.SetCapturing(false);
}

void NcclApi::LaunchGraph(Graph& graph, const std::vector<Task*>& replays) {
  AwaitLaunch();
  const Task* before = nullptr;
  for (Task* task : replays) {
    if (!IsVisible(*task)) {
      FillInput(*task);
      DoUnseen(*task, before);
      task->mismatch = CheckOutput(*task);
    }
    before = task;
  }
  for (Graph::Node& node : graph.nodes) {
    LaunchPlan plan = ReplayOf(node, graph, replays);
    Schedule schedule = ScheduleOf(plan);
    schedule.kernel->isReplay = true;
    Expect(schedule);
    hostStream_.Add({std::move(plan), std::move(schedule), node.hasProxyOps});
  }
}

void NcclApi::Expect(Schedule& schedule) {
  completion_->Add(1 + schedule.proxyOps.size());
  if (!beforePost_) return;
  int64_t steps = 0;
  for (const ProxyOp& op : schedule.proxyOps) steps += op.truth == nullptr ? 0 : op.truth->nSteps;
  beforePost_(steps);
  beforePost_ = nullptr;
}

void NcclApi::Freeze() {
  AwaitLaunch();
  hostStream_.Freeze();
}

}  // namespace loopback
