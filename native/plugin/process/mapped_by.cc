#include "plugin/process/mapped_by.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nccl_trace {
namespace {

/** kNothing: no memory is left. The first thread of a process has none once it has ended, even while others run. */
enum class Answer { kYes, kNo, kNothing, kUnknown };

/** `wanted`: a part of the file's line. */
Answer LookInto(const char* maps, const char* wanted) {
  const int fd = open(maps, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == ESRCH ? Answer::kNothing : Answer::kUnknown;
  char text[4096];
  const size_t length = strlen(wanted);
  size_t kept = 0;  // the end of the piece before, which may hold a part of what is wanted
  Answer answer = Answer::kNothing;
  for (;;) {
    const ssize_t got = read(fd, text + kept, sizeof(text) - kept);
    if (got <= 0) {
      if (got < 0 && errno != ESRCH) answer = Answer::kUnknown;
      break;
    }
    const size_t bytes = kept + static_cast<size_t>(got);
    answer = memmem(text, bytes, wanted, length) != nullptr ? Answer::kYes : Answer::kNo;
    if (answer == Answer::kYes) break;
    kept = bytes < length ? bytes : length;
    memmove(text, text + bytes - kept, kept);
  }
  close(fd);
  return answer;
}

}  // namespace

bool MayBeMappedBy(uint64_t pid, int fd) {
  struct statx file;
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &file) != 0) return true;
  char wanted[64];
  snprintf(wanted, sizeof(wanted), " %02x:%02x %" PRIu64 " ", file.stx_dev_major, file.stx_dev_minor,
           uint64_t{file.stx_ino});
  char path[NAME_MAX + 64];
  snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task", pid);
  DIR* const threads = opendir(path);
  if (threads == nullptr) return errno != ENOENT && errno != ESRCH;
  Answer answer = Answer::kNothing;
  while (answer == Answer::kNothing) {
    const dirent* const thread = readdir(threads);
    if (thread == nullptr) break;
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%s/maps", pid, thread->d_name);
    answer = LookInto(path, wanted);
  }
  closedir(threads);
  return answer == Answer::kYes || answer == Answer::kUnknown;
}

}  // namespace nccl_trace
