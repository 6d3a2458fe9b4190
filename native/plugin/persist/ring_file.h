// The ring file: the image in a file of its own, where stores are as cheap and safe as into anonymous memory, and where
// it outlives the process. For the recorder's thread only.
//
//   /dev/shm/nccl-trace-<uid>/<process name>.ring
//   | header, directory, areas as in the rank file | RingFileTail: path of the rank file |
//   0                                  file_bytes                      + kRingFileTailBytes
//
// The folder is private to the user (checked, not assumed), so whatever is in it is as trustworthy as the user. The
// owner removes its file when the rank file has everything; a file whose owner is gone is saved and removed by others
// (neighbours.h). Where its pid says nothing, in another container, its lock does, as long as the job leaves us the
// descriptor.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_FILE_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_FILE_H_

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
  uint64_t mount_namespace;                                     // in which the path holds; 0: unknown
};
static_assert(sizeof(RingFileTail) == rank_file::kRingFileTailBytes, "format");

struct RingFile {
  char folder[kRingDirectoryBytes + 32];                    // also where others have theirs; empty: not asked for
  char path[kRingDirectoryBytes + 32 + kProcessNameBytes];  // empty: there is none
  const char* failed;                                       // why not, when the user asked for one; else null
  int error;                                                // errno of it, or 0
  int lock;                                                 // its descriptor, which holds a lock on it; -1: none
  DescriptorIdentity identity;                              // of lock
};

/** `local_ranks`: processes like this one that the tmpfs has to hold. No base: `file` may say why. */
Image CreateRingFile(const Settings& settings, const ProcessName& process, uint64_t bytes, uint32_t local_ranks,
                     RingFile& file);

/** Ours, nobody else may enter, and no link to elsewhere. Else errno says why. */
bool IsPrivateFolder(int fd);

/** Says where the rank file is, for who finds the ring file without its owner. */
void NameRankFile(const Image& image, const char* path);

/**
 * Whether a living process holds the ring file of this descriptor. False is no proof: a job may close what it does not
 * know.
 */
bool IsHeld(int fd);

/** In the child after a fork, which holds no lock. */
void ForgetRingFile(RingFile& file);

/** Gives the name and, when this was the last one, the folder back. The mapping stays. */
void RemoveRingFile(const RingFile& file);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RING_FILE_H_
