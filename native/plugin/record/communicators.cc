#include "plugin/record/communicators.h"

#include <string.h>

namespace nccl_trace {

using rank_file::kCommunicatorSlots;

namespace {
constexpr uint32_t kStartParts = 7;
constexpr uint32_t kNameParts = 5;
// Peers counted in a communicator of unknown size, 64 KiB. Further peers have no ordinals.
constexpr int kPeersWithoutInfo = 8192;
static_assert(kNameParts * 24 == rank_file::kMaxCommNameBytes, "format");
}  // namespace

void Communicators::Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots) {
  slots_ = slots;
  live_ = live;
  mask_ = capacity_slots / kCommunicatorSlots - 1;
}

uint32_t Communicators::Open(const CommunicatorInfo& info, uint64_t tick) {
  // The next number whose entry is not of a live communicator. The entry of the oldest ended one is reused.
  uint32_t number = next_.load(std::memory_order_relaxed);
  for (uint32_t tried = 0; entries_[number & mask_].live.load(std::memory_order_relaxed); ++tried, ++number) {
    if (tried <= mask_) continue;
    ++live_count_;
    ++unlisted_count_;
    return rank_file::kCommNone;
  }
  Communicator& entry = entries_[number & mask_];
  const bool without_info = info.abi < 4;
  entry.peers.Reset(without_info ? kPeersWithoutInfo : info.ranks);
  entry.replays.Reset();
  entry.number.store(number, std::memory_order_relaxed);
  entry.live.store(true, std::memory_order_relaxed);
  entry.without_info.store(without_info, std::memory_order_relaxed);
  next_.store(number + 1, std::memory_order_relaxed);
  ++live_count_;
  WriteEntry(number, info, tick);
  return number;
}

bool Communicators::Close(uint32_t number, uint64_t tick) {
  if (number == rank_file::kCommNone) {
    if (unlisted_count_ == 0) return false;
    --unlisted_count_;
    --live_count_;
    return true;
  }
  if (HasEnded(number)) return false;
  Find(number)->live.store(false, std::memory_order_relaxed);
  --live_count_;
  ended_count_.fetch_add(1, std::memory_order_release);
  const uint64_t position = uint64_t{number} * kCommunicatorSlots + kStartParts;
  PutSlot(EntryOf(number)[kStartParts], rank_file::SlotMeta(rank_file::kCommunicatorEnd, 0, 1, position), tick, 0, 0);
  return true;
}

void Communicators::Introduce(uint32_t number, uint64_t id, const char* name, int32_t rank) {
  Communicator* entry = Find(number);
  if (entry == nullptr || !entry->without_info.exchange(false, std::memory_order_relaxed)) return;
  const rank_file::Slot* slots = EntryOf(number);
  const uint8_t abi = static_cast<uint8_t>(Load(slots[1].words[0]) >> 32);
  WriteEntry(number, {id, name, rank, 0, 0, abi}, Load(slots[0].words[0]));
}

rank_file::Slot* Communicators::EntryOf(uint32_t number) {
  return &slots_[uint64_t{number & mask_} * kCommunicatorSlots];
}

void Communicators::WriteEntry(uint32_t number, const CommunicatorInfo& info, uint64_t tick) {
  const uint64_t position = uint64_t{number} * kCommunicatorSlots;
  rank_file::Slot* slots = EntryOf(number);
  const auto put = [&](uint32_t part, uint64_t word0, uint64_t word1, uint64_t word2) {
    PutSlot(slots[part], rank_file::SlotMeta(rank_file::kCommunicator, part, kStartParts, position + part), word0,
            word1, word2);
  };
  const size_t length = info.name != nullptr ? strlen(info.name) : 0;
  uint64_t name[kNameParts * 3] = {};
  memcpy(name, info.name != nullptr ? info.name : "",
         length < rank_file::kMaxCommNameBytes ? length : rank_file::kMaxCommNameBytes);
  put(0, tick, info.id, Pack32(static_cast<uint32_t>(info.rank), static_cast<uint32_t>(info.ranks)));
  put(1, Pack32(static_cast<uint32_t>(info.nodes), info.abi), length, 0);
  for (uint32_t part = 0; part < kNameParts; ++part) {
    put(2 + part, name[part * 3], name[part * 3 + 1], name[part * 3 + 2]);
  }
  // The head must not go back when an older entry is written again.
  if (Load(live_->head) < position + kCommunicatorSlots) Store(live_->head, position + kCommunicatorSlots);
}

}  // namespace nccl_trace
