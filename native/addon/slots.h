// Which slots of a ring or chunk are valid, and at which position: the C++ twin of src/rankfile/slots.ts, which explains the
// rule. Both give the same numbers, bit for bit, which a test checks.

#ifndef NCCL_TRACE_NATIVE_ADDON_SLOTS_H_
#define NCCL_TRACE_NATIVE_ADDON_SLOTS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "format/rank_file.h"

namespace addon {

// In place of a position.
constexpr double kEmptySlot = -1;
constexpr double kTornSlot = -2;

/**
 * `count` slots of a ring of `capacity` slots (a power of two, at least `count`) whose head is `head`. One number per slot
 * into `position`; returns how many are torn.
 */
uint32_t CheckRing(const rank_file::Slot* slots, size_t count, uint32_t capacity, uint64_t head, double* position);

/** The slots of a chunk: of consecutive positions, from `first` on. */
uint32_t CheckChunk(const rank_file::Slot* slots, size_t count, uint64_t first, double* position);

/** `planes` has byte 0 of all slots, then byte 1 of all, up to byte 31 (codec ZstdPlanes). Returns bare slots. */
void SlotsOfPlanes(const uint8_t* planes, size_t count, rank_file::Slot* slots);

/** Completes bare slots in place. `first`: position of the first one. */
void DressSlots(rank_file::Slot* slots, size_t count, uint64_t first);

/** Consecutive positions at consecutive indices. */
struct Stretch {
  double position;
  size_t index;
  size_t length;
};

/** All valid slots in order of position: a wrapped ring gives two, a live copy or torn slots some more. */
std::vector<Stretch> FindStretches(const double* position, size_t count);

}  // namespace addon

#endif  // NCCL_TRACE_NATIVE_ADDON_SLOTS_H_
