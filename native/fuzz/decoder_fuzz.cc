// Coverage-guided fuzzing (libFuzzer) of the addon's loops over slots. Bytes become slots of a ring and of a chunk; most of
// them are given a check that holds, because random ones never pass it. What must hold of any bytes:
//
//   - no access outside (AddressSanitizer), no undefined arithmetic (UBSan)
//   - records, and the holes before them, follow each other and do not overlap
//   - segments: records do not depend on where a segment ends
//   - dressing restores bare slots, and slots survive being made planes
//
// node scripts/fuzz.mjs --native builds and runs it. It is no part of `npm test`: that needs clang.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <vector>

#include "addon/records.h"
#include "addon/slots.h"

namespace {

using addon::Carry;
using addon::MinParts;
using addon::Stretch;
using rank_file::Slot;

#define MUST(condition)                                             \
  if (!(condition)) {                                               \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    abort();                                                        \
  }

/** How to use the bytes. The rest of them are slots. */
struct Plan {
  uint64_t head;
  uint64_t tick_base;
  uint8_t capacity_bits;
  uint8_t honest;  // this many of 256 slots get a valid check
  uint8_t cut;     // where a segment ends
  uint8_t lap;
};

/** As src/rankfile/format/layouts.ts has them. */
MinParts TheMinParts() {
  MinParts parts;
  parts.fill(1);
  const struct {
    uint8_t kind, parts;
  } kinds[] = {{0x02, 2}, {0x04, 7}, {0x06, 4}, {0x07, 2}, {0x11, 4}, {0x12, 3}, {0x13, 2},
               {0x16, 2}, {0x17, 3}, {0x19, 2}, {0x1A, 2}, {0x1B, 2}, {0x1C, 4}, {0x1D, 2},
               {0x1E, 2}, {0x1F, 2}, {0x20, 2}, {0x32, 2}, {0x42, 3}};
  for (const auto& one : kinds) parts[one.kind] = one.parts;
  return parts;
}

void Seal(Slot& slot, uint64_t position) {
  const uint64_t meta = (slot.words[3] & 0xFFFF) | (position & rank_file::kPositionMask) << 16;
  slot.words[3] = rank_file::SlotWord3(slot.words[0], slot.words[1], slot.words[2], meta);
}

/** Assembled records, and the columns that they are in: exactly as long as promised. */
struct Records {
  Records(const std::vector<Slot>& slots, const std::vector<Stretch>& order, const Carry& carry,
          const addon::TickFrame& frame, const MinParts& min_parts)
      : count(CountOf(order)), extra(addon::kExtraWords * count + carry.open.extra.size()) {
    const addon::Columns columns = {position.data(),   tick.data(),      kind.data(),       word1_low.data(),
                                    word1_high.data(), word2_low.data(), word2_high.data(), extra_start.data(),
                                    extra.data(),      kinds.data()};
    rest = addon::Assemble(slots.data(), order, carry, frame, min_parts, columns);
    MUST(rest.rows <= count + 1);
  }

  static size_t CountOf(const std::vector<Stretch>& order) {
    size_t count = 0;
    for (const Stretch& stretch : order) count += stretch.length;
    return count;
  }

  size_t count;
  std::vector<double> position = std::vector<double>(count + 1);
  std::vector<double> tick = std::vector<double>(count + 1);
  std::vector<uint8_t> kind = std::vector<uint8_t>(count + 1);
  std::vector<uint32_t> word1_low = std::vector<uint32_t>(count + 1);
  std::vector<uint32_t> word1_high = std::vector<uint32_t>(count + 1);
  std::vector<uint32_t> word2_low = std::vector<uint32_t>(count + 1);
  std::vector<uint32_t> word2_high = std::vector<uint32_t>(count + 1);
  std::vector<uint32_t> extra_start = std::vector<uint32_t>(count + 2);
  std::vector<uint32_t> extra;
  std::array<uint32_t, 256> kinds;
  addon::Assembled rest;
};

/** Checks that each position is in one record or one hole, in order. Returns one past the last. */
double Follow(const Records& records, double covered) {
  const std::vector<addon::Hole>& holes = records.rest.holes;
  size_t hole = 0;
  for (size_t row = 0; row < records.rest.rows; ++row) {
    if (hole < holes.size() && holes[hole].row == row) {
      MUST(holes[hole].from == covered);
      MUST(holes[hole].end > covered);
      covered = holes[hole++].end;
    }
    MUST(records.position[row] == covered);
    MUST(records.tick[row] >= 0);
    const uint32_t extra = records.extra_start[row + 1] - records.extra_start[row];
    MUST(extra % addon::kExtraWords == 0);
    covered += 1 + extra / addon::kExtraWords;
  }
  MUST(hole == holes.size());
  MUST(covered == records.rest.carry.covered);
  return covered;
}

void CheckSegments(const std::vector<Slot>& slots, const std::vector<Stretch>& order, const addon::TickFrame& frame,
                   size_t cut, const MinParts& min_parts) {
  const Records whole(slots, order, Carry(), frame, min_parts);
  Follow(whole, 0);
  const size_t middle = order.empty() ? 0 : cut % (order.size() + 1);
  const std::vector<Stretch> before(order.begin(), order.begin() + static_cast<long>(middle));
  const std::vector<Stretch> behind(order.begin() + static_cast<long>(middle), order.end());
  const Records first(slots, before, Carry(), frame, min_parts);
  const double covered = Follow(first, 0);
  const Records second(slots, behind, first.rest.carry, frame, min_parts);
  Follow(second, covered);
  MUST(first.rest.rows + second.rest.rows == whole.rest.rows);
  MUST(first.rest.too_short + second.rest.too_short == whole.rest.too_short);
  MUST(first.rest.impossible + second.rest.impossible == whole.rest.impossible);
  for (size_t row = 0; row < second.rest.rows; ++row) {
    const size_t there = first.rest.rows + row;
    MUST(second.position[row] == whole.position[there] && second.tick[row] == whole.tick[there]);
    MUST(second.kind[row] == whole.kind[there] && second.word2_high[row] == whole.word2_high[there]);
  }
}

void CheckChunk(std::vector<Slot> slots, uint64_t first) {
  std::vector<double> position(slots.size());
  addon::CheckChunk(slots.data(), slots.size(), first, position.data());
  // Made bare and dressed again, slots must be equal.
  std::vector<Slot> bare = slots;
  uint64_t last = 0;
  for (size_t i = 0; i < bare.size(); ++i) {
    uint64_t(&words)[4] = bare[i].words;
    const uint64_t meta = (words[3] & 0xFFFF) | ((first + i) & rank_file::kPositionMask) << 16;
    words[3] ^= rank_file::SlotWord3(words[0], words[1], words[2], meta) & ~uint64_t{0xFFFF};
    if ((words[3] >> 8 & 15) != 0) continue;
    const uint64_t tick = words[0];
    words[0] -= last;
    last = tick;
  }
  std::vector<uint8_t> planes(bare.size() * 32);
  const auto* bytes = reinterpret_cast<const uint8_t*>(bare.data());
  for (size_t i = 0; i < bare.size(); ++i) {
    for (size_t byte = 0; byte < 32; ++byte) planes[byte * bare.size() + i] = bytes[i * 32 + byte];
  }
  std::vector<Slot> back(bare.size());
  addon::SlotsOfPlanes(planes.data(), back.size(), back.data());
  addon::DressSlots(back.data(), back.size(), first);
  MUST(back.empty() || memcmp(back.data(), slots.data(), slots.size() * sizeof(Slot)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MinParts min_parts = TheMinParts();
  Plan plan;
  if (size < sizeof plan) return 0;
  memcpy(&plan, data, sizeof plan);
  const uint32_t capacity = uint32_t{1} << (plan.capacity_bits % 9);
  const uint64_t head = plan.head & rank_file::kPositionMask;
  const size_t count = std::min<size_t>((size - sizeof plan) / sizeof(Slot), capacity);
  std::vector<Slot> slots(count);
  if (count > 0) memcpy(slots.data(), data + sizeof plan, count * sizeof(Slot));
  // The lap of the slots, near the head or not.
  const uint64_t base = (head / capacity + plan.lap % 4) * capacity;
  for (size_t i = 0; i < count; ++i) {
    if ((i * 37 + plan.cut) % 256 < plan.honest) Seal(slots[i], base + i);
  }
  std::vector<double> position(count);
  const uint32_t torn = addon::CheckRing(slots.data(), count, capacity, head, position.data());
  MUST(torn <= count);
  for (size_t i = 0; i < count; ++i) {
    if (position[i] < 0) continue;
    MUST(position[i] < 281474976710656.0 && fmod(position[i], capacity) == static_cast<double>(i));
  }
  const std::vector<Stretch> order = addon::FindStretches(position.data(), count);
  CheckSegments(slots, order, {plan.tick_base, 90.0 * 86400.0 * 3e9}, plan.cut, min_parts);
  CheckChunk(slots, base);
  return 0;
}
