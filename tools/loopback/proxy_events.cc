#include "loopback/proxy_events.h"

#include <unistd.h>

#include "loopback/event_masks.h"
#include "nccl/profiler_common.h"

namespace loopback {
namespace {

using nccl_abi::EventState;
using nccl_abi::EventType;

StepHandle& HandleOf(ProxySub& sub, int step) { return sub.stepHandles[step % kSteps]; }

/** The operation's state that goes with a step's state, until NCCL 2.26. */
int OpStateWith(EventState state) {
  switch (state) {
    case nccl_abi::kStepSendGpuWait:
      return nccl_abi::kOpSendPosted;
    case nccl_abi::kStepSendPeerWait:
      return nccl_abi::kOpSendRemFifoWait;
    case nccl_abi::kStepSendWait:
      return nccl_abi::kOpSendTransmitted;
    case nccl_abi::kStepRecvWait:
      return nccl_abi::kOpRecvPosted;
    case nccl_abi::kStepRecvFlushWait:
      return nccl_abi::kOpRecvReceived;
    default:
      return nccl_abi::kOpRecvTransmitted;
  }
}

}  // namespace

pid_t OwnPid() {
  static const pid_t pid = getpid();
  return pid;
}

void ProxyEvents::OpAppended(ProxySub& sub) {
  if (!rules().opDetails) StartOp(sub);
}

void ProxyEvents::OpBegins(ProxySub& sub) {
  sub.transferred = 0;
  if (rules().opDetails) return StartOp(sub);
  if (sub.op.endless) return;
  if (!profiler_->loaded() || sub.opHandle == nullptr) return;
  const StateValues values;
  profiler_->State(sub.opHandle, nccl_abi::kOpInProgress, &values, counts_);
}

void ProxyEvents::StartOp(ProxySub& sub) {
  const ProxyOp& op = sub.op;
  op.truth->started = true;
  if (!op.profile.unreported) op.truth->ordinal = (*op.connection->ordinals)++;
  if (!profiler_->loaded() || (op.profile.mask & rules().masks.proxyOp) == 0) return;
  Event d(EventType::kProxyOp, op.profile.parent, op.profile.rank);
  d->proxyOp.pid = op.profile.pid;
  d->proxyOp.channelId = op.channel;
  d->proxyOp.peer = op.connection->peer;
  d->proxyOp.nSteps = DivUp(op.rawSteps, UnitOf(sub));
  d->proxyOp.chunkSize = ReportedChunkSize(op.chunkBytes, UnitOf(sub));
  d->proxyOp.isSend = op.kind == ProxyKind::kSend && !op.endless;
  profiler_->Start(op.profile.context, &sub.opHandle, d, counts_);
}

/** State of an operation after `rawSteps` slots. */
void ProxyEvents::OpDetail(ProxySub& sub, int rawSteps, int state) {
  if (!profiler_->loaded() || sub.opHandle == nullptr) return;
  StateValues values;
  values.transSize = sub.transferred;
  values.steps = DivUp(rawSteps, UnitOf(sub));
  profiler_->State(sub.opHandle, static_cast<EventState>(state), &values, counts_);
}

void ProxyEvents::StopOp(ProxySub& sub) {
  if (!profiler_->loaded() || sub.op.endless || sub.opHandle == nullptr) return;
  profiler_->Stop(sub.opHandle, counts_);
  sub.opHandle = nullptr;
}

ProxyEvents::Steps ProxyEvents::StepsOf(const ProxySub& sub, int rawStep) const {
  const int unit = UnitOf(sub);
  return {static_cast<int>(DivUp(rawStep, unit)), static_cast<int>(DivUp(rawStep + sub.op.sliceSteps, unit))};
}

void ProxyEvents::StartStep(ProxySub& sub, int rawStep) {
  if (!profiler_->loaded() || sub.op.endless || (sub.op.profile.mask & rules().masks.proxyStep) == 0) return;
  if (sub.opHandle == nullptr && !rules().orphanSteps) return;
  const Steps steps = StepsOf(sub, rawStep);
  for (int step = steps.begin; step < steps.end; step++) {
    Event d(EventType::kProxyStep, sub.opHandle, sub.op.profile.rank);
    d->proxyStep.step = step;
    void* handle = HandleOf(sub, step).load(std::memory_order_relaxed);
    profiler_->Start(sub.op.profile.context, &handle, d, counts_);
    HandleOf(sub, step).store(handle, std::memory_order_relaxed);
  }
}

void ProxyEvents::StepState(ProxySub& sub, int rawStep, EventState state) {
  if (!profiler_->loaded() || sub.op.endless || sub.opHandle == nullptr) return;
  StateValues size;
  size.transSize = sub.transSize;  // size of this step in states 9 and 11 only
  const StateValues* values = &size;
  if (rules().opDetails) {
    OpDetail(sub, rawStep + sub.op.sliceSteps, OpStateWith(state));
    if (state == nccl_abi::kStepSendPeerWait) return;
    values = nullptr;
  }
  const Steps steps = StepsOf(sub, rawStep);
  for (int step = steps.begin; step < steps.end; step++) {
    void* const handle = HandleOf(sub, step).load(std::memory_order_relaxed);
    if (handle != nullptr) profiler_->State(handle, state, values, counts_);
  }
}

void ProxyEvents::StopStep(ProxySub& sub, int rawStep) {
  if (!profiler_->loaded() || sub.op.endless) return;
  const Steps steps = StepsOf(sub, rawStep);
  for (int step = steps.begin; step < steps.end; step++) {
    void* const handle = HandleOf(sub, step).load(std::memory_order_relaxed);
    if (handle == nullptr) continue;
    profiler_->Stop(handle, counts_);
    HandleOf(sub, step).store(nullptr, std::memory_order_relaxed);
  }
  if (!rules().opDetails) return;
  const bool isSend = sub.op.kind == ProxyKind::kSend;
  OpDetail(sub, rawStep + sub.op.sliceSteps, isSend ? nccl_abi::kOpSendDone : nccl_abi::kOpRecvDone);
}

NetParent ProxyEvents::ParentOfRequest(ProxySub& sub, int rawStep) const {
  const OpProfile& profile = sub.op.profile;
  if (sub.op.endless) return {&HandleOf(sub, 0), profile.context, 0, profile.rank};
  return {&HandleOf(sub, StepsOf(sub, rawStep).begin), profile.context, profile.mask, profile.rank};
}

void ProxyEvents::StartKernelCh(ProxySub& sub, uint64_t timestamp) {
  if (!profiler_->loaded() || (sub.op.profile.mask & masks::kForKernelCh) == 0) return;
  Event d(EventType::kKernelCh, sub.op.profile.parent);
  d->kernelCh.channelId = sub.op.channel;
  d->kernelCh.pTimer = timestamp;
  profiler_->Start(sub.op.profile.context, &sub.kernelHandle, d, counts_);
}

void ProxyEvents::KernelPhases(ProxySub& sub, const PhaseMarks::value_type& times) {
  static const char* const names[] = {"initial_sync", "compute", "final_sync"};
  if (!profiler_->loaded() || (sub.op.profile.mask & masks::kForKernelPhase) == 0) return;
  for (int phase = 0; phase < 3; phase++) {
    const uint64_t begin = times[phase].load(std::memory_order_relaxed);
    StateValues end;
    end.pTimer = times[phase + 1].load(std::memory_order_relaxed);
    if (begin == end.pTimer) continue;  // too short for the GPU's clock
    Event d(nccl_abi::v7::kKernelPhase, sub.kernelHandle);
    d->kernelPhase.channelId = sub.op.channel;
    d->kernelPhase.phaseId = phase;
    d->kernelPhase.phaseName = names[phase];
    d->kernelPhase.pTimer = begin;
    void* handle = nullptr;
    profiler_->Start(sub.op.profile.context, &handle, d, counts_);
    if (handle == nullptr) continue;
    profiler_->State(handle, nccl_abi::v7::kKernelPhaseStop, &end, counts_);
    profiler_->Stop(handle, counts_);
  }
}

/** Does not clear the handle. */
void ProxyEvents::StopKernelCh(ProxySub& sub, uint64_t timestamp) {
  if (!profiler_->loaded() || sub.kernelHandle == nullptr) return;
  StateValues values;
  values.pTimer = timestamp;
  if (rules().kernelTimes) profiler_->State(sub.kernelHandle, nccl_abi::kKernelChStop, &values, counts_);
  profiler_->Stop(sub.kernelHandle, counts_);
}

void ProxyEvents::StartCtrl(const Comm& owner, void** handle) {
  *handle = nullptr;
  if (!profiler_->loaded() || (profiler_->SampleMask() & masks::kForProxyCtrl) == 0) return;
  memset(handle, kPoison, sizeof *handle);
  Event d(EventType::kProxyCtrl, nullptr);
  profiler_->Start(owner.profilerContext, handle, d, counts_);
}

void ProxyEvents::CtrlState(void* handle, nccl_abi::EventState state, int appended) {
  if (!profiler_->loaded() || handle == nullptr) return;
  StateValues values;
  values.appended = appended;
  profiler_->State(handle, state, &values, counts_);
}

void ProxyEvents::StopCtrl(void* handle) {
  if (!profiler_->loaded() || handle == nullptr) return;
  profiler_->Stop(handle, counts_);
}

}  // namespace loopback
