// Copies rings into chunks before they are overwritten (stream mode). For the recorder's thread only.
//
// Rings that lie in the file survive a SIGKILL by themselves, so draining is lazy: a ring's turn comes when a good
// chunk has gathered in it. How long the thread may sleep follows from how fast the rings fill; a ring at rest counts
// as if a burst could begin at any moment.
//
//   positions      0 ........ next ................................. head
//                  in chunks  | copied now, if it checks out        |        next lap overwrites from head - capacity
//
// The head is never trusted alone. A slot goes into a chunk when it checks out at its position, and only if it cannot
// have been overwritten while it was copied: the head is read again afterwards. The first slot that does not check out
// ends the chunk; its producer is still at it, or (overflow ring) was put to sleep between taking the position and
// filling it. Only when the ring is about to be overwritten do such holes go into the chunk as they lie: a reader sees
// that they are none, and looks for the position in the ring.
//
// A ring that was faster than we are leaves a gap, which positions show exactly; it goes on with the oldest slots that
// are still there.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_DRAINER_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_DRAINER_H_

#include "plugin/persist/chunk_file.h"

namespace nccl_trace {

class Drainer {
 public:
  /** False: no memory for the copy. Once, before all else. */
  bool Allocate();

  /** `layout` and `chunks` are kept. */
  void Use(const Image& image, const FileLayout* layout, ChunkFile* chunks);

  enum class Outcome { kIdle, kDrained, kFailed };

  /**
   * At most one chunk, of the ring that needs it most. `now`: CLOCK_MONOTONIC, ns. kFailed: it could not be written.
   */
  Outcome DrainOnce(uint64_t now);

  /** Everything of a ring before this position is in chunks, or lost. */
  uint64_t Drained(uint32_t ring) const { return rings_[ring].next; }

  /** When draining is due again, in ns of the same clock. */
  uint64_t NextDue(uint64_t now) const;

 private:
  struct Progress {
    uint64_t next;    // position: everything before it is in chunks, or lost
    uint64_t head;    // when we last looked
    uint64_t per_s;   // slots per second
    bool is_held_up;  // there is a hole in front, and time left to wait for it
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
  uint64_t not_before_;     // ns: after a failure
  Progress rings_[kMaxLayoutRings];
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_DRAINER_H_
