// The events made by the progress thread: ProxyOp, ProxyStep, ProxyCtrl, KernelCh. Handles are checked, cleared and
// left stale exactly where NCCL's profiler.cc does.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PROXY_EVENTS_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PROXY_EVENTS_H_

#include "loopback/profiler.h"
#include "loopback/proxy_op.h"

namespace loopback {

/** As NCCL remembers it: once, when the plugin is loaded. */
pid_t OwnPid();

class ProxyEvents {
 public:
  explicit ProxyEvents(Profiler* profiler) : profiler_(profiler) {}

  const CallCounts& counts() const { return counts_; }

  // An operation is queued, and later moves for the first time. When it starts depends on the release.
  void OpAppended(ProxySub& sub);
  void OpBegins(ProxySub& sub);
  void StopOp(ProxySub& sub);

  // One transfer. `rawStep` counts buffer slots; the plugin sees it in units of sliceSteps, in NCCL 2.23 slot by slot.
  void StartStep(ProxySub& sub, int rawStep);
  void StepState(ProxySub& sub, int rawStep, nccl_abi::EventState state);
  void StopStep(ProxySub& sub, int rawStep);
  /** What the network gets to know of it. */
  NetParent ParentOfRequest(ProxySub& sub, int rawStep) const;

  void StartKernelCh(ProxySub& sub, uint64_t timestamp);
  void StopKernelCh(ProxySub& sub, uint64_t timestamp);
  /** All at once, when the kernel is over: three phases between four times. */
  void KernelPhases(ProxySub& sub, const PhaseMarks::value_type& times);

  // The context is that of the communicator that owns the proxy. `handle` is a variable nobody initialised.
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

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PROXY_EVENTS_H_
