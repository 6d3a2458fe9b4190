#include "plugin/record/file_layout.h"

namespace nccl_trace {
namespace {

using rank_file::AreaClass;

constexpr uint64_t kFewestSlots = 256;
// With less, there are rings for one proxy thread only, because rings for several would be too small.
constexpr uint64_t kBudgetForSeveral = uint64_t{4} << 20;
// In larger rings the 24 position bits of a slot could not distinguish two laps (schemas/rank-file.md).
constexpr uint64_t kMostSlots = uint64_t{1} << 23;

uint64_t PowerOfTwoUpTo(uint64_t number) { return uint64_t{1} << (63 - __builtin_clzll(number | 1)); }

uint64_t Clamp(uint64_t low, uint64_t number, uint64_t high) {
  return number < low ? low : number > high ? high : number;
}

uint64_t AlignUp(uint64_t number, uint64_t alignment) { return (number + alignment - 1) / alignment * alignment; }

uint32_t SlotsFor(uint64_t bytes) {
  return static_cast<uint32_t>(Clamp(kFewestSlots, PowerOfTwoUpTo(bytes / rank_file::kSlotBytes), kMostSlots));
}

/** Places one area after the other. */
class AreaPlacer {
 public:
  explicit AreaPlacer(FileLayout& layout) : layout_(layout) {}

  uint32_t Add(AreaClass area_class, uint32_t capacity, uint32_t folds, uint32_t clock_interval_ms = 0) {
    rank_file::AreaEntry& area = layout_.areas[layout_.area_count];
    area.area_class = area_class;
    area.capacity = capacity;
    area.fold_capacity = folds;
    area.clock_interval_ms = clock_interval_ms;
    return layout_.area_count++;
  }

  /** Adds a ring. A tiny one gets fewer fold entries, so that they do not take more room than the records. */
  uint32_t AddRing(AreaClass area_class, uint64_t bytes, uint32_t most_folds) {
    const uint32_t capacity = SlotsFor(bytes);
    return Add(area_class, capacity, most_folds < capacity / 16 ? most_folds : capacity / 16);
  }

  /** Tables come before rings: the heartbeat in a copy of a live file is then never newer than the records. */
  void Place() {
    at_ = rank_file::kHeaderBytes + sizeof(rank_file::AreaEntry) * layout_.area_count;
    for (uint32_t i = layout_.overflow + 1; i < layout_.area_count; ++i) PlaceArea(layout_.areas[i]);
    for (uint32_t i = 0; i <= layout_.overflow; ++i) PlaceArea(layout_.areas[i]);
    layout_.file_bytes = AlignUp(at_, rank_file::kChunkAlignment);
  }

 private:
  void PlaceArea(rank_file::AreaEntry& area) {
    area.live_offset = AlignUp(at_, rank_file::kAreaAlignment);
    area.folds_offset = area.live_offset + sizeof(rank_file::AreaLive);
    area.slots_offset =
        AlignUp(area.folds_offset + area.fold_capacity * sizeof(rank_file::Fold), rank_file::kAreaAlignment);
    at_ = area.slots_offset + uint64_t{area.capacity} * rank_file::kSlotBytes;
  }

  uint64_t at_ = 0;
  FileLayout& layout_;
};

/** Proxy thread `i` gets 1/PartOf of the shared budget: equal parts, or 1/2, 1/4, 1/8, 1/8. */
uint64_t PartOf(ExpectedProxies expected, uint32_t i) {
  if (!expected.first_is_busiest) return expected.count;
  return uint64_t{1} << (i + 1 < expected.count ? i + 1 : expected.count - 1);
}

}  // namespace

ExpectedProxies ExpectProxies(bool rank_known, int ranks, int nodes) {
  if (rank_known || ranks <= 0 || nodes <= 0) return {kProxiesOfOneRank, true};
  return {static_cast<uint32_t>(Clamp(1, static_cast<uint64_t>(ranks / nodes), kMaxProxyThreads)), false};
}

FileLayout MakeFileLayout(uint64_t budget, ExpectedProxies expected) {
  FileLayout layout = {};
  AreaPlacer areas(layout);
  if (expected.first_is_busiest && budget < kBudgetForSeveral) expected.count = 1;
  layout.proxies = expected.count;
  for (uint32_t i = 0; i < expected.count; ++i) {
    const uint64_t part = PartOf(expected, i);
    areas.AddRing(rank_file::kRingSteps, budget / 2 / part, 512);
    areas.AddRing(rank_file::kRingOps, budget / 8 / part, 64);
  }
  // Host rings fold as well, because further progress threads than expected use them.
  layout.first_host = layout.area_count;
  for (uint32_t i = 0; i < kHostRings; ++i) {
    const bool is_busiest = i == 0 && expected.first_is_busiest;
    areas.AddRing(rank_file::kRingHost, budget / (is_busiest ? 16 : 32), 64);
  }
  layout.overflow = areas.AddRing(rank_file::kRingOverflow, budget / (expected.first_is_busiest ? 32 : 16), 0);

  const uint64_t entries = PowerOfTwoUpTo(budget >> 14);
  const auto table = [&](AreaClass area_class, uint64_t fewest, uint64_t most, uint32_t slots, uint32_t interval) {
    return areas.Add(area_class, static_cast<uint32_t>(Clamp(fewest, entries, most)) * slots, 0, interval);
  };
  layout.communicators = table(rank_file::kTableCommunicators, 16, kMaxCommunicators, rank_file::kCommunicatorSlots, 0);
  layout.strings = table(rank_file::kTableStrings, 64, 256, rank_file::kStringSlots, 0);
  layout.leases = table(rank_file::kTableLeases, 32, kMaxLeases, rank_file::kLeaseSlots, 0);
  layout.heartbeat = table(rank_file::kTableHeartbeat, 2, 2, rank_file::kClockSampleSlots, 0);
  layout.first_clock = layout.area_count;
  for (const uint32_t interval : kClockIntervalsMs) {
    table(rank_file::kTableClock, 16, 256, rank_file::kClockSampleSlots, interval);
  }
  layout.control = table(rank_file::kTableControl, 64, 256, rank_file::kControlChangeSlots, 0);
  areas.Place();
  return layout;
}

}  // namespace nccl_trace
