#include "plugin/beacon/beacon_tables.h"

#include <string.h>

#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

/** The whole round, including the time until the answer, because a peer that answers late is late with its stamps, too. */
uint64_t Round(const BeaconExchange& exchange) { return exchange.received - exchange.sent; }

}  // namespace

void BeaconTables::Use(const Image& image, const FileLayout& layout) {
  image_ = image;
  layout_ = &layout;
}

void BeaconTables::Add(const BeaconExchange& exchange) {
  for (uint32_t table = 0; table < kBeaconTables; ++table) {
    const uint64_t number = exchanges_ % kExchangesPerBeacon[table];
    BeaconExchange& quickest = quickest_[table];
    if (number == 0 || Round(exchange) < Round(quickest)) quickest = exchange;
    if (number + 1 == kExchangesPerBeacon[table]) Write(table, quickest);
  }
  ++exchanges_;
}

void BeaconTables::Write(uint32_t table, const BeaconExchange& exchange) {
  constexpr uint32_t kParts = 3;
  const rank_file::AreaEntry& entry = layout_->areas[layout_->first_beacon + table];
  const uint64_t position = written_[table]++ * rank_file::kBeaconSlots;
  rank_file::Slot* slots = &image_.slots(entry)[position & (entry.capacity - 1)];
  const auto meta = [&](uint32_t part) {
    return rank_file::SlotMeta(rank_file::kBeacon, part, kParts, position + part);
  };
  uint64_t boot[2];
  memcpy(boot, exchange.peer_boot_id, sizeof(boot));
  PutSlot(slots[0], meta(0), exchange.sent, exchange.peer_received, exchange.peer_sent);
  PutSlot(slots[1], meta(1), exchange.received, exchange.peer_tick_source, 0);
  PutSlot(slots[2], meta(2), boot[0], boot[1], 0);
  Store(image_.live(entry)->head, position + rank_file::kBeaconSlots);
}

}  // namespace nccl_trace
