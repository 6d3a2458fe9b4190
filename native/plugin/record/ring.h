// The producer's side of an area: slots are filled where they lie, and a slot's word 3 makes it count.
//
// Who    One thread owns a Ring (its lease); the shared overflow ring is the exception and takes its positions by
//        fetch-and-add. Readers are the recorder's thread and other processes, at any time, without any handshake.
// Order  Words 0 to 2, then word 3 with release: a thread that reads a word 3 that checks out sees its words (partner:
//        the acquire loads of CopyWords in file_copy.cc; another process relies on the check alone). A SIGKILL
//        between two stores leaves a slot that does not check out.
// Never  blocks, allocates, calls the kernel or divides. Loss is overwriting, visible as a gap in positions.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_RECORD_RING_H_
#define NCCL_TRACE_NATIVE_PLUGIN_RECORD_RING_H_

#include <stdint.h>

#include "format/rank_file.h"

namespace nccl_trace {

inline bool Unlikely(bool condition) { return __builtin_expect(condition, 0); }

/**
 * The two paths through a callback. The fast one is for a thread with rings of its own, where a tick is one
 * instruction. It makes no call, and gives up at whatever is rare before it has changed anything. The slow one can do
 * everything.
 */
enum class Path { kFast, kSlow };

// All words that somebody else may read meanwhile are stored and loaded as atoms. Relaxed costs nothing.
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
  uint64_t position = 0;  // next one; the owner's own copy of live->head. Unused when shared
  rank_file::AreaLive* live = nullptr;
  rank_file::Fold* folds = nullptr;  // null: this ring folds nothing
  uint64_t fold_mask = 0;            // fold_capacity - 1
  uint64_t handle_prefix = 0;        // tag and ring number
  bool shared = false;
  uint32_t index = 0;  // in the directory

  uint64_t HandleAt(uint64_t at) const {
    return handle_prefix | (at & rank_file::kHandlePositionMask) << rank_file::kHandlePositionShift;
  }
  bool Owns(uint64_t handle) const { return (handle ^ handle_prefix) >> rank_file::kHandleRingShift == 0; }
};

/** Counts for the owner of `ring`. One writer needs no atomic addition; the overflow ring has several. */
template <Path path = Path::kSlow>
inline void Count(const Ring& ring, uint64_t& counter) {
  if (path == Path::kSlow && Unlikely(ring.shared)) {
    __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
  } else {
    Store(counter, Load(counter) + 1);
  }
}

/** One record being written: Prepare, Put each part, Commit. */
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
 * Fetches what will be written soon: each second record begins a cache line and each 128th a page, and a callback that
 * waits for either is what its slowest ones consist of. Beyond the ring's end it fetches some bytes for nothing.
 */
inline void FetchForWrite(const rank_file::Slot* slot) {
#if defined(__x86_64__)
  // The compiler would choose prefetcht0, which shares a line that the recorder's thread has read. All x86-64 have it,
  // or take it for a nop.
  __asm__ volatile("prefetchw %0" : : "m"(*slot));
#else
  __builtin_prefetch(slot, 1);
#endif
}

[[gnu::always_inline]] inline void Put(Ring& ring, uint32_t kind, uint64_t position, uint32_t part, uint32_t parts,
                                       uint64_t word0, uint64_t word1, uint64_t word2) {
  // SlotMeta of position + part, in two terms of which one is a constant.
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
 * The reader's side. Acquire, so that a slot whose word 3 checks out is seen whole; the words may still be of two laps.
 */
inline rank_file::Slot LoadSlot(const rank_file::Slot& slot) {
  rank_file::Slot copy;
  for (int i = 3; i >= 0; --i) copy.words[i] = __atomic_load_n(&slot.words[i], __ATOMIC_ACQUIRE);
  return copy;
}

inline uint32_t SlotKind(const rank_file::Slot& slot) { return slot.words[3] & 0xFF; }
inline uint32_t SlotPart(const rank_file::Slot& slot) { return slot.words[3] >> 8 & 15; }
inline uint32_t SlotParts(const rank_file::Slot& slot) { return slot.words[3] >> 12 & 15; }

/** What word 3 must be for the other words, the kind and parts that it names, and this position. */
inline uint64_t ExpectedWord3(const rank_file::Slot& slot, uint64_t position) {
  return rank_file::SlotWord3(slot.words[0], slot.words[1], slot.words[2],
                              rank_file::SlotMeta(SlotKind(slot), SlotPart(slot), SlotParts(slot), position));
}
inline bool ChecksOut(const rank_file::Slot& slot, uint64_t position) {
  return SlotKind(slot) != rank_file::kEmpty && SlotPart(slot) < SlotParts(slot) &&
         slot.words[3] == ExpectedWord3(slot, position);
}

/** Two fields in one word, as the format's "a:32 b:32". */
inline uint64_t Pack32(uint32_t low, uint32_t high) { return uint64_t{low} | uint64_t{high} << 32; }

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_RECORD_RING_H_
