#include "plugin/record/folds.h"

namespace nccl_trace {

using rank_file::Fold;

void EndRun(Ring& ring, Fold& entry, uint64_t tick) {
  const uint64_t control = Load(entry.control);
  const uint32_t in_control = control >> 32 & 0xFFFF;
  const uint32_t state = in_control == rank_file::kFoldStateStart ? rank_file::kFoldOfStart : in_control;
  const uint64_t position = Prepare(ring, 2);
  Put(ring, rank_file::kFold, position, 0, 2, tick, Load(entry.handle), state);
  Put(ring, rank_file::kFold, position, 1, 2, Load(entry.last_tick), control & kMaxFoldCount, 0);
  Commit(ring, position, 2);
  // After the record, so that a process killed in between leaves the run twice, not lost.
  Store(entry.control, control & ~kMaxFoldCount);
}

namespace {

/** Takes an empty entry, else one with count 0, else one chosen by some bits of the key. */
Fold* ChooseFold(const Ring& ring, uint16_t key) {
  Fold* idle = nullptr;
  for (uint32_t choice = 0; choice < kFoldSets; ++choice) {
    Fold* set = FoldSet(ring, key, choice);
    for (uint32_t way = 0; way < kFoldWays; ++way) {
      if (Load(set[way].handle) == 0) return &set[way];
      if (idle == nullptr && (Load(set[way].control) & kMaxFoldCount) == 0) idle = &set[way];
    }
  }
  return idle != nullptr ? idle : &FoldSet(ring, key, key & 1)[key >> 14];
}

}  // namespace

Fold& TakeFold(Ring& ring, uint64_t handle, uint16_t key, uint32_t state, uint64_t count, uint64_t value,
               uint64_t tick) {
  Fold* entry = ChooseFold(ring, key);
  if (Load(entry->handle) != 0 && (Load(entry->control) & kMaxFoldCount) != 0) EndRun(ring, *entry, tick);
  Store(entry->handle, uint64_t{0});
  FillFold(*entry, handle, FoldControl(state, key) | count, value, tick);
  return *entry;
}

void FoldKnownRepeat(Ring& ring, uint64_t handle, uint32_t state, uint64_t tick) {
  const uint16_t key = rank_file::FoldKey(handle);
  Fold* entry = FindFold(ring, handle, key);
  if (entry == nullptr) {
    TakeFold(ring, handle, key, state, 1, rank_file::kNoValue, tick);
    Count(ring, ring.live->folded);
    return;
  }
  if ((Load(entry->control) & ~kMaxFoldCount) != FoldControl(state, key)) {
    if ((Load(entry->control) & kMaxFoldCount) != 0) EndRun(ring, *entry, tick);
    Store(entry->control, FoldControl(state, key));
    Store(entry->aux, rank_file::kNoValue);
  }
  CountRepeat(ring, *entry, tick);
}

}  // namespace nccl_trace
