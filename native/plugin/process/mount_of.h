// Finds the mount of a path. Reads only the kernel's table, because a file system that hangs would never answer.

#pragma once

#include <stdint.h>

namespace nccl_trace {

struct Mount {
  uint64_t id;    // 0: not known
  bool is_fuse;   // a process serves it, which may not answer
  bool is_local;  // a disk or memory of this machine
};

/** `path`: absolute, without links. `table`: as /proc/self/mountinfo. */
Mount MountOf(const char* path, const char* table = "/proc/self/mountinfo");

}  // namespace nccl_trace
