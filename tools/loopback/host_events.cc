#include "loopback/host_events.h"

#include "loopback/event_masks.h"

namespace loopback {
namespace {

using nccl_abi::EventType;

constexpr char kByteDatatype[] = "ncclInt8";
constexpr char kCollNetAlgorithm[] = "COLLNET_CHAIN";
constexpr int kWarps = 16;

void* StreamOf(const Comm& comm) { return const_cast<void*>(comm.stream); }

int MaskOf(const LaunchPlan& plan) {
  int mask = 0;
  for (const Task* task : plan.colls) mask |= task->mask;
  for (const Task* task : plan.p2ps) mask |= task->mask;
  return mask;
}

/** The group of the first task that wants a KernelLaunch. */
void* GroupApiOf(const LaunchPlan& plan, int forKernelLaunch) {
  for (const std::vector<Task*>* tasks : {&plan.colls, &plan.p2ps}) {
    for (const Task* task : *tasks) {
      if (task->mask & forKernelLaunch) return task->groupApiHandle;
    }
  }
  return nullptr;
}

/** Bytes in all rings together, as NCCL estimates them. */
size_t TrafficBytes(const Task& task) { return task.func == Func::kAllReduce ? 2 * task.bytes : task.bytes; }

void TellComm(Event& event, const Comm& comm) {
  event.commName = comm.reportedName;
  event.commHash = comm.spec.id;
}

/** A symmetric-memory kernel has a name instead of algorithm and protocol. */
const char* SymmetricVariant(Func func) {
  if (func == Func::kAllReduce) return "AllReduce_RSxLD_AGxST";
  return func == Func::kAllGather ? "AllGather_ST" : "ReduceScatter_LD";
}

}  // namespace

void LaunchPlan::TakeOldHandles() {
  if (captured == nullptr) return;
  groupHandle = captured->groupHandle;
  for (std::vector<Task*>* tasks : {&colls, &p2ps}) {
    for (Task* task : *tasks) task->eventHandle = task->captured->eventHandle;
  }
}

void LaunchPlan::LeaveHandles() {
  if (captured == nullptr) return;
  captured->groupHandle = groupHandle;
  for (std::vector<Task*>* tasks : {&colls, &p2ps}) {
    for (Task* task : *tasks) task->captured->eventHandle = task->eventHandle;
  }
}

void HostEvents::EnterCall() {
  if (groupDepth_ > 0) groupDepth_ += 1;
}

void HostEvents::LeaveCall() {
  if (groupDepth_ > 0) groupDepth_ -= 1;
}

void HostEvents::StartGroupApi(const Comm& comm, int depth) {
  mask_ = profiler_->SampleMask();
  if (!profiler_->loaded() || (mask_ & masks().groupApi) == 0) return;
  if (groupDepth_ == 0) {
    Event d(EventType::kGroupApi, nullptr);
    d->groupApi.graphCaptured = capturing_;
    d->groupApi.groupDepth = depth;
    profiler_->Start(comm.profilerContext, &groupApiHandle_, d, counts_);
    groupDepth_ = depth;
    groupState_ = GroupState::kStarted;
  }
  RecordGroupApi(nccl_abi::kGroupStartApiStop);
}

void HostEvents::RecordGroupApi(nccl_abi::EventState state) {
  const bool isStart = state == nccl_abi::kGroupStartApiStop;
  if (groupState_ != (isStart ? GroupState::kStarted : GroupState::kStopped)) return;
  groupState_ = isStart ? GroupState::kStopped : GroupState::kReset;
  if (!profiler_->loaded() || groupApiHandle_ == nullptr) return;
  profiler_->State(groupApiHandle_, state, nullptr, counts_);
}

void HostEvents::StopGroupApi() {
  if (groupDepth_ > 0) return;
  StopIfAny(groupApiHandle_);
  groupApiHandle_ = nullptr;
}

void HostEvents::StartCallApi(Task& task) {
  const bool p2p = IsP2p(task.func);
  void** handle = p2p ? &p2pApiHandle_ : &collApiHandle_;
  if (profiler_->loaded() && (mask_ & (p2p ? masks().p2pApi : masks().collApi)) != 0) {
    Event d(p2p ? EventType::kP2pApi : EventType::kCollApi, groupApiHandle_);
    if (p2p) {
      d->p2pApi.func = FuncName(task.func);
      d->p2pApi.count = task.count;
      d->p2pApi.datatype = task.datatype;
      d->p2pApi.stream = StreamOf(*task.comm);
      d->p2pApi.graphCaptured = capturing_;
      d->p2pApi.userTag = userTag_;
    } else {
      d->collApi.func = FuncName(task.func);
      d->collApi.count = task.count;
      d->collApi.datatype = task.datatype;
      d->collApi.root = task.peer;
      d->collApi.stream = StreamOf(*task.comm);
      d->collApi.graphCaptured = capturing_;
      d->collApi.userTag = userTag_;
    }
    profiler_->Start(task.comm->profilerContext, handle, d, counts_);
  }
  task.unreported = task.func == Func::kBroadcast && profiler_->HidesBroadcasts();
  task.mask = profiler_->release().maskPerPlan || task.unreported ? 0 : mask_;
  task.groupApiHandle = groupApiHandle_;
  task.apiHandle = *handle;
}

void HostEvents::StopCallApi(const Task& task) { StopIfAny(IsP2p(task.func) ? p2pApiHandle_ : collApiHandle_); }

void HostEvents::StartKernelLaunch(LaunchPlan& plan) {
  if (!profiler_->loaded() || (MaskOf(plan) & masks().kernelLaunch) == 0) return;
  Event d(EventType::kKernelLaunch, GroupApiOf(plan, masks().kernelLaunch));
  d->kernelLaunch.stream = StreamOf(*plan.comm);
  profiler_->Start(plan.comm->profilerContext, &plan.kernelLaunchHandle, d, counts_);
}

void HostEvents::StopKernelLaunch(const LaunchPlan& plan) { StopIfAny(plan.kernelLaunchHandle); }

void HostEvents::SetMask(LaunchPlan& plan, int mask) {
  for (Task* task : plan.colls) task->mask = mask;
  for (Task* task : plan.p2ps) task->mask = mask;
}

bool HostEvents::ReportsSymmetric(const Task& task) const {
  return profiler_->release().symmetricKernels && (task.mask & masks::kForKernelCh) != 0;
}

void HostEvents::StartTasks(LaunchPlan& plan) {
  const bool maskPerPlan = profiler_->release().maskPerPlan;
  if (maskPerPlan) SetMask(plan, profiler_->SampleMask());
  if (profiler_->loaded() && (MaskOf(plan) & masks().group) != 0) {
    Event d(EventType::kGroup, nullptr);
    profiler_->Start(plan.comm->profilerContext, &plan.groupHandle, d, counts_);
  }
  if (maskPerPlan && plan.groupHandle == nullptr) SetMask(plan, 0);
  for (Task* task : plan.colls) StartColl(plan, *task);
  for (Task* task : plan.p2ps) StartP2p(plan, *task);
}

void HostEvents::StartColl(LaunchPlan& plan, Task& task) {
  if (task.unreported) return;
  task.announced = true;
  Comm& comm = *task.comm;
  uint64_t& nextNumber = comm.seqNumbers[static_cast<int>(task.func)];
  task.seqNumber = nextNumber;
  // In a graph NCCL counts only what all ranks announce for certain. With KernelCh all ranks have operations.
  if (!plan.persistent || (profiler_->SampleMask() & masks::kForKernelCh) != 0) nextNumber += 1;
  if (!profiler_->loaded() || (task.mask & masks().coll) == 0) return;
  const bool symmetric = task.engine == Engine::kSymmetric;
  const char* const variant = symmetric ? SymmetricVariant(task.func) : nullptr;
  // NCCL has turned these into copies of bytes.
  const bool asBytes = task.func == Func::kAllGather || task.func == Func::kBroadcast;
  Event d(EventType::kColl, task.apiHandle, comm.rank);
  d->coll.seqNumber = task.seqNumber;
  d->coll.func = FuncName(task.func);
  d->coll.sendBuff = task.buffer;
  d->coll.recvBuff = task.buffer;
  d->coll.count = asBytes ? task.count * kElementBytes : task.count;
  d->coll.root = task.peer;
  d->coll.datatype = asBytes ? kByteDatatype : task.datatype;
  d->coll.nChannels = task.collNet ? 0 : task.nChannels;  // NCCL does not count them for CollNet
  d->coll.nWarps = kWarps;
  d->coll.algo = symmetric ? strchr(variant, '_') + 1 : task.collNet ? kCollNetAlgorithm : AlgoName(task.algo);
  d->coll.proto = symmetric ? "" : ProtoName(task.proto);
  d->coll.parentGroup = plan.groupHandle;
  d->coll.kernelVariant = variant;
  d->coll.isSymColl = symmetric;
  d->coll.userTag = userTag_;
  d.trafficBytes = TrafficBytes(task);
  TellComm(d, comm);
  profiler_->Start(comm.profilerContext, &task.eventHandle, d, counts_);
}

void HostEvents::StartP2p(LaunchPlan& plan, Task& task) {
  task.announced = true;
  if (!profiler_->loaded() || (task.mask & masks().p2p) == 0) return;
  Event d(EventType::kP2p, task.apiHandle, task.comm->rank);
  d->p2p.func = FuncName(task.func);
  d->p2p.buff = task.buffer;
  d->p2p.datatype = task.datatype;
  d->p2p.count = task.count;
  d->p2p.peer = task.peer;
  d->p2p.nChannels = task.nChannels;
  d->p2p.parentGroup = plan.groupHandle;
  d->p2p.userTag = userTag_;
  TellComm(d, *task.comm);
  profiler_->Start(task.comm->profilerContext, &task.eventHandle, d, counts_);
}

void HostEvents::StopTask(const Task& task, int taskMask) {
  const bool unchecked = profiler_->release().stopsWithoutHandle && (task.mask & taskMask) != 0;
  if (profiler_->loaded() && (unchecked || task.eventHandle != nullptr)) profiler_->Stop(task.eventHandle, counts_);
}

void HostEvents::StopTasks(const LaunchPlan& plan) {
  for (const Task* task : plan.colls) StopTask(*task, masks().coll);
  for (const Task* task : plan.p2ps) StopTask(*task, masks().p2p);
  StopIfAny(plan.groupHandle);
}

}  // namespace loopback
