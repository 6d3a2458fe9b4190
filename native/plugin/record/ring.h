// The producer's side of a ring: fills slots in place. A slot is valid once its word 3 is written.
//
// Owner  One thread owns a Ring (its lease). The overflow ring is shared: its producers take positions by
//        fetch-and-add. Readers are the recorder's thread and other processes, at any time, without a handshake.
// Order  Words 0 to 2, then word 3 with release: a thread that reads a valid word 3 sees the other words (partner: the
//        acquire loads of CopyWords in file_copy.cc). Another process relies on the check alone. A SIGKILL between two
//        stores leaves a slot whose check fails.
// Never  blocks, allocates, calls the kernel or divides. Overwritten records are visible as a gap in positions.

#pragma once

#include <stdint.h>

#include "format/rank_file.h"

namespace nccl_trace {

inline bool Unlikely(bool condition) { return __builtin_expect(condition, 0); }

/**
 * The two paths of a callback. The fast path is for a thread with rings of its own, where a tick is one instruction. It
 * makes no call, and leaves rare cases to the slow path before it has changed anything. The slow path handles all cases.
 */
enum class Path { kFast, kSlow };

// Words that others may read meanwhile are stored and loaded atomically. Relaxed costs nothing.
template <typename Word>
inline void Store(Word& word, Word value) {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}
template <typename Word>
inline Word Load(const Word& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

constexpr uint32_t kFetchAhead = 16;  // slots

struct alignas(rank_file::kAreaAlignment) Ring {
  rank_file::Slot* slots = nullptr;
  uint64_t mask = 0;      // capacity - 1
  uint64_t position = 0;  // the next one, the owner's copy of live->head. Unused if shared
  rank_file::AreaLive* live = nullptr;
  rank_file::Fold* folds = nullptr;  // null: this ring counts no repeats
  uint64_t fold_mask = 0;            // fold_capacity - 1
  uint64_t handle_prefix = 0;        // tag and ring number
  bool shared = false;
  uint32_t index = 0;  // in the directory

  uint64_t HandleAt(uint64_t at) const {
    return handle_prefix | (at & rank_file::kHandlePositionMask) << rank_file::kHandlePositionShift;
  }
  bool Owns(uint64_t handle) const { return (handle ^ handle_prefix) >> rank_file::kHandleRingShift == 0; }
};

/** Adds to a counter of `ring`. Atomic only for the overflow ring, which has several writers. */
template <Path path = Path::kSlow>
inline void Count(const Ring& ring, uint64_t& counter) {
  if (path == Path::kSlow && Unlikely(ring.shared)) {
    __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  } else {
    Store(counter, Load(counter) + 1);
  }
}

/** Writes one record: Prepare, Put each part, Commit. */
template <Path path = Path::kSlow>
inline uint64_t Prepare(Ring& ring, uint32_t parts) {
  if (path == Path::kSlow && Unlikely(ring.shared))
    return __atomic_fetch_add(&ring.live->head, parts, __ATOMIC_RELAXED);
  return ring.position;
}

[[gnu::always_inline]] inline void PutSlot(rank_file::Slot& slot, uint64_t meta, uint64_t word0, uint64_t word1,
                                           uint64_t word2) {
  Store(slot.words[0], word0);
  Store(slot.words[1], word1);
  Store(slot.words[2], word2);
  __atomic_store_n(&slot.words[3], rank_file::SlotWord3(word0, word1, word2, meta), __ATOMIC_RELEASE);
}

/**
 * Fetches the slots that will be written soon. Each second record begins a cache line and each 128th a page, and waiting
 * for them makes the slowest callbacks. At the ring's end it fetches some bytes for nothing.
 */
inline void FetchForWrite(const rank_file::Slot* slot) {
#if defined(__x86_64__)
  // The compiler would choose prefetcht0, which leaves the line shared with the recorder's thread. All x86-64 processors
  // know prefetchw or treat it as a nop.
  __asm__ volatile("prefetchw %0" : : "m"(*slot));
#else
  __builtin_prefetch(slot, 1);
#endif
}

[[gnu::always_inline]] inline void Put(Ring& ring, uint32_t kind, uint64_t position, uint32_t part, uint32_t parts,
                                       uint64_t word0, uint64_t word1, uint64_t word2) {
  // SlotMeta of position + part, as a sum of two terms. One of them is a constant.
  const uint64_t meta = rank_file::SlotMeta(0, 0, 0, position) + rank_file::SlotMeta(kind, part, parts, part);
  rank_file::Slot* slot = &ring.slots[(position + part) & ring.mask];
  if (part == 0) FetchForWrite(slot + kFetchAhead);
  PutSlot(*slot, meta, word0, word1, word2);
}

template <Path path = Path::kSlow>
inline void Commit(Ring& ring, uint64_t position, uint32_t parts) {
  if (path == Path::kSlow && Unlikely(ring.shared)) return;
  ring.position = position + parts;
  Store(ring.live->head, ring.position);  // a hint: no order needed
}

/** The whole of it, for records of one slot. Returns the position. */
template <Path path = Path::kSlow>
inline uint64_t Append(Ring& ring, uint32_t kind, uint64_t word0, uint64_t word1, uint64_t word2) {
  const uint64_t position = Prepare<path>(ring, 1);
  Put(ring, kind, position, 0, 1, word0, word1, word2);
  Commit<path>(ring, position, 1);
  return position;
}

/**
 * The reader's side. Acquire, so that the words of a slot with a valid word 3 are complete. They may be of two laps.
 */
inline rank_file::Slot LoadSlot(const rank_file::Slot& slot) {
  rank_file::Slot copy;
  for (int i = 3; i >= 0; --i) copy.words[i] = __atomic_load_n(&slot.words[i], __ATOMIC_ACQUIRE);
  return copy;
}

inline uint32_t SlotKind(const rank_file::Slot& slot) { return slot.words[3] & 0xFF; }
inline uint32_t SlotPart(const rank_file::Slot& slot) { return slot.words[3] >> 8 & 15; }
inline uint32_t SlotParts(const rank_file::Slot& slot) { return slot.words[3] >> 12 & 15; }

/** The word 3 that fits the other words, its own kind and parts, and this position. */
inline uint64_t ExpectedWord3(const rank_file::Slot& slot, uint64_t position) {
  return rank_file::SlotWord3(slot.words[0], slot.words[1], slot.words[2],
                              rank_file::SlotMeta(SlotKind(slot), SlotPart(slot), SlotParts(slot), position));
}
inline bool ChecksOut(const rank_file::Slot& slot, uint64_t position) {
  return SlotKind(slot) != rank_file::kEmpty && SlotPart(slot) < SlotParts(slot) &&
         slot.words[3] == ExpectedWord3(slot, position);
}

/** Two fields in one word: the format's "a:32 b:32". */
inline uint64_t Pack32(uint32_t low, uint32_t high) { return uint64_t{low} | uint64_t{high} << 32; }

}  // namespace nccl_trace
