// The other recorders of this user on this node, seen through the folder of ring files. When one of them is gone, its
// rings are saved beside its rank file and its ring file is removed: by whoever notices first.
//
//   each second        processes of this pid namespace: gone or not is certain, unless it holds its lock
//   at the beginning,  what earlier jobs left, also those of other containers: their lock is gone and their last heartbeat
//   and once a minute  a minute old; rings that could not be saved in a day go, too; in a week, where only a container with
//                      other mounts may see their rank file
//
// A claim (a link that names the claimant, made with O_EXCL's promise) keeps several savers from the same work. Nothing
// rests on it: two savers would write the same bytes.
//
// Looking touches the folder of ring files only. Saving writes where the dead process wrote, which may be a mount that
// hangs for ever: it has threads of its own (ring_savers.h), and the recorder's goes on. But the kernel lets no process end while
// one of them waits for a FUSE server: onto such mounts only who writes there itself saves. For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_NEIGHBOURS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_NEIGHBOURS_H_

#include "plugin/host_facts.h"
#include "plugin/ring_file.h"
#include "plugin/ring_savers.h"

namespace nccl_trace {

class Neighbours {
 public:
  /** All are kept. `rank_file`: our own's path, which may be empty. */
  void Use(const RingFile* own, const char* rank_file, const ProcessName* self, const HostFacts* host);

  /** Has whoever is gone saved. `now`: CLOCK_BOOTTIME, ns. */
  void Look(uint64_t now);

  /** Until all that Look has begun is done, or CLOCK_MONOTONIC has passed `deadline_ns`. */
  void Await(uint64_t deadline_ns) const { savers_.AwaitAll(deadline_ns); }

 private:
  void Judge(int folder, const char* name, uint64_t now, bool is_thorough);
  void Rescue(int folder, const char* name, const ProcessName& process, uint64_t now);
  bool HasTried(uint64_t tag) const;
  void DropClaim(int folder, const char* name, bool even_ours);

  const RingFile* own_;  // null, or without a path: not used
  const char* rank_file_;
  const ProcessName* self_;
  const HostFacts* host_;
  uint64_t looks_;
  // Tags of the last ones that were begun since the last thorough look: none comes again before the next.
  static constexpr uint64_t kTried = 64;
  uint64_t tried_[kTried];
  uint64_t tries_;
  RingSavers savers_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_NEIGHBOURS_H_
