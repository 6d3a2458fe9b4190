// Counts events, so that readers can join the two ends of a transfer, or all ranks of a collective, without counting
// records that may be lost. Counting continues while events are muted.
//
// A record without a valid count is flagged (kOrdinalNotAbsolute) and counted in ordinals_lost. It joins nothing, which
// is better than a wrong join.

#pragma once

#include <stdint.h>

#include <atomic>

#include "format/rank_file.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

struct Ordinal {
  uint32_t value;
  uint16_t flags;  // 0 or kOrdinalNotAbsolute
};

constexpr Ordinal kNoOrdinal = {0, rank_file::kOrdinalNotAbsolute};

/** P2ps of one communicator per (direction, peer). Any of its threads may count. */
class PeerOrdinals {
 public:
  /** Allocates, at communicator init. If there is no memory, or the size is wrong, all its ordinals are lost. */
  void Reset(int peers);

  Ordinal Next(int32_t peer, bool is_receive) {
    std::atomic<uint32_t>* counts = counts_.load(std::memory_order_relaxed);
    if (Unlikely(static_cast<uint32_t>(peer) >= peers_.load(std::memory_order_relaxed))) return kNoOrdinal;
    return {counts[static_cast<uint32_t>(peer) * 2 + is_receive].fetch_add(1, std::memory_order_relaxed), 0};
  }

 private:
  // Set before the communicator is used: NCCL orders init before its other callbacks. The array is reused but never
  // freed, because a late callback of the last owner may still be counting in it.
  std::atomic<std::atomic<uint32_t>*> counts_;
  std::atomic<uint32_t> peers_;
  uint32_t capacity_;
};

/**
 * Collectives of one communicator per (function, seqNumber): 0 unless a captured graph replays them, because
 * replays do not advance NCCL's sequence.
 *
 * Direct-mapped: one row per function, one column per seqNumber modulo 64. A newer sequence evicts an older one. All
 * ranks of a communicator see the same starts in the same order, and the function's name chooses the row, so all ranks
 * lose the same ones.
 */
class ReplayOrdinals {
 public:
  void Reset();

  /** `function_row`: FunctionRow(name), the same in every process. */
  Ordinal Next(uint32_t function_row, uint64_t sequence) {
    std::atomic<uint64_t>& cell = cells_[function_row & (kRows - 1)][sequence & (kColumns - 1)];
    Ordinal ordinal = {0, 0};
    // Load and store: one locked operation would cost more than the rest of the record. If two threads start collectives
    // of one communicator at the same instant (a replay's callback and a launch), their order differs between ranks
    // anyway. No word is ever torn.
    cell.store(After(cell.load(std::memory_order_relaxed), function_row, static_cast<uint32_t>(sequence), ordinal),
               std::memory_order_relaxed);
    return ordinal;
  }

 private:
  static constexpr uint32_t kRows = 16;
  static constexpr uint32_t kColumns = 64;
  // A cell:  sequence/64:26  function/16:4  lost:1  used:1  count:32. The cell's place has the other bits of both.
  static constexpr uint64_t kMaxCount = (uint64_t{1} << 32) - 1;
  static constexpr uint64_t kUsed = uint64_t{1} << 32;
  static constexpr uint64_t kLost = uint64_t{1} << 33;
  static constexpr int kFunctionShift = 34;
  static constexpr int kSequenceShift = 38;

  static uint64_t After(uint64_t cell, uint32_t function_row, uint32_t sequence, Ordinal& ordinal) {
    const uint64_t key = uint64_t{sequence / kColumns} << kSequenceShift | uint64_t{(function_row & 0xFF) / kRows}
                                                                               << kFunctionShift;
    if ((cell & kUsed) == 0) return key | kUsed | 1;
    if (cell >> kFunctionShift == key >> kFunctionShift) {
      if (Unlikely((cell & kLost) != 0)) {
        ordinal = kNoOrdinal;
        return cell;
      }
      ordinal.value = static_cast<uint32_t>(cell);
      // After 2^32 - 1 comes 0 (schemas/rank-file.md), on all ranks alike.
      return Unlikely(ordinal.value == kMaxCount) ? cell & ~kMaxCount : cell + 1;
    }
    // Another sequence or function in this cell. A newer sequence was never seen before. An older one may have been evicted.
    const bool same_function = ((cell ^ key) >> kFunctionShift & (0xFF / kRows)) == 0;
    // The sequence is in the highest bits and wraps around. Numbers of one column have the same lowest bits.
    const bool newer = static_cast<int64_t>(key - cell) > 0;
    if (same_function && newer) return key | kUsed | 1;
    ordinal = kNoOrdinal;
    return key | kUsed | kLost;
  }

  std::atomic<uint64_t> cells_[kRows][kColumns];
};

/** The row of a function's name, the same on every rank. Each of NCCL's own names has a row of its own (a test). */
constexpr uint8_t FunctionRow(const char* name) {
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; name[i] != '\0' && i < rank_file::kMaxStringBytes; ++i) {
    hash = (hash ^ static_cast<uint8_t>(name[i])) * 16777619u;
  }
  return static_cast<uint8_t>(hash >> 22);
}

}  // namespace nccl_trace
