// Threads that save the rings of processes that are gone, one for each, as short-lived as the disk lets them. Their
// own, because they write where the dead process wrote: on a mount that hangs such a thread waits for ever, and with it
// only the rings that could not be saved anyway.
//
// For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_SAVERS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_SAVERS_H_

#include <atomic>

#include "plugin/process/process_name.h"

namespace nccl_trace {

/** The ring file of a process that is gone, claimed by us. */
struct Orphan {
  ProcessName process;
  int folder;               // of ring files
  int rings;                // the file itself
  uint64_t own_mount;       // of our own rank file
  bool last_try;            // what we could not save
  bool last_try_elsewhere;  // what others might have
};

class RingSavers {
 public:
  /** Whether another one can begin. */
  bool HasFree() const;
  /** One is at the rings of the process with this tag. */
  bool IsAt(uint64_t tag) const;
  /**
   * Takes both descriptors. What is saved, and what is not to be tried again, is removed with its claim; else both
   * stay, but that what somebody else may save is not held by a claim of ours. False: it could not begin, and the
   * descriptors are closed.
   */
  bool Begin(const Orphan& orphan);
  /** Until none is at work, or CLOCK_MONOTONIC has passed `deadline_ns`. */
  void AwaitAll(uint64_t deadline_ns) const;

 private:
  // Enough for all ranks of a node. If so many hang, other recorders still have theirs.
  static constexpr int kMost = 8;

  struct Saver {
    std::atomic<bool> is_busy;
    Orphan orphan;  // the thread's while is_busy
  };

  static void* Main(void* saver);

  Saver savers_[kMost];
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_SAVERS_H_
