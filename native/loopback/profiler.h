// The plugin as NCCL holds it: one table, one activation mask for the whole process, and calls whose results are
// ignored. Which events to make and when is not decided here, but in host_events.h and proxy_events.h by the rules of
// release.h; nor how a version says them: that is sender.h.
//
// Every call is counted by the thread that makes it: the counts are the truth a recording is compared with.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PROFILER_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PROFILER_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "loopback/abuser.h"
#include "loopback/plugin_loader.h"
#include "loopback/release.h"
#include "loopback/sender.h"

namespace loopback {

constexpr int kEventTypes = 17;   // by bit; the last one is unknown
constexpr int kEventStates = 33;  // likewise

/** Calls made to the plugin by one thread. Only that thread writes; others may read at any time. */
class CallCounts {
 public:
  void AddStart(uint64_t type) { Increment(starts_[__builtin_ctzll(type)]); }
  void AddState(int32_t state) { Increment(states_[state == kUnknownEventState ? kEventStates - 1 : state]); }
  void AddStop() { Increment(stops_); }

  uint64_t starts(int bit) const { return starts_[bit].load(std::memory_order_relaxed); }
  uint64_t states(int state) const { return states_[state].load(std::memory_order_relaxed); }
  Abuser abuser;

  uint64_t stops() const { return stops_.load(std::memory_order_relaxed); }

 private:
  using Counter = std::atomic<uint64_t>;
  // One writer: a load and a store do, and cost less than an atomic addition.
  static void Increment(Counter& c) { c.store(c.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::array<Counter, kEventTypes> starts_{};
  std::array<Counter, kEventStates> states_{};
  Counter stops_{0};
};

class Profiler {
 public:
  /**
   * Loads the plugin as an NCCL does that knows the versions up to `abi`. Those of the plugin above `pluginAbi` are not
   * looked at; 0: no plugin is loaded.
   */
  void Load(int abi, int pluginAbi);
  void Unload() { UnloadPlugin(plugin_); }
  bool loaded() const { return loaded_.load(std::memory_order_relaxed); }
  const char* name() const { return functions_.name; }  // null: nothing was loaded
  int version() const { return plugin_.version; }
  const Release& release() const { return *release_; }

  /** One communicator begins. What becomes of it when the plugin says no depends on the release. */
  void Init(void** context, const CommInfo& comm);
  void Finalize(void* context);

  /** Since 2.29 a broadcast becomes an AllGatherV, of which only the call is told; not if NCCL_ALLGATHERV_ENABLE=0. */
  bool HidesBroadcasts() const { return hidesBroadcasts_; }

  /** A plugin may change the mask from any thread at any time. Bits the release has no events for do nothing. */
  int SampleMask() const {
    const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED) & release_->types;
    // Phases are parts of kernels.
    return (mask & masks::kForKernelPhase) == 0 ? mask : mask | masks::kForKernelCh;
  }

  /** Which calls nobody wanted follow the others. */
  void SetAbuse(unsigned abuses) { abuses_ = abuses; }

  // Calls that an adapter swallows are not counted.
  void Start(void* context, void** handle, const Event& event, CallCounts& counts) {
    StartOnly(context, handle, event, counts);
    if (abuses_ != 0) counts.abuser.Remember(context, *handle, *event.fields);
  }
  void Stop(void* handle, CallCounts& counts) {
    StopOnly(handle, counts);
    if (abuses_ != 0) counts.abuser.Strike(abuses_, handle, *this, counts);
  }
  // Without abuse.
  void StartOnly(void* context, void** handle, const Event& event, CallCounts& counts) {
    if (sender_->start(plugin_.table, context, handle, event)) counts.AddStart(event->type);
  }
  void StopOnly(void* handle, CallCounts& counts) {
    counts.AddStop();
    functions_.stopEvent(handle);
  }
  /** Without `values` the plugin gets NULL, unless an adapter is in between. */
  void State(void* handle, nccl_abi::EventState state, const StateValues* values, CallCounts& counts) {
    if (sender_->state(plugin_.table, handle, state, values)) counts.AddState(state);
  }

 private:
  LoadedPlugin plugin_;
  PluginFunctions functions_{};
  const Release* release_ = nullptr;
  const Sender* sender_ = nullptr;
  std::atomic<bool> loaded_{false};
  bool hidesBroadcasts_ = false;
  unsigned abuses_ = 0;
  int mask_ = 0;  // every init gets this address, and the last one to write it wins
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PROFILER_H_
