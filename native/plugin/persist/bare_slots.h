// Prepares slots for compression (codecs ZstdBare and ZstdPlanes of the rank file): leaves out what a reader can compute.
// The check in word 3 does not compress, and positions and ticks are stored as differences.

#pragma once

#include "plugin/record/ring.h"

namespace nccl_trace {

/**
 * In place. All slots can be restored, also empty and torn ones. `last_tick`: 0 at the beginning of a chunk, then the
 * last tick of the slots before.
 */
inline void MakeBare(rank_file::Slot* slots, uint32_t count, uint64_t first_position, uint64_t& last_tick) {
  for (uint32_t i = 0; i < count; ++i) {
    rank_file::Slot& slot = slots[i];
    slot.words[3] ^= ExpectedWord3(slot, first_position + i) & ~uint64_t{0xFFFF};
    if (SlotPart(slot) != 0) continue;
    const uint64_t tick = slot.words[0];
    slot.words[0] = tick - last_tick;
    last_tick = tick;
  }
}

}  // namespace nccl_trace
