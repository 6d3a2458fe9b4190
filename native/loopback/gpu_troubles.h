// What keeps a GPU from its kernels: something slow that runs before each of them, or that it stands still.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_GPU_TROUBLES_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_GPU_TROUBLES_H_

#include <cstdint>

#include "loopback/clock.h"
#include "loopback/options.h"

namespace loopback {

/** The GPU thread's own. */
class GpuTroubles {
 public:
  explicit GpuTroubles(const Options& options) : options_(options) {}

  /** Asked of a kernel for the first time when all before it in the stream have ended: when it may begin. */
  int64_t BeginsAt(int iteration) const {
    return MonotonicNs() + DelayOf(options_.slowdowns, Slow::kGpu, options_.rank, iteration);
  }

  bool NeverBegins(int iteration) const { return Find(FaultKind::kGpuStart, iteration) != nullptr; }

  /** After so many slices of an iteration's kernels the GPU stands, whatever it has to do. */
  bool StandsStill() const { return standsStill_; }
  void Advanced(int iteration) {
    const int64_t longer = DelayOf(options_.slowdowns, Slow::kSlice, options_.rank, iteration);
    if (longer > 0) SleepNs(longer);
    const Fault* const fault = Find(FaultKind::kGpu, iteration);
    if (fault != nullptr && ++slices_ >= (fault->steps == 0 ? 2 : fault->steps)) standsStill_ = true;
  }

 private:
  const Fault* Find(FaultKind kind, int iteration) const {
    for (const Fault& fault : options_.faults.list) {
      if (fault.kind == kind && fault.at == iteration && fault.Concerns(options_.rank)) return &fault;
    }
    return nullptr;
  }

  const Options& options_;
  int64_t slices_ = 0;
  bool standsStill_ = false;
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_GPU_TROUBLES_H_
