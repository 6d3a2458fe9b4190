// Facts about this process and its host, from /proc and the kernel. For the recorder's thread only.

#pragma once

#include <stdint.h>

namespace nccl_trace {

/** Unknown fields stay zero. */
struct HostFacts {
  uint8_t boot_id[16] = {};
  uint64_t pid_namespace = 0;
  uint64_t process_start = 0;  // clock ticks since boot
  char host_name[64] = "";
  char program[64] = "";
};

HostFacts CollectHostFacts();

/** The mount namespace, as the inode of /proc/self/ns/mnt. 0: unknown. */
uint64_t MountNamespace();

/** Memory limit of the process's control group (either version), in bytes; 2^64 - 1: no visible limit. */
uint64_t MemoryLimit();

}  // namespace nccl_trace
