#include "plugin/record/strings.h"

#include "plugin/process/clock.h"
#include "plugin/record/ordinals.h"

namespace nccl_trace {

using rank_file::kStringSlots;

void Strings::Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots, uint64_t* lost) {
  slots_ = slots;
  live_ = live;
  lost_ = lost;
  const uint32_t room = capacity_slots / kStringSlots;
  capacity_ = room < kMaxTexts ? room : kMaxTexts;
}

StringRef Strings::InternSlowly(const char* text, uint32_t tick_source) {
  // A pointer that was evicted, or whose text has changed. Search by content.
  const Text* entry = FindByContent(text);
  if (entry == nullptr) entry = Add(text, ReadTick(tick_source));
  if (entry == nullptr) {
    __atomic_fetch_add(lost_, 1, __ATOMIC_RELAXED);
    return {rank_file::kStringLost, FunctionRow(text)};
  }
  Remember(text, *entry);
  return entry->ref;
}

const Strings::Text* Strings::FindByContent(const char* text) const {
  const uint32_t used = used_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < used && i < capacity_; ++i) {
    // Partner: the release store in Add.
    if (texts_[i].ready.load(std::memory_order_acquire) == 0) continue;
    if (strncmp(text, texts_[i].bytes, rank_file::kMaxStringBytes) == 0) return &texts_[i];
  }
  return nullptr;
}

const Strings::Text* Strings::Add(const char* text, uint64_t tick) {
  uint32_t index = used_.load(std::memory_order_relaxed);
  do {
    if (index >= capacity_) return nullptr;
  } while (!used_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));

  Text& entry = texts_[index];
  const size_t length = strlen(text);
  const size_t kept = length < rank_file::kMaxStringBytes ? length : rank_file::kMaxStringBytes;
  memcpy(entry.bytes, text, kept);
  entry.bytes[kept] = '\0';
  entry.ref = {static_cast<uint16_t>(index + 1), FunctionRow(text)};
  if (length < sizeof(entry.words)) {
    const uint8_t own[sizeof(entry.own)] = {255, 255, 255, 255, 255, 255, 255, 255,
                                            255, 255, 255, 255, 255, 255, 255, 255};
    memcpy(entry.words, text, length + 1);
    memcpy(entry.own, own, length + 1);
  }

  // The format has 8 bytes of text in the first slot and 24 in each of the others.
  uint64_t words[1 + 3 * (kStringSlots - 1)] = {};
  static_assert(sizeof(words) == rank_file::kMaxStringBytes, "format");
  memcpy(words, text, kept);
  const uint64_t position = uint64_t{index} * kStringSlots;
  const auto meta = [&](uint32_t part) {
    return rank_file::SlotMeta(rank_file::kString, part, kStringSlots, position + part);
  };
  PutSlot(slots_[position], meta(0), tick, length, words[0]);
  for (uint32_t part = 1; part < kStringSlots; ++part) {
    const uint64_t* of_part = &words[1 + 3 * (part - 1)];
    PutSlot(slots_[position + part], meta(part), of_part[0], of_part[1], of_part[2]);
  }
  Store(live_->head, uint64_t{used_.load(std::memory_order_relaxed)} * kStringSlots);
  entry.ready.store(1, std::memory_order_release);
  return &entry;
}

/** Stores the pointer in its old entry, or in the next one in turn. An evicted pointer is found by content. */
void Strings::Remember(const char* text, const Text& entry) {
  Cached* set = cache_[SetOf(text)];
  Cached* cached = &set[next_way_.fetch_add(1, std::memory_order_relaxed) % kWays];
  for (uint32_t way = 0; way < kWays; ++way) {
    const char* pointer = set[way].pointer.load(std::memory_order_relaxed);
    if (pointer == text || pointer == nullptr) {
      cached = &set[way];
      break;
    }
  }
  // A reader between these stores may take the new text for the old pointer. It compares texts, so it only loses time.
  cached->text.store(&entry, std::memory_order_release);
  cached->pointer.store(text, std::memory_order_release);
}

}  // namespace nccl_trace
