// The last started step of each operation, and its handle. NCCL starts the same receive step again at each poll while
// registered buffers wait for their kernel, and expects the same handle until the stop.
//
// One entry per operation is enough, because the repeats of a step follow each other within its operation. Private to
// one producer; not in the file (the *count* of repeats is, see folds.h).

#pragma once

#include <stdint.h>

namespace nccl_trace {

class LastStarts {
 public:
  struct Entry {
    uint64_t parent;  // 0: empty
    uint64_t handle;  // 0: that step has been stopped
    uint64_t step;
    uint64_t reserved;
  };
  static_assert(sizeof(Entry) == 32, "two to a cache line");

  /** The operation's entry, new or old. If the set is full, one is evicted, which costs a duplicate record. */
  Entry& Of(uint64_t parent) {
    if (Entry* entry = Find(parent)) return *entry;
    const uint64_t hash = parent * kMultiplier;
    Entry* set = &entries_[hash >> 58 << 2];
    Entry* empty = &set[hash >> 40 & (kWays - 1)];
    for (uint64_t way = kWays; way-- > 0;) {
      if (set[way].parent == 0) empty = &set[way];
    }
    *empty = {parent, 0, 0, 0};
    return *empty;
  }

  /** Null: the operation has no entry. */
  Entry* Find(uint64_t parent) {
    Entry* set = &entries_[parent * kMultiplier >> 58 << 2];
#pragma GCC unroll 4
    for (uint64_t way = 0; way < kWays; ++way) {
      if (set[way].parent == parent) return &set[way];
    }
    return nullptr;
  }

  void StepStopped(uint64_t parent, uint64_t handle) {
    Entry* entry = Find(parent);
    if (entry != nullptr && entry->handle == handle) entry->handle = 0;
  }

  void OperationStopped(uint64_t parent) {
    Entry* entry = Find(parent);
    if (entry != nullptr) entry->parent = 0;
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  static constexpr uint64_t kWays = 4;

  Entry entries_[256];
};

}  // namespace nccl_trace
