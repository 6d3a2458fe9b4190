// Saving the rings of a process that is gone: from its ring file to a file beside its rank file, where readers look for
// them. For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_SAVED_RINGS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_SAVED_RINGS_H_

#include <stddef.h>
#include <stdint.h>

#include "plugin/process/process_name.h"

namespace nccl_trace {

/** rank00003.bin -> rank00003.bin.rings */
void SavedRingsPath(const char* rank_file, char* path, size_t size);

enum class Saved {
  kDone,       // they are saved, now or by somebody before
  kNothing,    // there is nothing to save, or nowhere: the run's folder is gone, or no file could ever be made there
  kNotYet,     // no room, no permission, a disk that fails...: worth another try
  kElsewhere,  // its mounts were not ours, and its rank file is not to be seen here, or not to be used; or its mount
               // is FUSE and none that we write to: for somebody else
};

/**
 * `fd`: the ring file of `process`, of which no thread is left. Nothing that exists is overwritten, but for what a
 * saver left unfinished. The header comes last: until then a reader finds none. `own_mount`: of our own rank file, 0 if
 * unknown.
 */
Saved SaveRings(int fd, const ProcessName& process, uint64_t own_mount);

/** Of errno: no file can be made there, and waiting for room or for a server does not help. */
bool IsNoPlace(int error);

/** CLOCK_BOOTTIME in ns when the process of this ring file was last known to live; 0: of another boot, or never. */
uint64_t LastSignOfLife(int fd, const uint8_t (&boot_id)[16]);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_SAVED_RINGS_H_
