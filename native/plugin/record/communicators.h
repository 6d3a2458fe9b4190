// The communicators of this process: their table in the file, and the counters that belong to them.
//
// Open and Close run in NCCL's init and finalize, which many threads may call at once. The recorder's mutex orders them.
// Find is for callbacks and takes no lock.

#pragma once

#include <stdint.h>

#include <atomic>

#include "plugin/record/file_layout.h"
#include "plugin/record/ordinals.h"

namespace nccl_trace {

/** The arguments of init. */
struct CommunicatorInfo {
  uint64_t id;
  const char* name;  // valid during init only; may be null
  int32_t rank;
  int32_t ranks;  // 0: not known (before v4)
  int32_t nodes;
  uint8_t abi;
};

struct Communicator {
  std::atomic<uint32_t> number;
  std::atomic<bool> live;
  std::atomic<bool> without_info;  // true before v4: init has no id, name and rank
  PeerOrdinals peers;
  ReplayOrdinals replays;
};

class Communicators {
 public:
  void Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots);

  /** Returns the new number. kCommNone if live communicators fill the table; the communicator still counts as live. */
  uint32_t Open(const CommunicatorInfo& info, uint64_t tick);
  /** Describes a communicator that init did not describe. Any callback may call it. The first call counts. */
  void Introduce(uint32_t number, uint64_t id, const char* name, int32_t rank);
  /** `number` kCommNone: one without an entry. False: there is no such live communicator (finalized before, or garbage). */
  bool Close(uint32_t number, uint64_t tick);

  uint32_t live_count() const { return live_count_; }
  /** Number of ended communicators, wraps around. For any thread (partner: the release in Close). */
  uint32_t ended_count() const { return ended_count_.load(std::memory_order_acquire); }

  /** Null if no communicator has `number`, or its entry was reused. */
  Communicator* Find(uint32_t number) {
    Communicator& entry = entries_[number & mask_];
    return entry.number.load(std::memory_order_relaxed) == number && number < next_.load(std::memory_order_relaxed)
               ? &entry
               : nullptr;
  }
  bool HasEnded(uint32_t number) {
    const Communicator* entry = Find(number);
    return entry == nullptr || !entry->live.load(std::memory_order_relaxed);
  }

 private:
  rank_file::Slot* EntryOf(uint32_t number);
  void WriteEntry(uint32_t number, const CommunicatorInfo& info, uint64_t tick);

  rank_file::Slot* slots_;
  rank_file::AreaLive* live_;
  uint32_t mask_;  // entries - 1
  uint32_t live_count_;
  uint32_t unlisted_count_;     // of these, without an entry
  std::atomic<uint32_t> next_;  // number
  std::atomic<uint32_t> ended_count_;
  Communicator entries_[kMaxCommunicators];
};

}  // namespace nccl_trace
