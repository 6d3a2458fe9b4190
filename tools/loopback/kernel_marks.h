// Reads a kernel's mark.

#pragma once

#include "loopback/comm.h"

namespace loopback {

/** The time of the mark, if it is there. As in NCCL, a mark of a later work in the same place counts, too. */
inline bool ReadMark(const KernelMarks& marks, uint64_t workCounter, uint64_t* timestamp) {
  const KernelMark& mark = marks[workCounter % kMaxProfilerMarks];
  if (mark.counter.load(std::memory_order_acquire) < workCounter) return false;
  *timestamp = mark.timestamp.load(std::memory_order_relaxed);
  return true;
}

}  // namespace loopback
