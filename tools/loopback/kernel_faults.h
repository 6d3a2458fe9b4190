// Faults between kernels and their watcher: the GPU writes marks into rings of 64 per channel, without a fence, and NCCL
// reads them when its polling comes to them.

#pragma once

#include <string>

namespace loopback {

struct KernelFaults {
  /** Every n-th kernel of a channel is seen to end before it is seen to start. Not in 2.31. 0: none. */
  int missedStarts = 0;
  /** Works per channel that the GPU counts and NCCL does not: marks are then of earlier works. */
  int lag = 0;
  /** Every n-th mark shows its counter before its time, which is then 0 or that of 64 works ago. 0: none. */
  int torn = 0;
  /** Marks are read only when all kernels of the iteration have ended. Beyond 64, marks are overwritten. */
  bool late = false;
  /** The iteration in which channel 0 leaves no mark of its end. Negative: none. */
  int lostAt = -1;
};

/** "missed-start:3,lag:1,torn:2,late,lost:4", or some of it. Throws UsageError. */
KernelFaults ParseKernelFaults(const std::string& text);

}  // namespace loopback
