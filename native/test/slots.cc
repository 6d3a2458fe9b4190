// Slots, handles and rings by themselves: the check of a slot, the meaning of a handle, two laps in one ring.

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/record/file_layout.h"
#include "plugin/record/folds.h"
#include "plugin/record/leases.h"
#include "plugin/record/ring.h"
#include "test/check.h"

using namespace nccl_trace;

namespace {

/** A ring of `capacity` slots on the heap. */
struct HeapRing {
  explicit HeapRing(uint32_t capacity, bool shared = false) : slots(capacity) {
    ring.slots = slots.data();
    ring.mask = capacity - 1;
    ring.live = &live;
    ring.shared = shared;
    ring.handle_prefix = rank_file::MakeHandle(rank_file::kHandleTagFixedBits, 5, 0);
  }
  std::vector<rank_file::Slot> slots;
  rank_file::AreaLive live = {};
  Ring ring;
};

bool ChecksOut(const rank_file::Slot& slot, uint32_t kind, uint32_t part, uint32_t parts, uint64_t position) {
  const auto& w = slot.words;
  return w[3] == rank_file::SlotWord3(w[0], w[1], w[2], rank_file::SlotMeta(kind, part, parts, position));
}

void ASlotProvesItself() {
  HeapRing heap(256);
  const uint64_t at = (uint64_t{7} << 24) + 3;  // the stored 24 bits do not say the 7
  heap.ring.position = at;
  CHECK_EQ(Append(heap.ring, rank_file::kStop, 1, 2, 3), at);
  rank_file::Slot& slot = heap.slots[3];
  CHECK(ChecksOut(slot, rank_file::kStop, 0, 1, at));
  CHECK(!ChecksOut(slot, rank_file::kState, 0, 1, at));
  CHECK(!ChecksOut(slot, rank_file::kStop, 0, 1, at + 256));
  CHECK(!ChecksOut(slot, rank_file::kStop, 0, 1, at - (uint64_t{1} << 24)));
  // Any bit of any word.
  for (uint32_t bit = 0; bit < 256; ++bit) {
    slot.words[bit / 64] ^= uint64_t{1} << bit % 64;
    CHECK(!ChecksOut(slot, rank_file::kStop, 0, 1, at));
    slot.words[bit / 64] ^= uint64_t{1} << bit % 64;
  }
  const rank_file::Slot empty = {};
  CHECK_EQ(empty.words[3] & 0xFF, rank_file::kEmpty);
}

// Torn: the first words are of the new lap, the last ones of the old.
void ATornSlotShows() {
  uint64_t passed = 0;
  for (uint64_t i = 0; i < 100'000; ++i) {
    const std::array<uint64_t, 4> old_lap = {i * 1'000, 2 * i, 77, 0};
    const uint64_t word3 =
        rank_file::SlotWord3(old_lap[0], old_lap[1], old_lap[2], rank_file::SlotMeta(rank_file::kState, 0, 1, i));
    const rank_file::Slot torn = {{i * 1'000 + 50'000, i % 2 ? old_lap[1] : 2 * i + 512, 77, word3}};
    passed += ChecksOut(torn, rank_file::kState, 0, 1, i);
  }
  CHECK(passed <= 2);  // 24 bits: one in 16 million
}

void Handles() {
  const uint64_t tag = rank_file::kHandleTagFixedBits | uint64_t{0x1234} << 47;
  const uint64_t handle = rank_file::MakeHandle(tag, 62, (uint64_t{1} << 40) - 2);
  CHECK(rank_file::HandleIsOurs(handle, tag));
  CHECK_EQ(rank_file::HandleRing(handle), 62);
  CHECK_EQ(rank_file::HandlePosition(handle), (uint64_t{1} << 40) - 2);
  CHECK_EQ(handle & rank_file::kHandleMuted, 0);
  CHECK(!rank_file::HandleIsOurs(handle ^ uint64_t{1} << 47, tag));

  HeapRing heap(256);
  heap.ring.position = (uint64_t{3} << 40) + 9;
  const uint64_t own = heap.ring.HandleAt(heap.ring.position);
  CHECK_EQ(rank_file::HandlePosition(own), 9);
  CHECK(heap.ring.Owns(own));
  CHECK(!heap.ring.Owns(rank_file::MakeHandle(rank_file::kHandleTagFixedBits, 6, 9)));
}

// capacity 8:   | 8 9 10 | 3 4 5 6 7 |   a record of four slots lies across the end
void RecordsWrap() {
  HeapRing heap(8);
  heap.ring.position = 6;
  const uint64_t at = Prepare(heap.ring, 4);
  for (uint32_t part = 0; part < 4; ++part) Put(heap.ring, rank_file::kStartColl, at, part, 4, part, 0, 0);
  CHECK_EQ(heap.live.head, 0);  // not before all of it is there
  Commit(heap.ring, at, 4);
  CHECK_EQ(heap.live.head, 10);
  for (uint32_t part = 0; part < 4; ++part) {
    CHECK(ChecksOut(heap.slots[(6 + part) % 8], rank_file::kStartColl, part, 4, 6 + part));
  }
}

void SeveralProducersOfOneRing() {
  constexpr uint64_t kThreads = 4, kEach = 20'000;
  HeapRing heap(1 << 18, true);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const uint64_t at = Prepare(heap.ring, 3);
        for (uint32_t part = 0; part < 3; ++part) Put(heap.ring, rank_file::kStartP2p, at, part, 3, thread, i, part);
        Commit(heap.ring, at, 3);
        Count(heap.ring, heap.live.muted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(heap.live.head, kThreads * kEach * 3);
  CHECK_EQ(heap.live.muted, kThreads * kEach);
  std::array<uint64_t, kThreads> next = {};
  for (uint64_t at = 0; at < heap.live.head; at += 3) {
    for (uint32_t part = 0; part < 3; ++part) {
      CHECK(ChecksOut(heap.slots[at + part], rank_file::kStartP2p, part, 3, at + part));
    }
    CHECK_EQ(next[heap.slots[at].words[0]]++, heap.slots[at].words[1]);
  }
}

void Plans() {
  for (const uint64_t budget : {uint64_t{1} << 16, uint64_t{1} << 17, uint64_t{1} << 20, uint64_t{64} << 20}) {
    for (uint32_t proxies = 1; proxies <= 2 * kMaxProxyThreads; ++proxies) {
      // Equal ones first, then those of which the first is the busiest.
      const bool alike = proxies <= kMaxProxyThreads;
      const FileLayout layout = MakeFileLayout(budget, {alike ? proxies : proxies - kMaxProxyThreads, !alike});
      if (alike) CHECK_EQ(layout.proxies, proxies);
      CHECK_EQ(layout.overflow, 2 * layout.proxies + kHostRings);
      CHECK_EQ(layout.area_count, layout.overflow + 1 + 5 + kClockTables);
      uint64_t end = rank_file::kHeaderBytes + layout.area_count * sizeof(rank_file::AreaEntry);
      uint64_t rings = 0;
      // In the order of the file: tables, then rings.
      for (uint32_t n = 0; n < layout.area_count; ++n) {
        const uint32_t i = (layout.overflow + 1 + n) % layout.area_count;
        const rank_file::AreaEntry& area = layout.areas[i];
        CHECK(area.live_offset >= end && area.live_offset % rank_file::kAreaAlignment == 0);
        CHECK(area.folds_offset >= area.live_offset + sizeof(rank_file::AreaLive));
        CHECK(area.slots_offset >= area.folds_offset + area.fold_capacity * sizeof(rank_file::Fold));
        CHECK_EQ(area.capacity & (area.capacity - 1), 0);
        CHECK(area.fold_capacity == 0 || area.fold_capacity >= kFoldWays);
        CHECK_EQ(area.fold_capacity & (area.fold_capacity - 1), 0);
        end = area.slots_offset + uint64_t{area.capacity} * rank_file::kSlotBytes;
        if (i <= layout.overflow) rings += uint64_t{area.capacity} * rank_file::kSlotBytes;
      }
      CHECK(layout.file_bytes >= end && layout.file_bytes % rank_file::kChunkAlignment == 0);
      if (budget >= uint64_t{4} << 20) CHECK(rings <= budget && layout.file_bytes <= budget);
    }
  }
  CHECK(ExpectProxies(true, 64, 8).first_is_busiest);
  CHECK_EQ(ExpectProxies(true, 64, 8).count, kProxiesOfOneRank);
  CHECK_EQ(ExpectProxies(false, 64, 8).count, 8);
  CHECK_EQ(ExpectProxies(false, 64, 4).count, 8);
  CHECK_EQ(ExpectProxies(false, 2, 4).count, 1);
  CHECK_EQ(ExpectProxies(false, 0, 0).count, kProxiesOfOneRank);

  const FileLayout usual = MakeFileLayout(uint64_t{64} << 20, ExpectProxies(true, 8, 1));
  const uint32_t mebislots = (1 << 20) / rank_file::kSlotBytes;
  for (const auto& [ring, mebibytes] : {std::pair{0, 16}, {2, 8}, {4, 4}, {6, 4}, {8, 4}, {9, 2}, {15, 2}, {16, 2}}) {
    CHECK_EQ(usual.areas[ring].capacity, mebibytes * mebislots);
  }
  const FileLayout alike = MakeFileLayout(uint64_t{64} << 20, ExpectProxies(false, 8, 1));
  for (const auto& [ring, mebibytes] : {std::pair{0, 4}, {14, 4}, {16, 2}, {23, 2}, {24, 4}}) {
    CHECK_EQ(alike.areas[ring].capacity, mebibytes * mebislots);
  }
  CHECK_EQ(MakeFileLayout(uint64_t{1} << 20, ExpectProxies(true, 8, 1)).proxies, 1);
}

// Threads that attach at the same time: a reader never sees the table's head go back, and in the end it has all.
void LeasesFromManyThreads() {
  constexpr uint32_t kEntries = 64;
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 20'000;
  std::vector<rank_file::Slot> slots(kEntries * rank_file::kLeaseSlots);
  rank_file::AreaLive live = {};
  uint64_t lost = 0;
  const auto leases = std::make_unique<Leases>();
  leases->Use(slots.data(), &live, kEntries * rank_file::kLeaseSlots, &lost);
  HeapRing heap(256);
  // Another thread took a later number and stored its head first.
  live.head = 1'000;
  leases->End(leases->Begin(heap.ring, 0), heap.ring, 0);
  CHECK_EQ(live.head, 1'000);
  live.head = 0;
  std::atomic<bool> done{false};
  uint64_t steps_back = 0;
  std::thread reader([&] {
    for (uint64_t last = 0; !done;) {
      const uint64_t now = __atomic_load_n(&live.head, __ATOMIC_ACQUIRE);
      steps_back += now < last;
      last = now;
    }
  });
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t j = 0; j < kEach; ++j) leases->End(leases->Begin(heap.ring, j), heap.ring, j);
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  CHECK_EQ(steps_back, 0);
  CHECK_EQ(lost, 0);
  CHECK(live.head >= kThreads * kEach * rank_file::kLeaseSlots);  // more where one was held too long
}

}  // namespace

int main() {
  ASlotProvesItself();
  ATornSlotShows();
  Handles();
  RecordsWrap();
  SeveralProducersOfOneRing();
  Plans();
  LeasesFromManyThreads();
  return nccl_trace_test::Passed();
}
