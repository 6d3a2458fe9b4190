// Repeats become counts. A peer that does not come makes NCCL report state 20 about a million times a second, which
// would erase half an hour of history in half a second.
//
// The first time a handle enters a state, the state is recorded and an entry remembers it. The same state again, with
// the same value and no other state of that handle between, only moves the entry's count and last tick. The entry is
// in the file itself, so a run of repeats that never ends (a hang) is there without any record.
// When the run ends, its count becomes a kFold record, written *before* the record that ended it.
//
//   NCCL says   20      20 20 20 ...        9
//   ring        20                   kFold  9
//   entry       count 0  1  2  3 ...   n -> 0
//
// Entries are found by hash, in one of two sets of four: with fewer places, stuck handles that meet in one would evict
// each other for ever and record every poll after all. An evicted entry that has counted leaves a kFold record too.
//
// For readers: an entry whose count is 0 says nothing. A process killed between writing a kFold record and emptying its
// entry leaves the same run twice, with equal handle, state and last tick.
//
// Owner: the ring's producer, as for its slots. The overflow ring has several producers, so it folds nothing.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_RECORD_FOLDS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_RECORD_FOLDS_H_

#include "plugin/record/ring.h"

namespace nccl_trace {

constexpr uint32_t kFoldWays = 4;
constexpr uint32_t kFoldSets = 2;
constexpr uint64_t kMaxFoldCount = 0xFFFFFFFF;

/** The upper half of Fold::control: which state of which handle. */
inline uint64_t FoldControl(uint32_t state, uint16_t key) {
  return uint64_t{state & 0xFFFF} << 32 | uint64_t{key} << 48;
}

/** The first (0) or second (1) set in which a key may lie: by different bits of it. */
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

/** In the first set, or null. */
[[gnu::always_inline]] inline rank_file::Fold* FindEmptyFold(const Ring& ring, uint16_t key) {
  rank_file::Fold* set = FoldSet(ring, key, 0);
#pragma GCC unroll 4
  for (uint32_t way = 0; way < kFoldWays; ++way) {
    if (Load(set[way].handle) == 0) return &set[way];
  }
  return nullptr;
}

/**
 * Gives an empty entry to `handle`. Each store with release: so all come after the 0 that emptied it, and the handle
 * last, and a live reader does not give it the count of the one before. (A copy may still mix the two; that is what the
 * key in `control` is for.)
 */
inline void FillFold(rank_file::Fold& entry, uint64_t handle, uint64_t control, uint64_t value, uint64_t tick) {
  __atomic_store_n(&entry.last_tick, tick, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.control, control, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.aux, value, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.handle, handle, __ATOMIC_RELEASE);
}

/** Moves a count into the ring. The entry keeps its handle and state and counts from 0 again. */
void EndRun(Ring& ring, rank_file::Fold& entry, uint64_t tick);

/** An entry for `handle`, which has none: an empty one, else one that counts nothing, else somebody's. */
rank_file::Fold& TakeFold(Ring& ring, uint64_t handle, uint16_t key, uint32_t state, uint64_t count, uint64_t value,
                          uint64_t tick);

/** False: its count is full. The slow path handles that; nothing was done. */
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

/** What becomes of a callback. kNotFast: nothing was done, take the slow path, which never answers that. */
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
 * A repeat known from elsewhere: of a start (state kFoldStateStart), or of one of the proxy's idle and active edges.
 */
void FoldKnownRepeat(Ring& ring, uint64_t handle, uint32_t state, uint64_t tick);

/** The same, unless it is the first of its run. Then false, and nothing was done. */
[[gnu::always_inline]] inline bool FoldNextRepeat(Ring& ring, uint64_t handle, uint32_t state, uint64_t tick) {
  const uint16_t key = rank_file::FoldKey(handle);
  rank_file::Fold* entry = FindFold(ring, handle, key);
  if (entry == nullptr) return false;
  if ((Load(entry->control) & ~kMaxFoldCount) != FoldControl(state, key)) return false;
  return CountRepeat<Path::kFast>(ring, *entry, tick);
}

/** The handle is stopped: its run ends and its entry is free. False: the slow path handles that; nothing was done. */
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

#endif  // NCCL_TRACE_NATIVE_PLUGIN_RECORD_FOLDS_H_
