// The string table: stores each distinct text once and gives it a number of 16 bits.
//
// A text is found by its pointer first, because NCCL passes literals. The text is compared as well, because another
// libnccl may be loaded at the same address later. There are no locks: entries are claimed by compare-and-swap. Two
// threads with the same new text at the same instant may store it twice, under two numbers, which readers accept.

#pragma once

#include <stdint.h>
#include <string.h>

#include <atomic>

#include "format/rank_file.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

struct StringRef {
  uint16_t id;           // kStringNone, kStringLost or the number in the file
  uint8_t function_row;  // see ordinals.h
};

class Strings {
 public:
  /** `lost` counts the texts for which there was no room. */
  void Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots, uint64_t* lost);

  StringRef Intern(const char* text, uint32_t tick_source) {
    StringRef ref;
    if (FindShort(text, ref)) return ref;
    const Cached* cached = FindPointer(text);
    if (cached == nullptr) return InternSlowly(text, tick_source);
    const Text& known = *cached->text.load(std::memory_order_acquire);
    return strncmp(text, known.bytes, rank_file::kMaxStringBytes) == 0 ? known.ref : InternSlowly(text, tick_source);
  }

  /** False: the pointer or its text is new, or the text is long. Makes no call. */
  [[gnu::always_inline]] bool FindShort(const char* text, StringRef& ref) const {
    ref = {rank_file::kStringNone, 0};
    if (text == nullptr) return true;
    const Cached* cached = FindPointer(text);
    if (Unlikely(cached == nullptr)) return false;
    const Text& known = *cached->text.load(std::memory_order_acquire);
    if (Unlikely(!IsShortText(text, known))) return false;
    ref = known.ref;
    return true;
  }

 private:
  static constexpr uint32_t kMaxTexts = 256;
  // Four ways, so that two names that occur in every collective do not evict each other for ever.
  static constexpr uint32_t kSets = 128;
  static constexpr uint32_t kWays = 4;

  struct Text {
    std::atomic<uint32_t> ready;
    StringRef ref;
    // A text of up to 15 bytes and its NUL as two words, and a mask of the bits it uses. Mask 0: the text is longer.
    uint64_t words[2];
    uint64_t own[2];
    char bytes[rank_file::kMaxStringBytes + 1];
  };
  struct Cached {
    std::atomic<const char*> pointer;
    std::atomic<const Text*> text;
  };

  static uint32_t SetOf(const char* text) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(text) * 0x9E3779B97F4A7C15u >> 57);
  }
  static_assert(kSets == 1u << 7, "SetOf gives 7 bits");

  [[gnu::always_inline]] const Cached* FindPointer(const char* text) const {
    const Cached* set = cache_[SetOf(text)];
#pragma GCC unroll 4
    for (uint32_t way = 0; way < kWays; ++way) {
      // Partners of this and of the loads of `text`: the release stores in Remember. An entry is complete then and
      // never changes.
      if (set[way].pointer.load(std::memory_order_acquire) == text) return &set[way];
    }
    return nullptr;
  }

  /**
   * Compares short texts by two loads instead of a call. The loads may pass the end of the text but not of its page. The
   * sanitizer does not see them.
   */
  __attribute__((no_sanitize("address"))) static bool IsShortText(const char* text, const Text& known) {
    if (Unlikely(known.own[0] == 0 || (reinterpret_cast<uintptr_t>(text) & 4095) > 4096 - 16)) return false;
    typedef uint64_t __attribute__((aligned(1), may_alias)) AnyWord;
    const AnyWord* words = reinterpret_cast<const AnyWord*>(text);
    return (((words[0] ^ known.words[0]) & known.own[0]) | ((words[1] ^ known.words[1]) & known.own[1])) == 0;
  }

  StringRef InternSlowly(const char* text, uint32_t tick_source);
  const Text* FindByContent(const char* text) const;
  const Text* Add(const char* text, uint64_t tick);
  void Remember(const char* text, const Text& entry);

  rank_file::Slot* slots_;
  rank_file::AreaLive* live_;
  uint64_t* lost_;
  uint32_t capacity_;  // texts
  std::atomic<uint32_t> used_;
  Text texts_[kMaxTexts];
  alignas(64) Cached cache_[kSets][kWays];  // a set: one cache line
  std::atomic<uint32_t> next_way_;
};

}  // namespace nccl_trace
