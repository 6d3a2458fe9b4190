#include "addon/slots.h"

#include <algorithm>

namespace addon {
namespace {

using rank_file::Slot;

bool IsZero(const Slot& slot) { return (slot.words[0] | slot.words[1] | slot.words[2] | slot.words[3]) == 0; }

/** Kind, part and parts that a slot of a record can have. */
bool IsPart(uint64_t word3) { return (word3 & 0xFF) != 0 && ((word3 >> 8) & 15) < ((word3 >> 12) & 15); }

uint32_t StoredPosition(uint64_t word3) { return static_cast<uint32_t>(word3 >> 16) & 0xFFFFFF; }

/** True if the slot's check fits `position`. */
bool Proves(const Slot& slot, uint64_t position) {
  const uint64_t meta = (slot.words[3] & 0xFFFF) | position << 16;
  return rank_file::SlotCheck(slot.words[0], slot.words[1], slot.words[2], meta) == slot.words[3] >> 40;
}

/** The position nearest to `head` with these 24 low bits. Not valid below 0 and from 2^48 on. */
int64_t Nearest(uint32_t stored, uint64_t head) {
  const auto distance = static_cast<int32_t>((stored - static_cast<uint32_t>(head)) << 8) >> 8;
  return static_cast<int64_t>(head) + distance;
}

/** The number for a slot: `position` if its check fits, else empty or torn. */
double Judge(const Slot& slot, bool proves, double position, uint32_t& torn) {
  if (proves) return position;
  if (IsZero(slot)) return kEmptySlot;
  ++torn;
  return kTornSlot;
}

}  // namespace

uint32_t CheckRing(const Slot* slots, size_t count, uint32_t capacity, uint64_t head, double* position) {
  uint32_t torn = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word3 = slots[i].words[3];
    const uint32_t stored = StoredPosition(word3);
    const int64_t at = Nearest(stored, head);
    const bool proves = IsPart(word3) && (stored & (capacity - 1)) == i && at >= 0 &&
                        at <= static_cast<int64_t>(rank_file::kPositionMask) &&
                        Proves(slots[i], static_cast<uint64_t>(at));
    position[i] = Judge(slots[i], proves, static_cast<double>(at), torn);
  }
  return torn;
}

uint32_t CheckChunk(const Slot* slots, size_t count, uint64_t first, double* position) {
  uint32_t torn = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t at = first + i;
    const uint64_t word3 = slots[i].words[3];
    const bool proves = IsPart(word3) && StoredPosition(word3) == (at & 0xFFFFFF) && Proves(slots[i], at);
    position[i] = Judge(slots[i], proves, static_cast<double>(at), torn);
  }
  return torn;
}

void SlotsOfPlanes(const uint8_t* planes, size_t count, Slot* slots) {
  // Slots at a time. They and their part of the planes stay in a cache.
  constexpr size_t kBlock = 64;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, count);
    for (size_t word = 0; word < 4; ++word) {
      const uint8_t* plane = planes + 8 * word * count;
      for (size_t i = begin; i < end; ++i) {
        uint64_t value = 0;
        for (size_t byte = 0; byte < 8; ++byte) value |= uint64_t{plane[byte * count + i]} << 8 * byte;
        slots[i].words[word] = value;
      }
    }
  }
}

void DressSlots(Slot* slots, size_t count, uint64_t first) {
  uint64_t last_tick = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t(&words)[4] = slots[i].words;
    const uint64_t named = words[3] & 0xFFFF;
    if ((named >> 8 & 15) == 0) last_tick = words[0] += last_tick;
    const uint64_t meta = named | ((first + i) & rank_file::kPositionMask) << 16;
    words[3] ^= rank_file::SlotWord3(words[0], words[1], words[2], meta) & ~uint64_t{0xFFFF};
  }
}

std::vector<Stretch> FindStretches(const double* position, size_t count) {
  std::vector<Stretch> found;
  for (size_t i = 0; i < count;) {
    size_t end = i + 1;
    if (position[i] >= 0) {
      while (end < count && position[end] == position[end - 1] + 1) ++end;
      found.push_back({position[i], i, end - i});
    }
    i = end;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Stretch& a, const Stretch& b) { return a.position < b.position; });
  return found;
}

}  // namespace addon
