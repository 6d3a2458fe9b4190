// On which mount a path lies, from the kernel's table alone: no file system is asked, because one that hangs never answers.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_MOUNT_OF_H_
#define NCCL_TRACE_NATIVE_PLUGIN_MOUNT_OF_H_

#include <stdint.h>

namespace nccl_trace {

struct Mount {
  uint64_t id;   // 0: not known
  bool is_fuse;  // a process of somebody's answers for it, or does not
};

/** `path`: absolute, without links. `table`: as /proc/self/mountinfo. */
Mount MountOf(const char* path, const char* table = "/proc/self/mountinfo");

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_MOUNT_OF_H_
