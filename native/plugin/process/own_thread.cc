#include "plugin/process/own_thread.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/process/process_name.h"
#include "plugin/process/small_file.h"

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

constexpr uint64_t kNoLimit = ~uint64_t{0};

/** The number in a control group's file. kNoLimit: it says "max", or there is none. */
uint64_t NumberOfGroup(const char* mount, const char* group, const char* file) {
  char path[2 * PATH_MAX];
  char text[32];
  snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
  if (!ReadSmallFile(path, text, sizeof(text)) || text[0] < '0' || text[0] > '9') return kNoLimit;
  uint64_t number = 0;
  for (const char* digit = text; *digit >= '0' && *digit <= '9'; ++digit)
    number = number * 10 + static_cast<uint64_t>(*digit - '0');
  return number;
}

/**
 * How many threads the group and those above it leave. In a container the group's path may be the host's: then only the
 * last look, at the mount itself, finds something, which is the container's own group.
 */
uint64_t RoomInGroups(const char* mount, char* group) {
  uint64_t room = kNoLimit;
  for (;;) {
    const uint64_t most = NumberOfGroup(mount, group, "pids.max");
    const uint64_t current = NumberOfGroup(mount, group, "pids.current");
    const uint64_t left = most == kNoLimit || current == kNoLimit ? kNoLimit : current < most ? most - current : 0;
    if (left < room) room = left;
    char* const slash = strrchr(group, '/');
    if (slash == nullptr) return room;
    *slash = '\0';
  }
}

/** By the groups of this process: of cgroup v2, or of v1's pids controller. */
uint64_t RoomInGroups() {
  FILE* const groups = fopen("/proc/self/cgroup", "re");
  if (groups == nullptr) return kNoLimit;
  uint64_t room = kNoLimit;
  char line[PATH_MAX];
  while (fgets(line, sizeof(line), groups) != nullptr) {
    line[strcspn(line, "\n")] = '\0';
    char* const controllers = strchr(line, ':');
    char* const path = controllers != nullptr ? strchr(controllers + 1, ':') : nullptr;
    if (path == nullptr) continue;
    *path = '\0';
    const bool is_v2 = controllers[1] == '\0';
    if (!is_v2 && strcmp(controllers + 1, "pids") != 0) continue;
    const uint64_t here = RoomInGroups(is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids", path + 1);
    if (here < room) room = here;
  }
  fclose(groups);
  return room;
}

}  // namespace

bool HasRoomForThreads(uint64_t wanted) {
  if (RoomInGroups() < wanted) return false;
  rlimit limit;
  // The kernel does not hold root to it.
  if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= kLarge) return true;
  return CountThreads(limit.rlim_cur) + wanted <= limit.rlim_cur;
}

}  // namespace nccl_trace
