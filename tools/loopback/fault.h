// Faults on request: --fault KIND:RANK@ITER[:WHEN], which may be repeated.
// How long a dropped link stays so, and what another call is, comes last: drop:RANK@ITER:STEPS/TIME, other:RANK@ITER:SCRIPT.

#pragma once

#include <cstdint>
#include <string>

#include "loopback/script.h"

namespace loopback {

enum class FaultKind {
  // Faults of the process.
  kKill,   // SIGKILL
  kStop,   // SIGSTOP: the process exists and does nothing
  kExit,   // exit(9), without ncclCommDestroy
  kAbort,  // SIGABRT
  kNode,   // its whole node: all its processes at once, and the files in their memory
  // Faults of its GPU or proxy.
  kGpu,       // the GPU stops inside a kernel
  kGpuStart,  // a kernel never begins
  kSend,      // its proxy sends no more
  kRecv,      // its proxy posts no more receives
  kStall,     // its progress thread stops
  kDrop,      // no byte of its sends arrives
  kPost,      // its proxy has room for the operations of one channel, and the call waits for more for ever
  // Faults of what it calls.
  kSkip,     // it never enters the iteration
  kOther,    // it calls something else
  kCorrupt,  // it sends one wrong number
};

enum class FaultMoment {
  kBefore,  // the iteration's first call
  kIn,      // its first operation: after so many steps, or half of them
  kAfter,   // all of it has been waited for
};

struct Fault {
  static constexpr int kAllRanks = -1;

  FaultKind kind;
  int rank;
  int at;  // iteration
  FaultMoment moment = FaultMoment::kIn;
  int64_t steps = 0;    // 0: half of them
  int64_t lastsNs = 0;  // of kDrop. 0: for ever
  Script script = {};   // of kOther

  bool Concerns(int who) const { return rank == who || rank == kAllRanks; }
  /** True if the fault ends or stops the process itself, not its GPU or proxy. */
  bool OfProcess() const { return kind <= FaultKind::kNode; }
  bool OfCalls() const { return kind >= FaultKind::kSkip; }
};

/** "kill:3@2", "stop:all@2:before", "gpu:1@4:20". Throws UsageError. */
Fault ParseFault(const std::string& text);

}  // namespace loopback
