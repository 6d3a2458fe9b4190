#include "plugin/process/own_thread.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/process/process_name.h"

namespace nccl_trace {
namespace {

// No job of one node comes near, and counting takes some 20 us per process.
constexpr rlim_t kLarge = 16'384;

/** Threads of this user, as far as /proc shows them. */
uint64_t CountThreads(uint64_t enough) {
  DIR* const processes = opendir("/proc");
  if (processes == nullptr) return 0;
  uint64_t count = 0;
  while (count < enough) {
    const dirent* const entry = readdir(processes);
    if (entry == nullptr) break;
    struct statx folder;
    ProcessStat stat;
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
        statx(dirfd(processes), entry->d_name, 0, STATX_UID, &folder) != 0 || folder.stx_uid != getuid()) {
      continue;
    }
    if (ReadProcessStat(entry->d_name, stat)) count += stat.threads;
  }
  closedir(processes);
  return count;
}

}  // namespace

bool HasRoomForThreads(uint64_t wanted) {
  rlimit limit;
  // The kernel does not hold root to it.
  if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= kLarge) return true;
  return CountThreads(limit.rlim_cur) + wanted <= limit.rlim_cur;
}

}  // namespace nccl_trace
