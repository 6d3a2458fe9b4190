// A callback becomes one record (see the Kind comments of format/rank_file.h). This file has the common part; starts
// are in host_starts.h and proxy_starts.h, states and stops in states.h. The decoders (abi/v*.cc) know where fields are
// in NCCL's structures, so a new ABI version is one more decoder.
//
// All of it is inline: a decoder compiles into one function per callback, with one load of the thread-local pointer,
// and one more for the slow path (Path in ring.h). The fast path decides to leave a callback to the slow one before it
// changes anything; a start then returns kNotFast, a state or stop returns false.
//
// Parents and handles are recorded unchanged, all 64 bits.

#pragma once

#include "plugin/events/recorder.h"

namespace nccl_trace {

template <Path path>
[[gnu::always_inline]] inline uint64_t Tick() {
  return path == Path::kFast ? ReadCounter() : recorder.hot.Tick();
}

/** False, on the fast path only, if the text has no number yet or is long. */
template <Path path>
[[gnu::always_inline]] inline bool Intern(const char* text, StringRef& ref) {
  if constexpr (path == Path::kFast) return recorder.FindString(text, ref);
  ref = recorder.Intern(text);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles and contexts

constexpr uint64_t kNotFast = 0;  // no handle is

/** Sampled out by this process or, with PXN, by another process with this recorder. */
[[gnu::always_inline]] inline bool IsMuted(uint64_t handle) {
  constexpr uint64_t kOurs = rank_file::kHandleTagFixedBits | rank_file::kHandleMuted;
  return Unlikely((handle & kOurs) == kOurs);
}

/** Any number works, because nothing is looked up by it. */
inline uint64_t MutedHandle() { return recorder.hot.tag | rank_file::kHandleTagFixedBits | rank_file::kHandleMuted; }

template <Path path>
[[gnu::always_inline]] inline uint64_t Mute(Producer& producer) {
  Count<path>(*producer.rest, producer.rest->live->muted);
  return MutedHandle();
}

/** True if all but its 32-bit number is as we made it. The pointer is never dereferenced. */
[[gnu::always_inline]] inline bool IsOurContext(uint64_t context) {
  constexpr uint64_t kNumber = uint64_t{0xFFFFFFFF} << rank_file::kHandlePositionShift;
  return (context & ~kNumber) == recorder.hot.context_prefix;
}

inline uint32_t NumberOf(uint64_t context) { return static_cast<uint32_t>(context >> rank_file::kHandlePositionShift); }

/** The `comm` field. */
[[gnu::always_inline]] inline uint32_t CommOf(uint64_t context) {
  if (Unlikely(!IsOurContext(context))) return context == 0 ? rank_file::kCommNone : rank_file::kCommForeign;
  return NumberOf(context);
}

inline uint64_t Word(int32_t low, int32_t high) {
  return Pack32(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
}

// ---------------------------------------------------------------------------------------------------------------------
// The parts of starts, and starts of unknown types. Each returns the event's handle.

/** Handles and contexts as NCCL has them. */
inline uint64_t Number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/** Common to all starts. */
struct Start {
  uint64_t context;
  uint64_t parent;
};

/** One slot: tick, parent, comm and one more field. */
template <Path path>
[[gnu::always_inline]] inline uint64_t StartSimple(Producer& producer, rank_file::Kind kind, Start start,
                                                   uint32_t field) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  return ring.HandleAt(Append<path>(ring, kind, Tick<path>(), start.parent, Pack32(CommOf(start.context), field)));
}

/** The same with a second slot of one or two words. */
template <Path path>
[[gnu::always_inline]] inline uint64_t StartWithWord(Producer& producer, rank_file::Kind kind, Start start,
                                                     uint32_t field, uint64_t word, uint64_t next_word = 0) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<path>();
  const uint64_t position = Prepare<path>(ring, 2);
  Put(ring, kind, position, 0, 2, tick, start.parent, Pack32(CommOf(start.context), field));
  Put(ring, kind, position, 1, 2, word, next_word, 0);
  Commit<path>(ring, position, 2);
  return ring.HandleAt(position);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartUnknown(Producer& producer, Start start, int32_t rank, uint64_t type) {
  return StartWithWord<path>(producer, rank_file::kStartUnknown, start, static_cast<uint32_t>(rank), type);
}

}  // namespace nccl_trace
