// The chained plugins' handles, by the number that NCCL has as the event's handle. Most numbers are the recorder's own
// (format/rank_file.h). Events that the recorder does not record, or samples out, get numbers of the chain.
//
// Bounded: a number has four places, next to those of its neighbours in the same ring. A new event takes an empty place,
// else that of an operation, step or kernel that has stopped, else that of the oldest collective or call, else that of the
// oldest event. Calls that were captured have places of their own, because NCCL names them as parents at every replay.
//
// Owner: the thread of the ring inserts, any thread looks up and stops. Regions with several inserting threads are `shared`.

#pragma once

#include <stdint.h>

#include <atomic>

#include "plugin/record/file_layout.h"
#include "plugin/record/ring.h"

namespace nccl_trace::chain {

constexpr int kMostPlugins = 3;

/** What is kept of an event. One word for all masks, because a word that was stored in parts is slow to load. */
struct Row {
  uint64_t masks;              // in force for the event and those below it, 16 bits each: the recorder's, the plugins'
  void* theirs[kMostPlugins];  // null: the plugin has no such event

  uint32_t MaskOf(int user) const { return static_cast<uint16_t>(masks >> 16 * user); }
  void SetMask(int user, uint32_t mask) { masks |= uint64_t{mask & 0xFFFF} << 16 * user; }
};
constexpr int kRecorder = 0;  // as a user; 1 + i: plugin i
static_assert(sizeof(Row) == 32, "two to a cache line");

// The chain's own numbers: a ring that no file has, and in the position the region and a counter.
constexpr uint32_t kOwnRing = 62;
constexpr int kRegionShift = 36;
static_assert(kMaxLayoutRings <= kOwnRing, "handles number them");

/** Which of the chain's regions an own number belongs to, by what is alike in number and life. */
enum class Kind : uint32_t { kHost, kOps, kSteps };
constexpr uint32_t kOwnRegions = 3;
constexpr uint32_t kWays = 4;  // places of a number

/** kShort: of no use once it has stopped. kLong: others name it as their parent later. */
enum class Life { kShort, kLong, kCaptured };

class HandleMap {
 public:
  /** False: there is no memory. */
  bool Make(uint32_t overflow_ring);
  /** Forgets all handles. */
  void Clear();
  /** In the child after a fork: its memory is the parent's no more. */
  void ForgetAfterFork();

  /** A new number, or one that has a place already: NCCL started the event again. */
  void Insert(uint64_t number, Life life, const Row& row);
  /** False: it has no place (any more). `is_stop`: marks an event of a short life as stopped. */
  bool Find(uint64_t number, Row& row, bool is_stop = false);
  uint64_t NewNumber(uint64_t tag, Kind kind, bool is_muted);
  /** Events that were still open when another one took their place. */
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kRegionCaptured = kMaxLayoutRings + kOwnRegions;
  static constexpr uint32_t kRegions = kRegionCaptured + 1;

  struct Region {
    std::atomic<uint64_t>* keys;
    Row* rows;
    uint64_t set_mask;
    bool shared;

    uint64_t SetOf(uint64_t number) const { return (rank_file::HandlePosition(number) / kWays & set_mask) * kWays; }
  };

  Region& RegionOf(uint64_t number) {
    const uint32_t ring = rank_file::HandleRing(number);
    if (Unlikely(ring >= kMaxLayoutRings)) return regions_[kMaxLayoutRings + OwnRegion(number)];
    return regions_[ring];
  }
  static uint32_t OwnRegion(uint64_t number) {
    return static_cast<uint32_t>(rank_file::HandlePosition(number) >> kRegionShift) % kOwnRegions;
  }
  bool FindIn(Region& region, uint64_t number, Row& row, bool is_stop);

  Region regions_[kRegions];
  std::atomic<uint64_t> next_[kOwnRegions];
  std::atomic<uint64_t> lost_;
  std::atomic<bool> has_captured_;
  void* memory_;
};

}  // namespace nccl_trace::chain
