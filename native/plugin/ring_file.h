// The ring file: the image in a file of its own, where stores are as cheap and safe as into anonymous memory, and where
// it outlives the process. For the recorder's thread only.
//
//   /dev/shm/nccl-trace-<uid>/<process name>.ring
//   | header, directory, areas as in the rank file | path of the rank file, NUL, zeros |
//   0                                  file_bytes                      + kRingFileTailBytes
//
// The folder is private to the user (checked, not assumed), so whatever is in it is as trustworthy as the user. The
// owner removes its file when the rank file has everything; a file whose owner is gone is saved and removed by others
// (neighbours.h).

#ifndef NCCL_TRACE_NATIVE_PLUGIN_RING_FILE_H_
#define NCCL_TRACE_NATIVE_PLUGIN_RING_FILE_H_

#include <limits.h>

#include "plugin/image.h"
#include "plugin/process_name.h"
#include "plugin/settings.h"

namespace nccl_trace {

constexpr const char* kRingSuffix = ".ring";
constexpr const char* kClaimSuffix = ".claim";

struct RingFile {
  char folder[kRingDirectoryBytes + 32];
  char path[kRingDirectoryBytes + 32 + kProcessNameBytes];  // empty: there is none
  const char* failed;                                       // why not, when the user asked for one; else null
  int error;                                                // errno of it, or 0
};

/** `local_ranks`: processes like this one that the tmpfs has to hold. No base: `file` may say why. */
Image CreateRingFile(const Settings& settings, const ProcessName& process, uint64_t bytes, uint32_t local_ranks,
                     RingFile& file);

/** Says where the rank file is, for who finds the ring file without its owner. */
void NameRankFile(const Image& image, const char* path);

/** Gives the name and, when this was the last one, the folder back. The mapping stays. */
void RemoveRingFile(const RingFile& file);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_RING_FILE_H_
