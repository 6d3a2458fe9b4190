// Counts repeats. While a peer does not come, NCCL reports state 20 about a million times a second. Recorded one by one,
// they would erase half an hour of history in half a second.
//
// When a handle enters a state, the state is recorded and an entry remembers it. The same state again, with the same
// value and without another state of that handle in between, only changes the entry's count and last tick. The entry is
// in the file, so repeats that never end (a hang) are visible without a record. When the run ends, its count becomes a
// kFold record, written *before* the record that ended it.
//
//   NCCL says   20      20 20 20 ...        9
//   ring        20                   kFold  9
//   entry       count 0  1  2  3 ...   n -> 0
//
// A hash finds an entry, in one of two sets of four. With fewer places, stuck handles in one set would evict each other
// for ever, and every poll would be recorded. An evicted entry with a count leaves a kFold record, too.
//
// For readers: an entry with count 0 has no meaning. A process killed between writing a kFold record and emptying its
// entry leaves the same run twice, with equal handle, state and last tick.
//
// Owner: the ring's producer, as for its slots. The overflow ring has several producers, so it folds nothing.

#pragma once

#include "plugin/record/ring.h"

namespace nccl_trace {

constexpr uint32_t kFoldWays = 4;
constexpr uint32_t kFoldSets = 2;
constexpr uint64_t kMaxFoldCount = 0xFFFFFFFF;

/** The upper half of Fold::control: the state and part of the handle. */
inline uint64_t FoldControl(uint32_t state, uint16_t key) {
  return uint64_t{state & 0xFFFF} << 32 | uint64_t{key} << 48;
}

/** The first (0) or second (1) set of a key, by different bits of it. */
inline rank_file::Fold* FoldSet(const Ring& ring, uint16_t key, uint32_t choice) {
  return &ring.folds[uint64_t{key} >> 7 * choice & ring.fold_mask & ~uint64_t{kFoldWays - 1}];
}

[[gnu::always_inline]] inline rank_file::Fold* FindFold(const Ring& ring, uint64_t handle, uint16_t key) {
  for (uint32_t choice = 0; choice < kFoldSets; ++choice) {
    rank_file::Fold* set = FoldSet(ring, key, choice);
#pragma GCC unroll 4
    for (uint32_t way = 0; way < kFoldWays; ++way) {
      if (Load(set[way].handle) == handle) return &set[way];
    }
  }
  return nullptr;
}

/** An empty entry in the key's first set, or null. */
[[gnu::always_inline]] inline rank_file::Fold* FindEmptyFold(const Ring& ring, uint16_t key) {
  rank_file::Fold* set = FoldSet(ring, key, 0);
#pragma GCC unroll 4
  for (uint32_t way = 0; way < kFoldWays; ++way) {
    if (Load(set[way].handle) == 0) return &set[way];
  }
  return nullptr;
}

/**
 * Gives an empty entry to `handle`. Each store is a release, so all come after the 0 that emptied it, and the handle is
 * last: a live reader does not give it the count of the handle before. A copy may still mix the two, which the key in
 * `control` shows.
 */
inline void FillFold(rank_file::Fold& entry, uint64_t handle, uint64_t control, uint64_t value, uint64_t tick) {
  __atomic_store_n(&entry.last_tick, tick, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.control, control, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.aux, value, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.handle, handle, __ATOMIC_RELEASE);
}

/** Moves a count into the ring. The entry keeps its handle and state and counts from 0 again. */
void EndRun(Ring& ring, rank_file::Fold& entry, uint64_t tick);

/** Takes an entry for `handle`, which has none: an empty one, else one with count 0, else another handle's. */
rank_file::Fold& TakeFold(Ring& ring, uint64_t handle, uint16_t key, uint32_t state, uint64_t count, uint64_t value,
                          uint64_t tick);

/** False: the count is full, and nothing was done. The slow path handles that. */
template <Path path = Path::kSlow>
[[gnu::always_inline]] inline bool CountRepeat(Ring& ring, rank_file::Fold& entry, uint64_t tick) {
  if (Unlikely((Load(entry.control) & kMaxFoldCount) == kMaxFoldCount)) {
    if constexpr (path == Path::kFast) return false;
    EndRun(ring, entry, tick);
  }
  Store(entry.last_tick, tick);
  Store(entry.control, Load(entry.control) + 1);
  Count<path>(ring, ring.live->folded);
  return true;
}

/** What to do with a callback. kNotFast: nothing was done, take the slow path. The slow path never returns it. */
enum class Fate { kRecord, kRepeat, kNotFast };

/**
 * Decides whether a state is new, or a repeat that is counted.
 * A state that repeats with another value is new.
 */
template <Path path>
[[gnu::always_inline]] inline Fate FoldState(Ring& ring, uint64_t handle, uint32_t state, uint64_t value,
                                             uint64_t tick) {
  if (ring.folds == nullptr || Unlikely(state >= rank_file::kFoldStateStart)) return Fate::kRecord;
  const uint16_t key = rank_file::FoldKey(handle);
  rank_file::Fold* entry = FindFold(ring, handle, key);
  if (entry == nullptr) {
    rank_file::Fold* empty = FindEmptyFold(ring, key);
    if (empty != nullptr) {
      FillFold(*empty, handle, FoldControl(state, key), value, tick);
    } else {
      if constexpr (path == Path::kFast) return Fate::kNotFast;
      TakeFold(ring, handle, key, state, 0, value, tick);
    }
    return Fate::kRecord;
  }
  const uint64_t control = Load(entry->control);
  if ((control & ~kMaxFoldCount) == FoldControl(state, key) && Load(entry->aux) == value) {
    return CountRepeat<path>(ring, *entry, tick) ? Fate::kRepeat : Fate::kNotFast;
  }
  if (Unlikely((control & kMaxFoldCount) != 0)) {
    if constexpr (path == Path::kFast) return Fate::kNotFast;
    EndRun(ring, *entry, tick);
  }
  Store(entry->control, FoldControl(state, key));
  Store(entry->aux, value);
  return Fate::kRecord;
}

/**
 * Counts a repeat that the caller has found: of a start (kFoldStateStart), or of an idle or active edge of the proxy.
 */
void FoldKnownRepeat(Ring& ring, uint64_t handle, uint32_t state, uint64_t tick);

/** The same. False if it is the first of its run; nothing was done then. */
[[gnu::always_inline]] inline bool FoldNextRepeat(Ring& ring, uint64_t handle, uint32_t state, uint64_t tick) {
  const uint16_t key = rank_file::FoldKey(handle);
  rank_file::Fold* entry = FindFold(ring, handle, key);
  if (entry == nullptr) return false;
  if ((Load(entry->control) & ~kMaxFoldCount) != FoldControl(state, key)) return false;
  return CountRepeat<Path::kFast>(ring, *entry, tick);
}

/** The handle was stopped: ends its run and frees its entry. False: nothing was done, the slow path handles it. */
template <Path path = Path::kSlow>
[[gnu::always_inline]] inline bool FoldStop(Ring& ring, uint64_t handle, uint64_t tick) {
  if (ring.folds == nullptr) return true;
  rank_file::Fold* entry = FindFold(ring, handle, rank_file::FoldKey(handle));
  if (entry == nullptr) return true;
  if (Unlikely((Load(entry->control) & kMaxFoldCount) != 0)) {
    if constexpr (path == Path::kFast) return false;
    EndRun(ring, *entry, tick);
  }
  Store(entry->handle, uint64_t{0});
  return true;
}

}  // namespace nccl_trace
