// NCCL_TRACE_KEEP: removes the files of old runs from the directory into which all jobs record, once, when a process begins to
// record. `nccl-trace prune` does the same by the verdict. This reads headers only, so it keeps every run of which a file was not
// closed in order: such a run was killed, hung, broke off, or still runs.
//
// Only folders directly below the directory are looked at, that belong to this user and hold nothing but rank files and
// saved rings of recorders. Links are not followed. Whatever is in doubt stays, and nothing that fails is tried again.
//
// Several processes may do this at once, on several nodes, and a run may begin meanwhile:
//
//   - A file is renamed before it is removed, and removed only if it is then the file that was judged. So a file that a new
//     run has made under the name of an old one is never removed, whoever removed the old one.
//   - A folder is removed only if it is empty. A recorder that finds its folder gone makes it again (rank_file_place.h).
//
// It has a thread of its own, because a directory of many runs on a slow mount takes long, and the recorder's thread must write a
// heartbeat each second.

#pragma once

#include "plugin/process/host_facts.h"
#include "plugin/process/settings.h"

namespace nccl_trace {

class OldRuns {
 public:
  /** Starts the thread if runs are to be removed. `folder`: the absolute path of our own run. Keeps the pointers. */
  void Remove(const Settings* settings, const char* folder, const HostFacts* host, uint64_t tag);

 private:
  static void* Main(void* self);

  const Settings* settings_;
  const HostFacts* host_;
  uint64_t tag_;
  char directory_[PATH_MAX];  // of all runs
};

}  // namespace nccl_trace
