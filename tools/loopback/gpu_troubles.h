// Faults of a GPU: it is slow before each kernel or slice, it freezes, or a kernel never begins.

#pragma once

#include <cstdint>

#include "loopback/clock.h"
#include "loopback/options.h"

namespace loopback {

/** Used by the GPU thread only. */
class GpuTroubles {
 public:
  explicit GpuTroubles(const Options& options) : options_(options) {}

  /** When a kernel may begin. Call it once per kernel, when all kernels before it in the stream have ended. */
  int64_t BeginsAt(int iteration) const {
    return MonotonicNs() + DelayOf(options_.slowdowns, Slow::kGpu, options_.rank, iteration);
  }

  bool NeverBegins(int iteration) const { return Find(FaultKind::kGpuStart, iteration) != nullptr; }

  /** True after as many slices as the fault says. The GPU then does nothing more. */
  bool IsFrozen() const { return isFrozen_; }
  void Advanced(int iteration) {
    const int64_t longer = DelayOf(options_.slowdowns, Slow::kSlice, options_.rank, iteration);
    if (longer > 0) SleepNs(longer);
    const Fault* const fault = Find(FaultKind::kGpu, iteration);
    if (fault != nullptr && ++slices_ >= (fault->steps == 0 ? 2 : fault->steps)) isFrozen_ = true;
  }

 private:
  const Fault* Find(FaultKind kind, int iteration) const {
    for (const Fault& fault : options_.faults) {
      if (fault.kind == kind && fault.at == iteration && fault.Concerns(options_.rank)) return &fault;
    }
    return nullptr;
  }

  const Options& options_;
  int64_t slices_ = 0;
  bool isFrozen_ = false;
};

}  // namespace loopback
