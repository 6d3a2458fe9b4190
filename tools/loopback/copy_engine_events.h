// The events of a collective by copy engines, since NCCL 2.29. They cover the calls that put it into its stream. When it
// runs is not reported.
//
//   CeColl ─┬─ CeSync   all may begin
//           ├─ CeBatch  the copies
//           └─ CeSync   all are done

#pragma once

#include "loopback/profiler.h"
#include "loopback/task.h"

namespace loopback {

class CopyEngineEvents {
 public:
  CopyEngineEvents(Profiler* profiler, uint64_t userTag) : profiler_(profiler), userTag_(userTag) {}

  /** Afterwards CeColl is open and its parts are stopped. */
  void Start(Task& task, CallCounts& counts);
  void Stop(CallCounts& counts);

 private:
  void Sync(const Task& task, bool isComplete, int mask, CallCounts& counts);
  void Batch(const Task& task, int mask, CallCounts& counts);
  void StartAndStop(const Task& task, const Event& event, CallCounts& counts);

  Profiler* const profiler_;
  const uint64_t userTag_;
  void* collHandle_ = nullptr;
};

}  // namespace loopback
