// Watches the other recorders of this user on this node, through the folder of ring files. When a process is gone, the
// first recorder that notices saves its rings beside its rank file and removes its ring file.
//
//   each second        processes of this pid namespace, for which it is certain whether they are gone
//   at the beginning   also files of earlier jobs and of other containers, if their lock is gone and their last heartbeat
//   and each minute    is a minute old. Rings that could not be saved are removed after a day, or after a week if only a
//                      container with other mounts may see their rank file
//
// A claim (a link that names the claimant, created atomically) keeps several savers from the same work. Correctness
// does not depend on it: two savers would write the same bytes.
//
// Looking reads only the folder of ring files. Saving writes where the dead process wrote, which may be a mount that hangs
// for ever, so it has threads of its own (ring_savers.h). No process can end while a thread waits for a FUSE server, so a
// recorder saves onto a FUSE mount only if it writes its own file there. For the recorder's thread only.

#pragma once

#include "plugin/persist/ring_file.h"
#include "plugin/persist/ring_savers.h"
#include "plugin/process/host_facts.h"

namespace nccl_trace {

class Neighbours {
 public:
  /** Keeps the pointers. `rank_file`: path of our own rank file, may be empty. */
  void Use(const RingFile* own, const char* rank_file, const ProcessName* self, const HostFacts* host);

  /** Starts saving the rings of processes that are gone. `now`: CLOCK_BOOTTIME, ns. */
  void Look(uint64_t now);

  /** Waits until all savers are done, or until CLOCK_MONOTONIC reaches `deadline_ns`. */
  void Await(uint64_t deadline_ns) const { savers_.AwaitAll(deadline_ns); }

 private:
  void Judge(int folder, const char* name, uint64_t now, bool is_thorough);
  void Rescue(int folder, const char* name, const ProcessName& process, uint64_t now);
  bool HasTried(uint64_t tag) const;
  void DropClaim(int folder, const char* name, bool even_ours);

  const RingFile* own_;  // null or without a path: there is none
  const char* rank_file_;
  const ProcessName* self_;
  const HostFacts* host_;
  uint64_t looks_;
  // Tags of processes tried since the last thorough look. They are not tried again before the next one.
  static constexpr uint64_t kTried = 64;
  uint64_t tried_[kTried];
  uint64_t tries_;
  RingSavers savers_;
};

}  // namespace nccl_trace
