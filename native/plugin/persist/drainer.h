// Copies rings into chunks before they are overwritten (stream mode). For the recorder's thread only.
//
// Rings in the file survive a SIGKILL, so draining is lazy: a ring is drained when it has a good chunk. How long the
// thread may sleep follows from how fast the rings fill. For a ring at rest a burst may begin at any moment.
//
//   positions      0 ........ next ................................. head
//                  in chunks  | copied now, if it checks out        |        next lap overwrites from head - capacity
//
// A slot goes into a chunk if its check fits its position and it cannot have been overwritten while it was copied: the
// head is read again afterwards. The first slot whose check fails ends the chunk: its producer is still writing it, or
// (overflow ring) sleeps between taking the position and filling it. Such a hole goes into the chunk only if the ring is
// about to be overwritten. A reader sees the failed check and looks for the position in the ring.
//
// If a ring is faster than the drainer, positions show the gap exactly. Draining goes on with the oldest slots that are
// left.

#pragma once

#include "plugin/persist/chunk_file.h"

namespace nccl_trace {

class Drainer {
 public:
  /** Call it once, before all else. False: no memory for the copy. */
  bool Allocate();

  /** `layout` and `chunks` are kept. */
  void Use(const Image& image, const FileLayout* layout, ChunkFile* chunks);

  enum class Outcome { kIdle, kDrained, kFailed };

  /**
   * Writes at most one chunk, of the ring that needs it most. `now`: CLOCK_MONOTONIC, ns. kFailed: it was not written.
   */
  Outcome DrainOnce(uint64_t now);

  /** All of a ring before this position is in chunks or lost. */
  uint64_t Drained(uint32_t ring) const { return rings_[ring].next; }

  /** When draining is due again, CLOCK_MONOTONIC in ns. */
  uint64_t NextDue(uint64_t now) const;

 private:
  struct Progress {
    uint64_t next;    // position: all before it is in chunks or lost
    uint64_t head;    // at the last look
    uint64_t per_s;   // slots per second
    bool is_held_up;  // begins with a hole, and there is time to wait for it
  };

  void Look(uint64_t now);
  uint64_t Backlog(uint32_t ring) const;
  uint64_t GoodChunk(uint32_t ring) const;
  bool MustGo(uint32_t ring) const;
  uint32_t MostUrgent() const;
  ChunkSlots Gather(uint32_t ring);
  uint64_t NsUntilDue(uint32_t ring) const;

  Image image_;
  const FileLayout* layout_;
  ChunkFile* chunks_;
  rank_file::Slot* slots_;  // the copy: one chunk
  uint64_t looked_;         // ns
  uint64_t not_before_;     // ns: no try before this, after a failure
  Progress rings_[kMaxLayoutRings];
};

}  // namespace nccl_trace
