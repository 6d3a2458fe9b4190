// Records which thread wrote which positions of which ring: one entry when a thread takes a ring, completed when it
// releases it. Kept outside the rings, so that it outlives the records it explains. Called from any thread, without
// locks.

#pragma once

#include <stdint.h>

#include <atomic>

#include "plugin/record/file_layout.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

class Leases {
 public:
  static constexpr uint64_t kNone = ~uint64_t{0};

  /** `lost` counts the leases that found every entry held by a living thread. */
  void Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots, uint64_t* lost);

  /** The lease's number, or kNone. Asks the kernel for the calling thread's id and name. */
  uint64_t Begin(const Ring& ring, uint64_t tick);
  void End(uint64_t lease, const Ring& ring, uint64_t tick);

 private:
  rank_file::Slot* slots_;
  rank_file::AreaLive* live_;
  uint64_t* lost_;
  uint64_t entries_;
  std::atomic<uint64_t> next_;
  // Claimed by compare-and-swap; a number whose entry is still held is skipped, so a thread that lives for weeks keeps
  // its lease however many others come and go.
  std::atomic<bool> held_[kMaxLeases];
};

}  // namespace nccl_trace
