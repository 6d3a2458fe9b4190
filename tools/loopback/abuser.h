// Makes the calls of abuse.h: one kind after each real stop, in turn. Each thread has one of its own.

#pragma once

#include <array>
#include <cstdint>

#include "loopback/abuse.h"
#include "loopback/event.h"

namespace loopback {

class CallCounts;
class Profiler;

class Abuser {
 public:
  /** Remembers the arguments of a real start. The newest are used for the wrong calls. */
  void Remember(void* context, void* handle, const EventFields& fields);
  /** Call it after a real stop. */
  void Strike(void* stopped, Profiler& profiler, CallCounts& counts);

 private:
  static constexpr int kOld = 64;  // events between a stop and its repetition

  void Strike(Abuse abuse, void* stopped, Profiler& profiler, CallCounts& counts);
  void Start(void* context, const EventFields& fields, Profiler& profiler, CallCounts& counts);

  int turn_ = 0;
  bool known_ = false;
  void* context_ = nullptr;
  EventFields fields_{};
  std::array<void*, kOld> old_{};
  uint64_t stops_ = 0;
};

}  // namespace loopback
