// The plugin inside NCCL: one table, one activation mask for the whole process, and calls whose results are ignored.
// host_events.h and proxy_events.h decide which events to make, by the rules of release.h. sender.h converts them for a
// version.
//
// Each thread counts its calls. A recording is compared with these counts.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loopback/abuser.h"
#include "loopback/plugin_loader.h"
#include "loopback/release.h"
#include "loopback/sender.h"

namespace loopback {

constexpr int kEventTypes = 17;   // by bit. The last one is an unknown type
constexpr int kEventStates = 33;  // likewise

/** Calls of one thread to the plugin. Only that thread writes, others may read at any time. */
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
  // There is one writer, so a load and a store are enough and cost less than an atomic addition.
  static void Increment(Counter& c) { c.store(c.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::array<Counter, kEventTypes> starts_{};
  std::array<Counter, kEventStates> states_{};
  Counter stops_{0};
};

class Profiler {
 public:
  /**
   * Loads the plugin as an NCCL that knows the versions up to `abi`. Ignores the plugin's tables above `pluginAbi`. 0: loads
   * no plugin.
   */
  void Load(int abi, int pluginAbi);
  void Unload() { UnloadPlugin(plugin_); }
  bool loaded() const { return loaded_.load(std::memory_order_relaxed); }
  const char* name() const { return functions_.name; }  // null: nothing was loaded
  int version() const { return plugin_.version; }
  const Release& release() const { return *release_; }

  /** A communicator begins. If the plugin's init fails, the release decides what happens. */
  void Init(void** context, const CommInfo& comm);
  void Finalize(void* context);

  /** Since 2.29 a broadcast is an AllGatherV, which reports only the call, unless NCCL_ALLGATHERV_ENABLE is 0. */
  bool HidesBroadcasts() const { return hidesBroadcasts_; }

  /** A plugin may change the mask from any thread at any time. Bits without events in this release have no effect. */
  int SampleMask() const {
    const int mask = __atomic_load_n(&mask_, __ATOMIC_RELAXED) & release_->types;
    // Phases are parts of kernels.
    return (mask & masks::kForKernelPhase) == 0 ? mask : mask | masks::kForKernelCh;
  }

  /** Which wrong calls to make after real ones. */
  void SetAbuse(bool abuse) { abuse_ = abuse; }

  // Calls that an adapter drops are not counted.
  void Start(void* context, void** handle, const Event& event, CallCounts& counts) {
    StartOnly(context, handle, event, counts);
    if (abuse_) counts.abuser.Remember(context, *handle, *event.fields);
  }
  void Stop(void* handle, CallCounts& counts) {
    StopOnly(handle, counts);
    if (abuse_) counts.abuser.Strike(handle, *this, counts);
  }
  // Without abuse.
  void StartOnly(void* context, void** handle, const Event& event, CallCounts& counts) {
    if (sender_->start(plugin_.table, context, handle, event)) counts.AddStart(event->type);
  }
  void StopOnly(void* handle, CallCounts& counts) {
    counts.AddStop();
    functions_.stopEvent(handle);
  }
  /** Null `values`: the plugin gets NULL, unless there is an adapter. */
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
  bool abuse_ = false;
  // In NCCL's own memory. Every init gets its address, and the last write counts.
  inline static int mask_ = 0;
};

}  // namespace loopback
