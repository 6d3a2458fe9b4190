// The bytes of the rank file in this process: header, directory, areas. They are the mapped file itself, or memory that
// is copied into the file from time to time.

#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "plugin/record/file_layout.h"

namespace nccl_trace {

struct Image {
  uint8_t* base;  // null: none
  uint64_t bytes;
  rank_file::Placement placement;

  rank_file::FileHeader& header() const { return *reinterpret_cast<rank_file::FileHeader*>(base); }
  rank_file::Slot* slots(const rank_file::AreaEntry& area) const {
    return reinterpret_cast<rank_file::Slot*>(base + area.slots_offset);
  }
  rank_file::Fold* folds(const rank_file::AreaEntry& area) const {
    return area.fold_capacity == 0 ? nullptr : reinterpret_cast<rank_file::Fold*>(base + area.folds_offset);
  }
  rank_file::AreaLive* live(const rank_file::AreaEntry& area) const {
    return reinterpret_cast<rank_file::AreaLive*>(base + area.live_offset);
  }
};

/** Touches every page for writing, so that no callback meets a first-time fault. */
inline void PreFault(void* memory, uint64_t bytes) {
  // Adds 0 atomically, because the other side may already be recording.
  for (uint64_t at = 0; at < bytes; at += 4096) {
    __atomic_fetch_or(static_cast<uint8_t*>(memory) + at, 0, __ATOMIC_RELAXED);
  }
}

/**
 * Zeroed memory with all pages present, or null. It is mapped as shared, because after a fork the first store to each
 * private page would be a fault in a callback of the parent.
 */
inline void* MapAnonymous(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  PreFault(memory, bytes);
  return memory;
}

inline Image AnonymousImage(uint64_t bytes) {
  return {static_cast<uint8_t*>(MapAnonymous(bytes)), bytes, rank_file::kInMemory};
}

}  // namespace nccl_trace
