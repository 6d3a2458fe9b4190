// The map of the chained plugins' handles by itself: what it keeps, what gives way, and what threads see of each other.

#include <string.h>

#include <atomic>
#include <thread>
#include <vector>

#include "plugin/chain/handle_map.h"
#include "test/check.h"

using namespace nccl_trace;
using namespace nccl_trace::chain;

namespace {

constexpr uint64_t kTag = rank_file::kHandleTagFixedBits | uint64_t{123} << rank_file::kHandleTagShift;
constexpr uint32_t kOverflow = 20;
constexpr uint64_t kFlood = 100'000;

uint64_t At(uint32_t ring, uint64_t position) { return rank_file::MakeHandle(kTag, ring, position); }

/** Every word of it follows from the number. */
Row RowOf(uint64_t number) {
  const auto handle = [&](uint64_t plugin) { return reinterpret_cast<void*>(number * 31 + plugin); };
  return {number ^ 0x5A5A, {handle(0), handle(1), handle(2)}};
}
bool IsRowOf(const Row& row, uint64_t number) {
  const Row want = RowOf(number);
  return memcmp(&row, &want, sizeof(row)) == 0;
}
bool Has(HandleMap& map, uint64_t number, bool is_stop = false) {
  Row row;
  if (!map.Find(number, row, is_stop)) return false;
  CHECK(IsRowOf(row, number));
  return true;
}
void Add(HandleMap& map, uint64_t number, Life life) { map.Insert(number, life, RowOf(number)); }

void WhatGivesWay(HandleMap& map) {
  const uint64_t lap = 8192;  // positions with the same place
  const auto at = [&](uint64_t i) { return At(2, 40 + lap * i); };
  Add(map, at(0), Life::kShort);
  Add(map, at(1), Life::kLong);
  Add(map, at(2), Life::kLong);
  Add(map, at(3), Life::kShort);
  CHECK(Has(map, at(3), true));  // stops
  CHECK(Has(map, at(3), true));  // NCCL stops some events twice
  Add(map, at(4), Life::kShort);
  CHECK(!Has(map, at(3)) && Has(map, at(0)) && Has(map, at(1)));
  CHECK(Has(map, at(1), true));  // of use after its stop
  Add(map, at(5), Life::kShort);
  CHECK(!Has(map, at(1)) && Has(map, at(2)));  // the older one
  Add(map, at(6), Life::kShort);
  CHECK(!Has(map, at(2)));
  CHECK_EQ(map.lost(), 0);
  Add(map, at(7), Life::kShort);  // all are open
  CHECK(!Has(map, at(0)) && Has(map, at(7)));
  CHECK_EQ(map.lost(), 1);
  CHECK(!Has(map, at(7) | rank_file::kHandleMuted));
  map.Clear();
  CHECK(!Has(map, at(7)));
}

/** Calls of graphs and what hangs stay, whatever else comes. */
void AFlood(HandleMap& map) {
  for (uint64_t i = 0; i < 30'000; ++i) Add(map, At(16, 3 * i), Life::kCaptured);
  const uint64_t stuck = At(0, 5);
  const uint64_t muted = map.NewNumber(kTag, Kind::kSteps, true);
  Add(map, stuck, Life::kShort);
  Add(map, muted, Life::kShort);
  for (uint64_t i = 1; i < kFlood; ++i) {
    for (const uint64_t number : {At(0, 5 + 6 * i), At(16, 90'000 + 4 * i), map.NewNumber(kTag, Kind::kSteps, true)}) {
      Add(map, number, rank_file::HandleRing(number) == 16 ? Life::kLong : Life::kShort);
      CHECK(Has(map, number, true));
    }
  }
  CHECK(Has(map, stuck) && Has(map, muted));
  for (uint64_t i = 0; i < 30'000; ++i) CHECK(Has(map, At(16, 3 * i)));
  CHECK_EQ(map.lost(), 0);
}

/** Other threads stop and look up while one inserts, or all in a shared ring. They find the right row or none. */
void ManyThreads(HandleMap& map, uint32_t ring, int writers) {
  std::atomic<uint64_t> newest{1};
  std::atomic<int> writing{writers};
  std::atomic<uint64_t> found{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < writers; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kFlood || found == 0; ++i) {
        const uint64_t position = newest.fetch_add(1);
        Add(map, At(ring, position), position % 3 == 0 ? Life::kLong : Life::kShort);
      }
      --writing;
    });
  }
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; writing > 0; ++i) {
        const uint64_t now = newest;
        found += Has(map, At(ring, now - i % 512 % now), t == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main() {
  static HandleMap map;
  CHECK(map.Make(kOverflow));
  WhatGivesWay(map);
  AFlood(map);
  ManyThreads(map, 3, 1);
  ManyThreads(map, kOverflow, 3);
  return nccl_trace_test::Passed();
}
