#include "plugin/process/host_facts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/process/process_name.h"
#include "plugin/process/small_file.h"

namespace nccl_trace {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

uint64_t LeadingNumber(const char* text) {
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<uint64_t>(*text - '0');
  return number;
}

/** "3c7d24c8-11a5-...": 32 digits and hyphens. */
void ReadBootId(uint8_t (&boot_id)[16]) {
  char text[64];
  if (!ReadSmallFile("/proc/sys/kernel/random/boot_id", text, sizeof(text))) return;
  int digits = 0;
  for (const char* c = text; *c != '\0' && digits < 32; ++c) {
    const int digit = HexDigit(*c);
    if (digit < 0) continue;
    boot_id[digits / 2] = static_cast<uint8_t>(boot_id[digits / 2] << 4 | digit);
    ++digits;
  }
}

/** The link reads "pid:[4026531836]". */
uint64_t ReadNamespace(const char* link) {
  char target[64] = "";
  if (readlink(link, target, sizeof(target) - 1) <= 0) return 0;
  const char* bracket = strchr(target, '[');
  return bracket != nullptr ? LeadingNumber(bracket + 1) : 0;
}

uint64_t ReadProcessStart() {
  ProcessStat stat;
  return ReadProcessStat("self", stat) ? stat.start : 0;
}

/** The executable's name. Not its arguments, because they may contain secrets. */
void ReadProgram(char (&program)[64]) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return;
  path[length] = '\0';
  const char* slash = strrchr(path, '/');
  snprintf(program, sizeof(program), "%.63s", slash != nullptr ? slash + 1 : path);
}

/**
 * The smallest limit in `file`, of the group at `path` and all its parents, because a pod's limit is often in a parent of
 * its containers' groups. Skips groups that a container cannot see.
 */
uint64_t LimitOf(const char* root, const char* path, int length, const char* file) {
  uint64_t least = ~uint64_t{0};
  for (;;) {
    char name[4200];
    char text[64];
    snprintf(name, sizeof(name), "%s%.*s%s", root, length, path, file);
    if (ReadSmallFile(name, text, sizeof(text)) && text[0] >= '0' && text[0] <= '9') {  // otherwise it is "max"
      const uint64_t limit = LeadingNumber(text);
      if (limit < least) least = limit;
    }
    if (length == 0) return least;
    do --length;
    while (length > 0 && path[length] != '/');
  }
}

}  // namespace

uint64_t MountNamespace() { return ReadNamespace("/proc/self/ns/mnt"); }

/** Lines read "0::/system.slice/x" (version 2) or "9:memory:/docker/x" (version 1). */
uint64_t MemoryLimit() {
  char text[4096];
  if (!ReadSmallFile("/proc/self/cgroup", text, sizeof(text))) return ~uint64_t{0};
  uint64_t least = ~uint64_t{0};
  for (const char* line = text; line != nullptr && *line != '\0';) {
    const char* const end = strchr(line, '\n');
    const char* const controllers = strchr(line, ':');
    const char* const path = controllers != nullptr ? strchr(controllers + 1, ':') : nullptr;
    if (path != nullptr && (end == nullptr || path < end)) {
      const int length = static_cast<int>(end != nullptr ? end - path - 1 : static_cast<long>(strlen(path + 1)));
      uint64_t limit = ~uint64_t{0};
      if (path == controllers + 1) {
        limit = LimitOf("/sys/fs/cgroup", path + 1, length, "/memory.max");
      } else if (strncmp(controllers, ":memory:", 8) == 0) {
        limit = LimitOf("/sys/fs/cgroup/memory", path + 1, length, "/memory.limit_in_bytes");
      }
      if (limit < least) least = limit;
    }
    line = end != nullptr ? end + 1 : nullptr;
  }
  return least;
}

HostFacts CollectHostFacts() {
  HostFacts facts;
  ReadBootId(facts.boot_id);
  facts.pid_namespace = ReadNamespace("/proc/self/ns/pid");
  facts.process_start = ReadProcessStart();
  gethostname(facts.host_name, sizeof(facts.host_name) - 1);
  ReadProgram(facts.program);
  return facts;
}

}  // namespace nccl_trace
