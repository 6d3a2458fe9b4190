// The events of the progress thread: ProxyOp, ProxyStep, ProxyCtrl, KernelCh. Checks, clears and leaves handles exactly as
// NCCL's profiler.cc does.

#pragma once

#include "loopback/profiler.h"
#include "loopback/proxy_op.h"

namespace loopback {

/** As in NCCL, read once, when the plugin is loaded. */
pid_t OwnPid();

class ProxyEvents {
 public:
  explicit ProxyEvents(Profiler* profiler) : profiler_(profiler) {}

  const CallCounts& counts() const { return counts_; }

  // An operation is queued, and later progresses for the first time. The release decides at which of them it starts.
  void OpAppended(ProxySub& sub);
  void OpBegins(ProxySub& sub);
  void StopOp(ProxySub& sub);

  // One transfer. `rawStep` counts buffer slots. The plugin sees units of sliceSteps, in NCCL 2.23 slots.
  void StartStep(ProxySub& sub, int rawStep);
  void StepState(ProxySub& sub, int rawStep, nccl_abi::EventState state);
  void StopStep(ProxySub& sub, int rawStep);
  /** The parent that the network gets for it. */
  NetParent ParentOfRequest(ProxySub& sub, int rawStep) const;

  void StartKernelCh(ProxySub& sub, uint64_t timestamp);
  void StopKernelCh(ProxySub& sub, uint64_t timestamp);
  /** Makes all events when the kernel is over: three phases between four times. */
  void KernelPhases(ProxySub& sub, const PhaseMarks::value_type& times);

  // The context is of the communicator that owns the proxy. `handle` is an uninitialised variable.
  void StartCtrl(const Comm& owner, void** handle);
  void CtrlState(void* handle, nccl_abi::EventState state, int appended = 0);
  void StopCtrl(void* handle);

 private:
  /** The steps of one transfer, as the plugin counts them. */
  struct Steps {
    int begin;
    int end;
  };

  const Release& rules() const { return profiler_->release(); }
  int UnitOf(const ProxySub& sub) const { return rules().rawSteps ? 1 : sub.op.sliceSteps; }
  Steps StepsOf(const ProxySub& sub, int rawStep) const;
  void StartOp(ProxySub& sub);
  void OpDetail(ProxySub& sub, int rawSteps, int state);

  Profiler* const profiler_;
  CallCounts counts_;
};

}  // namespace loopback
