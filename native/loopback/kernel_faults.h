// What goes wrong between kernels and who watches them: the GPU leaves marks in rings of 64 per channel, without a
// fence, and NCCL looks at them when it comes round.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_KERNEL_FAULTS_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_KERNEL_FAULTS_H_

#include <string>

namespace loopback {

struct KernelFaults {
  /** Of each channel's kernels every n-th is seen to end before it was seen to start. Not in 2.31. 0: none. */
  int missedStarts = 0;
  /** Works that the GPU counted on each channel and NCCL did not: from then on marks are those of earlier works. */
  int lag = 0;
  /** Every n-th mark shows its counter before its time, which is then 0 or that of 64 works ago. 0: none. */
  int torn = 0;
  /** Nobody looks until all kernels of the iteration have ended. Beyond 64 of them marks are overwritten. */
  bool late = false;
  /** In this iteration channel 0 leaves no mark of its end; negative: never. */
  int lostAt = -1;
};

/** "missed-start:3,lag:1,torn:2,late,lost:4", or some of it. Throws UsageError. */
KernelFaults ParseKernelFaults(const std::string& text);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_KERNEL_FAULTS_H_
