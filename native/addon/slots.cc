#include "addon/slots.h"

namespace addon {
namespace {

using rank_file::Slot;

bool IsZero(const Slot& slot) { return (slot.words[0] | slot.words[1] | slot.words[2] | slot.words[3]) == 0; }

/** The check of a slot that claims to stand at `position`. */
bool Proves(const Slot& slot, uint64_t position) {
  const uint64_t meta = (slot.words[3] & 0xFFFF) | position << 16;
  return rank_file::SlotCheck(slot.words[0], slot.words[1], slot.words[2], meta) == slot.words[3] >> 40;
}

/** The position nearest to `head` with these 24 low bits; out of range (negative, or 2^48 and more) is no position. */
int64_t Nearest(uint32_t stored, uint64_t head) {
  const auto distance = static_cast<int32_t>((stored - static_cast<uint32_t>(head)) << 8) >> 8;
  return static_cast<int64_t>(head) + distance;
}

}  // namespace

SlotCounts CheckRing(const Slot* slots, size_t count, uint32_t capacity, uint64_t head, double* position) {
  SlotCounts counts;
  for (size_t i = 0; i < count; ++i) {
    const Slot& slot = slots[i];
    const uint64_t word3 = slot.words[3];
    const uint32_t part = (word3 >> 8) & 15;
    const auto stored = static_cast<uint32_t>(word3 >> 16) & 0xFFFFFF;
    const int64_t at = Nearest(stored, head);
    const bool plausible = (word3 & 0xFF) != 0 && part < ((word3 >> 12) & 15) && (stored & (capacity - 1)) == i &&
                           at >= 0 && static_cast<uint64_t>(at) <= rank_file::kPositionMask;
    if (plausible && Proves(slot, static_cast<uint64_t>(at))) {
      position[i] = static_cast<double>(at);
      ++(part == 0 ? counts.first_parts : counts.later_parts);
    } else if (IsZero(slot)) {
      position[i] = kEmptySlot;
    } else {
      position[i] = kTornSlot;
      ++counts.torn;
    }
  }
  return counts;
}

}  // namespace addon
