// The ring file: the image in a file on tmpfs. Stores are as cheap and safe as into anonymous memory, and the file
// outlives the process. For the recorder's thread only.
//
//   /dev/shm/nccl-trace-<uid>/<process name>.ring
//   | header, directory, areas as in the rank file | RingFileTail: path of the rank file |
//   0                                  file_bytes                      + kRingFileTailBytes
//
// The folder must be private to the user (checked), so its files are as trustworthy as the user. A process removes its
// file when the rank file has everything. If a process is gone, another one saves and removes its file (neighbours.h).
// The pid says whether it is gone. For a process in another container the lock says it, unless the job has closed the
// descriptor.

#pragma once

#include <limits.h>

#include "plugin/process/descriptor_identity.h"
#include "plugin/process/process_name.h"
#include "plugin/process/settings.h"
#include "plugin/record/image.h"

namespace nccl_trace {

constexpr const char* kRingSuffix = ".ring";
constexpr const char* kClaimSuffix = ".claim";

struct RingFileTail {
  char path[rank_file::kRingFileTailBytes - sizeof(uint64_t)];  // NUL, zeros
  uint64_t mount_namespace;                                     // in which the path is valid. 0: unknown
};
static_assert(sizeof(RingFileTail) == rank_file::kRingFileTailBytes, "format");

struct RingFile {
  char folder[kRingDirectoryBytes + 32];                    // of all ring files. Empty: no ring file is wanted
  char path[kRingDirectoryBytes + 32 + kProcessNameBytes];  // empty: there is no ring file
  const char* failed;                                       // why there is none, if the user asked for one. Else null
  int error;                                                // errno of the failure, or 0
  int lock;                                                 // descriptor of the file, which holds the lock. -1: none
  DescriptorIdentity identity;                              // of lock
};

/** `local_ranks`: number of processes that need room in the tmpfs. Without base: `file` may say why. */
Image CreateRingFile(const Settings& settings, const ProcessName& process, uint64_t bytes, uint32_t local_ranks,
                     RingFile& file);

/** True if the folder is ours, closed to others and not a link. Else errno says why. */
bool IsPrivateFolder(int fd);

/** Writes the path of the rank file, for the process that saves these rings if we die. */
void NameRankFile(const Image& image, const char* path);

/**
 * True if a living process holds the ring file. False is no proof that it is gone, because a job may close descriptors
 * that it does not know.
 */
bool IsHeld(int fd);

/** Call it in the child after a fork. The child holds no lock. */
void ForgetRingFile(RingFile& file);

/** Removes the name and, if it was the last one, the folder. The mapping stays. */
void RemoveRingFile(const RingFile& file);

}  // namespace nccl_trace
