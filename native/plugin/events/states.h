// States and stops (events.h). NCCL passes NULL, stops twice, stops on another thread and goes on after a stop. All
// callbacks are recorded unchanged. The reader judges them.

#pragma once

#include "plugin/events/events.h"
#include "plugin/record/folds.h"

namespace nccl_trace {

template <Path path>
[[gnu::always_inline]] inline void AppendState(Ring& ring, uint64_t tick, uint64_t handle, uint32_t state,
                                               uint64_t value) {
  if (!Unlikely(state > 0xFFFF || value > rank_file::kNoValue)) {
    Append<path>(ring, rank_file::kState, tick, handle, state | value << 16);
    return;
  }
  const uint64_t position = Prepare<path>(ring, 2);
  Put(ring, rank_file::kState, position, 0, 2, tick, handle, state);
  Put(ring, rank_file::kState, position, 1, 2, value, 0, 0);
  Commit<path>(ring, position, 2);
}

/** Counts handles that are NULL or muted. */
template <Path path>
[[gnu::always_inline]] inline bool IsCountedOnly(const Producer& producer, uint64_t handle) {
  if (!IsMuted(handle) && !Unlikely(handle == 0)) return false;
  rank_file::AreaLive& live = *producer.rest->live;
  Count<path>(*producer.rest, handle == 0 ? live.null_calls : live.muted);
  return true;
}

/** True if the handle is of a recorded ProxyCtrl. Only then can its states be counted. */
inline bool IsCtrl(const Ring& ring, uint64_t handle) {
  const uint64_t position = rank_file::HandlePosition(handle);
  const rank_file::Slot slot = LoadSlot(ring.slots[position & ring.mask]);
  return ring.Owns(handle) && SlotKind(slot) == rank_file::kStartProxyCtrl && ChecksOut(slot, position);
}

/** `value`: kNoValue if NCCL gave none. */
template <Path path>
[[gnu::always_inline]] inline bool RecordState(Producer& producer, uint64_t handle, uint32_t state, uint64_t value) {
  if (IsCountedOnly<path>(producer, handle)) return true;
  const bool is_edge = Unlikely(state - kFirstEdgeState < kEdgeStates);
  const bool is_lent = Unlikely(handle == producer.ctrl.given);
  if (path == Path::kFast && (is_edge || is_lent)) return false;
  Ring& ring = producer.RingFor(handle);
  const uint64_t tick = Tick<path>();
  if (is_lent && CountEdge(producer.ctrl, ring, handle, state, tick)) return true;
  const Fate fate = FoldState<path>(ring, handle, state, value, tick);
  if (fate != Fate::kRecord) return fate == Fate::kRepeat;
  AppendState<path>(ring, tick, handle, state, value);
  if (is_edge && !producer.shared() && IsCtrl(ring, handle)) producer.ctrl.EdgeRecorded(handle, state, tick);
  return true;
}

/** Reads the step's start from our ring, unless it was overwritten. It names the operation, and so the entry. */
[[gnu::always_inline]] inline void ForgetLastStart(Producer& producer, const Ring& ring, uint64_t handle) {
  if (producer.steps != producer.rest && &ring != producer.steps) {
    producer.last_starts->OperationStopped(handle);
    return;
  }
  const rank_file::Slot& slot = ring.slots[rank_file::HandlePosition(handle) & ring.mask];
  if ((Load(slot.words[3]) & 0xFF) == rank_file::kStartProxyStep) {
    producer.last_starts->StepStopped(Load(slot.words[1]), handle);
  } else {
    producer.last_starts->OperationStopped(handle);
  }
}

template <Path path>
[[gnu::always_inline]] inline bool RecordStop(Producer& producer, uint64_t handle) {
  if (IsCountedOnly<path>(producer, handle)) return true;
  const bool is_lent = Unlikely(handle == producer.ctrl.given);
  if (path == Path::kFast && is_lent) return false;
  Ring& ring = producer.RingFor(handle);
  const uint64_t tick = Tick<path>();
  if (is_lent && StopEdge(producer.ctrl, ring, handle, tick)) return true;
  if (!FoldStop<path>(ring, handle, tick)) return false;
  Append<path>(ring, rank_file::kStop, tick, handle, 0);
  if (path == Path::kFast || producer.last_starts != nullptr) ForgetLastStart(producer, ring, handle);
  return true;
}

}  // namespace nccl_trace
