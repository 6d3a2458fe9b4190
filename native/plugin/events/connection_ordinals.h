// Counts the operations of each connection, so that readers can join the two ends of a transfer (record/ordinals.h). A
// full table forgets connections of communicators that have ended.

#pragma once

#include <stdint.h>

#include "plugin/record/ordinals.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

/**
 * ProxyOps per connection: (context, channel, peer, direction). All operations of a connection come from one progress
 * thread, so the table belongs to a producer. Open addressing over a fixed number of entries.
 */
class ConnectionOrdinals {
 public:
  struct Entry {
    uint64_t context;
    uint64_t connection;  // 0: empty
    uint32_t next;
    uint32_t reserved;
    uint64_t reserved2;
  };
  static_assert(sizeof(Entry) == 32, "two to a cache line");

  /** `capacity`: a power of two. Zeroed memory is an empty table. */
  void Use(Entry* entries, uint32_t capacity) {
    entries_ = entries;
    mask_ = capacity - 1;
    freed_ = 0;
    has_forgotten_ended_ = has_forgotten_foreign_ = false;
  }
  void Clear();

  Ordinal Next(uint64_t context, uint32_t channel, uint32_t peer, bool is_send) {
    Entry* entry = Of(context, channel, peer, is_send);
    return entry != nullptr ? Ordinal{entry->next++, 0} : kNoOrdinal;
  }

  /** A connection's entry, new or old. `next` is the count so far. Null: it cannot be counted. */
  Entry* Of(uint64_t context, uint32_t channel, uint32_t peer, bool is_send) {
    if (Unlikely(entries_ == nullptr || context == 0)) return nullptr;
    Entry* entry = Find(context, channel, peer, is_send);
    return entry != nullptr ? entry : Add(context, ConnectionOf(channel, peer, is_send));
  }

  /** Null: the connection has no entry yet. */
  [[gnu::always_inline]] Entry* Find(uint64_t context, uint32_t channel, uint32_t peer, bool is_send) const {
    const uint64_t connection = ConnectionOf(channel, peer, is_send);
    const uint64_t first = PlaceOf(context, connection);
    for (uint64_t probe = 0; probe < kProbes; ++probe) {
      Entry& entry = entries_[(first + probe) & mask_];
      if (entry.connection == connection && entry.context == context) return &entry;
      if (entry.connection == 0) return nullptr;
    }
    return nullptr;
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  static constexpr int kChannelShift = 8;
  static constexpr uint64_t kProbes = 128;

  static uint64_t ConnectionOf(uint32_t channel, uint32_t peer, bool is_send) {
    return uint64_t{peer} << 32 | uint64_t{channel & 0xFF} << kChannelShift | uint64_t{is_send} << 1 | 1;
  }
  /**
   * Eight channels of a connection are in four neighbouring cache lines, because a progress thread visits them one after
   * the other.
   */
  static uint64_t PlaceOf(uint64_t context, uint64_t connection) {
    constexpr uint64_t kChannels = 7;
    const uint64_t others = (connection & ~(kChannels << kChannelShift)) ^ rank_file::RotateLeft(context, 18);
    return (others * kMultiplier >> 40 & ~kChannels) | (connection >> kChannelShift & kChannels);
  }

  /**
   * If the table is full, takes the entry of a communicator that has ended, or of another process's communicator (PXN),
   * whose end is never reported. Null: there is no room, or an entry of this connection may have been evicted.
   */
  Entry* Add(uint64_t context, uint64_t connection);
  Entry* FindFree(uint64_t first);
  bool MayBeForgotten(uint64_t context) const;
  void FreeEnded();
  void FreeForeign();

  static constexpr uint64_t kFree = ~uint64_t{0};  // context of an entry that belongs to nobody but is not empty

  Entry* entries_ = nullptr;
  uint64_t mask_ = 0;
  uint32_t freed_ = 0;  // number of ended communicators when entries were last freed
  bool has_forgotten_ended_ = false;
  bool has_forgotten_foreign_ = false;
};

}  // namespace nccl_trace
