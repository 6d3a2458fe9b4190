// Threads that save the rings of processes that are gone, one thread for each process. They are separate because they
// write where the dead process wrote: on a mount that hangs, such a thread waits for ever, and only those rings are lost.
//
// For the recorder's thread only.

#pragma once

#include <atomic>

#include "plugin/process/process_name.h"

namespace nccl_trace {

/** The ring file of a process that is gone. We have its claim. */
struct Orphan {
  ProcessName process;
  int folder;               // the folder of ring files
  int rings;                // the file itself
  uint64_t own_mount;       // mount of our own rank file
  bool last_try;            // do not try again what cannot be saved
  bool last_try_elsewhere;  // nor what another process might have saved
};

class RingSavers {
 public:
  /** True if another thread can begin. */
  bool HasFree() const;
  /** True while a thread saves the rings of the process with this tag. */
  bool IsAt(uint64_t tag) const;
  /**
   * Starts a thread. Takes both descriptors. Rings that are saved, or not to be tried again, are removed with their claim.
   * Otherwise the rings stay, and the claim stays unless somebody else may save them. False: no thread could begin. The
   * descriptors are closed.
   */
  bool Begin(const Orphan& orphan);
  /** Waits until no thread is at work, or CLOCK_MONOTONIC has passed `deadline_ns`. */
  void AwaitAll(uint64_t deadline_ns) const;

 private:
  // Enough for all ranks of a node. If all of them hang, other recorders have their own.
  static constexpr int kMost = 8;

  struct Saver {
    std::atomic<bool> is_busy;
    Orphan orphan;  // belongs to the thread while is_busy
  };

  static void* Main(void* saver);

  Saver savers_[kMost];
};

}  // namespace nccl_trace
