// NetPlugin events: the network's own events, as NCCL's plugins for InfiniBand and sockets make them in a build with
// NET_PROFILER=1, or as an unknown network plugin may make them. Nothing checks a handle between the network and the
// profiler: while the mask has no NetPlugin, events are still stopped, with any handle that is in the request's memory.
//
//   ib         one event per queue pair from the request on; stopped when that queue pair is done, and all of them once
//              more when the request is
//   socket     one event from the first test after the sizes were exchanged
//   sockets    the same from helper threads. They ask the connection's first request for the parent, for ever: it may
//              be any step's, or none
//   external   an unknown plugin: an id of its own, an update halfway, update and end in one call

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loopback/profiler.h"

namespace loopback {

enum class NetEventKind { kNone, kIb, kSocket, kSocketThreads, kExternal };

struct NetEventOptions {
  NetEventKind kind = NetEventKind::kNone;
  int queuePairs = 1;  // kIb: of each request
};

/** "ib", "ib:4", "socket", "sockets", "external". Throws UsageError. */
void ParseNetEvents(const std::string& text, NetEventOptions& options);

/** A step's handle. The progress thread sets and clears it, a helper thread may read it at any time. */
using StepHandle = std::atomic<void*>;

/** Identifies the parent of a request. */
struct NetParent {
  const StepHandle* step;  // read when an event starts, not before
  void* context;
  int mask;
  int rank;
};

/** The calls of one thread. */
class NetEvents {
 public:
  NetEvents(Profiler* profiler, const NetEventOptions& options) : profiler_(profiler), options_(options) {}

  bool on() const { return options_.kind != NetEventKind::kNone; }
  const NetEventOptions& options() const { return options_; }
  const CallCounts& counts() const { return counts_; }

  /** `data` belongs to the network and is invalid after the call. */
  void Start(void** handle, const NetParent& parent, int64_t id, void* data);
  void Update(void* handle, void* data);
  void Stop(void* handle);

 private:
  Profiler* const profiler_;
  const NetEventOptions& options_;
  CallCounts counts_;
};

/** The events of one request, in the memory of requests: handles are not cleared for the next one. */
class RequestEvents {
 public:
  static constexpr int kMaxQueuePairs = 8;

  /** isend or irecv accepted the request. For a receive `bytes` is not known yet. */
  void Posted(NetEvents& events, const NetParent& parent, bool isSend, int fd, uint64_t slot, size_t bytes);
  /** `moved` of `total` bytes have been transferred. */
  void Moved(NetEvents& events, size_t moved, size_t total);
  void Completed(NetEvents& events);

 private:
  void StartQueuePairs(NetEvents& events, uint64_t slot, size_t bytes);
  void StartSocket(NetEvents& events, size_t bytes);

  NetParent parent_{};
  bool isSend_ = false;
  int fd_ = -1;
  int reported_ = 0;  // queue pairs that are done. For other kinds: 0 not begun, 1 begun, 2 updated
  std::array<void*, kMaxQueuePairs> handles_{};
};

}  // namespace loopback
