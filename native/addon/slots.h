// Which slots of a ring or chunk are committed, and at which position: the C++ twin of src/reader/slots.ts, where the
// rule is explained. The same numbers come out, bit for bit; the tests of the addon hold the two together.

#ifndef NCCL_TRACE_NATIVE_ADDON_SLOTS_H_
#define NCCL_TRACE_NATIVE_ADDON_SLOTS_H_

#include <stddef.h>
#include <stdint.h>

#include "format/rank_file.h"

namespace addon {

// In place of a position.
constexpr double kEmptySlot = -1;
constexpr double kTornSlot = -2;

struct SlotCounts {
  uint32_t torn = 0;
  // Valid slots that begin a record, and valid slots that continue one.
  uint32_t first_parts = 0;
  uint32_t later_parts = 0;
};

/** `count` slots of an area of `capacity` slots whose head is `head`; one number per slot into `position`. */
SlotCounts CheckRing(const rank_file::Slot* slots, size_t count, uint32_t capacity, uint64_t head, double* position);

}  // namespace addon

#endif  // NCCL_TRACE_NATIVE_ADDON_SLOTS_H_
