#include "plugin/chain/handle_map.h"

#include "plugin/record/image.h"

namespace nccl_trace::chain {
namespace {

// The two bits that every number has set are the state of its key: 11 open, 10 of a long life, 01 stopped, 00 empty.
constexpr uint64_t kState = rank_file::kHandleTagFixedBits;
constexpr uint64_t kNotStopped = uint64_t{1} << 63;
constexpr uint64_t kOpen = uint64_t{1} << 55;
constexpr uint64_t kTaken = 1;  // being written

constexpr uint32_t kEntries = 8192;           // of a region
constexpr uint32_t kCapturedEntries = 65536;  // as 30,000 captured calls
constexpr uint64_t kAll = uint64_t{kMaxLayoutRings + kOwnRegions} * kEntries + kCapturedEntries;
constexpr uint64_t kBytes = kAll * (sizeof(Row) + sizeof(uint64_t));
constexpr int kTries = 4;

bool Is(uint64_t key, uint64_t number) { return (key | kState) == number; }

/** The lowest goes first: empty, stopped, of a long life, open; the oldest of them. */
uint64_t RankOf(uint64_t key) {
  const uint64_t state = key >> 63 << 1 | (key >> 55 & 1);
  return state << 40 | rank_file::HandlePosition(key);
}

// Word by word: a wide load of what was stored in words waits for them. Release after kTaken and acquire before the second
// look at the key, so who reads a word of another row does not find its own key again.

void Put(const Row& from, Row& to) {
  __atomic_store_n(&to.masks, from.masks, __ATOMIC_RELEASE);
  for (int i = 0; i < kMostPlugins; ++i) __atomic_store_n(&to.theirs[i], from.theirs[i], __ATOMIC_RELEASE);
}

void Get(const Row& from, Row& to) {
  to.masks = __atomic_load_n(&from.masks, __ATOMIC_ACQUIRE);
  for (int i = 0; i < kMostPlugins; ++i) to.theirs[i] = __atomic_load_n(&from.theirs[i], __ATOMIC_ACQUIRE);
}

/** The number's own place, else an empty one or that of a stopped event, else the lowest by RankOf. `old`: its key. */
uint64_t Choose(const std::atomic<uint64_t>* keys, uint64_t first, uint64_t number, uint64_t& old) {
  uint64_t chosen = ~uint64_t{0};
#pragma GCC unroll 4
  for (uint64_t way = first; way < first + kWays; ++way) {
    const uint64_t key = keys[way].load(std::memory_order_relaxed);
    if (Is(key, number)) {
      old = key;
      return way;
    }
    if ((key & kNotStopped) == 0 && key != kTaken && chosen > way) {
      old = key;
      chosen = way;
    }
  }
  if (chosen != ~uint64_t{0}) return chosen;
  uint64_t lowest = ~uint64_t{0};
  for (uint64_t way = first; way < first + kWays; ++way) {
    const uint64_t key = keys[way].load(std::memory_order_relaxed);
    if (RankOf(key) >= lowest || key == kTaken) continue;
    lowest = RankOf(key);
    old = key;
    chosen = way;
  }
  return chosen;
}

}  // namespace

bool HandleMap::Make(uint32_t overflow_ring) {
  if (memory_ != nullptr) return true;
  memory_ = MapAnonymous(kBytes);
  if (memory_ == nullptr) return false;
  Row* rows = static_cast<Row*>(memory_);
  auto* keys = reinterpret_cast<std::atomic<uint64_t>*>(rows + kAll);
  for (uint32_t i = 0; i < kRegions; ++i) {
    const uint32_t entries = i == kRegionCaptured ? kCapturedEntries : kEntries;
    regions_[i] = {keys, rows, entries / kWays - 1, i >= kMaxLayoutRings || i == overflow_ring};
    keys += entries;
    rows += entries;
  }
  return true;
}

void HandleMap::ForgetAfterFork() {
  if (memory_ == nullptr) return;
  mmap(memory_, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void HandleMap::Clear() {
  for (const Region& region : regions_) {
    if (region.keys == nullptr) continue;
    for (uint64_t i = 0; i < (region.set_mask + 1) * kWays; ++i) region.keys[i].store(0, std::memory_order_relaxed);
  }
  has_captured_.store(false, std::memory_order_relaxed);
  lost_.store(0, std::memory_order_relaxed);
}

void HandleMap::Insert(uint64_t number, Life life, const Row& row) {
  const bool is_captured = Unlikely(life == Life::kCaptured);
  Region& region = is_captured ? regions_[kRegionCaptured] : RegionOf(number);
  if (is_captured) has_captured_.store(true, std::memory_order_relaxed);
  const uint64_t first = region.SetOf(number);
  for (int tries = 0; tries < kTries; ++tries) {
    uint64_t old;
    const uint64_t chosen = Choose(region.keys, first, number, old);
    if (chosen == ~uint64_t{0}) continue;  // others write to all of them
    std::atomic<uint64_t>& key = region.keys[chosen];
    if (region.shared) {
      if (!key.compare_exchange_strong(old, kTaken, std::memory_order_relaxed)) continue;
    } else {
      key.store(kTaken, std::memory_order_relaxed);
    }
    if (Unlikely((old & kState) == kState && !Is(old, number))) lost_.fetch_add(1, std::memory_order_relaxed);
    Put(row, region.rows[chosen]);
    key.store(life == Life::kShort ? number : number & ~kOpen, std::memory_order_release);
    return;
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

bool HandleMap::Find(uint64_t number, Row& row, bool is_stop) {
  if (FindIn(RegionOf(number), number, row, is_stop)) return true;
  return has_captured_.load(std::memory_order_relaxed) && FindIn(regions_[kRegionCaptured], number, row, is_stop);
}

bool HandleMap::FindIn(Region& region, uint64_t number, Row& row, bool is_stop) {
  const uint64_t first = region.SetOf(number);
  for (uint64_t way = first; way < first + kWays; ++way) {
    std::atomic<uint64_t>& place = region.keys[way];
    uint64_t key = place.load(std::memory_order_acquire);
    if (!Is(key, number)) continue;
    Get(region.rows[way], row);
    if (!Is(place.load(std::memory_order_relaxed), number)) return false;
    // By comparison, because another thread may have given the place away.
    if (is_stop && (key & kState) == kState)
      place.compare_exchange_strong(key, key & ~kNotStopped, std::memory_order_relaxed);
    return true;
  }
  return false;
}

uint64_t HandleMap::NewNumber(uint64_t tag, Kind kind, bool is_muted) {
  const uint64_t region = static_cast<uint64_t>(kind);
  constexpr uint64_t kCounterMask = (uint64_t{1} << kRegionShift) - 1;
  const uint64_t counter = next_[region].fetch_add(1, std::memory_order_relaxed) & kCounterMask;
  return rank_file::MakeHandle(tag, kOwnRing, region << kRegionShift | counter) |
         (is_muted ? rank_file::kHandleMuted : 0);
}

}  // namespace nccl_trace::chain
