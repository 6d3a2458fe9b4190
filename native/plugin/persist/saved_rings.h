// Saves the rings of a process that is gone: from its ring file to a file beside its rank file, where readers look for
// them. For the recorder's thread only.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "plugin/process/process_name.h"

namespace nccl_trace {

/** rank00003.bin -> rank00003.bin.rings */
void SavedRingsPath(const char* rank_file, char* path, size_t size);

enum class Saved {
  kDone,       // they are saved, now or before
  kNothing,    // nothing to save, or no place: the run's folder is gone, or no file could ever be made there
  kTaken,      // only within SaveRings: the name is in use
  kNotYet,     // no room, no permission, a failing disk …: try again later
  kElsewhere,  // for another process: the mounts are not ours and the rank file is not visible or usable here, or the
               // mount is FUSE and we write no file there
};

/**
 * `fd`: the ring file of `process`, which has no threads left. Overwrites nothing but an unfinished file of another saver.
 * Writes the header last, so a reader never finds half a file. `own_mount`: the mount of our own rank file, 0 if unknown.
 */
Saved SaveRings(int fd, const ProcessName& process, uint64_t own_mount);

/** True if the errno says that no file can be made there, and waiting for room or for a server does not help. */
bool IsNoPlace(int error);

/** CLOCK_BOOTTIME in ns when the process of this ring file was last known to live. 0: in another boot, or never. */
uint64_t LastSignOfLife(int fd, const uint8_t (&boot_id)[16]);

}  // namespace nccl_trace
