// Reads the file of another recorder, which may have ended: whether it is one, and how its header says that it ended. For the
// recorder's thread and its helpers only.

#pragma once

#include <stdint.h>

#include "format/rank_file.h"

namespace nccl_trace {

/** Opens a regular file of this user, below `folder`. -1 with errno. EEXIST: it is something else. */
int OpenOwn(int folder, const char* path, int flags);

/** False: errno says why, or is 0 if the file is too short. */
bool ReadAll(int fd, void* to, uint64_t bytes, uint64_t offset);

/** True if magic and checksum are right. */
bool IsHeader(const rank_file::FileHeader& header);

/** The newest heartbeat, in ns. 0: there is none. */
struct LastBeat {
  uint64_t realtime;
  uint64_t boottime;
};
LastBeat LastHeartbeat(int fd, const rank_file::FileHeader& header);

}  // namespace nccl_trace
