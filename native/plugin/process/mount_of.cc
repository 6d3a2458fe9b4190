#include "plugin/process/mount_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace nccl_trace {
namespace {

constexpr int kMountPointField = 4;  // from 0; the id is the first
constexpr const char* kBeforeType = " - ";
constexpr const char* kLocalTypes[] = {"ext4 ", "xfs ", "tmpfs ", "btrfs ", "overlay ", "zfs ", "ext3 ", "ext2 "};

/** The kernel writes blanks, tabs, line ends and backslashes as three octal digits. Decodes in place. */
void Unescape(char* text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  char* to = text;
  for (const char* from = text; *from != '\0';) {
    if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
      *to++ = static_cast<char>((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
      from += 4;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
}

/** The id at the beginning. Not by strtoull, which would bind us to a newer C library. */
uint64_t LeadingNumber(const char* text) {
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<uint64_t>(*text - '0');
  return number;
}

/** `type`: followed by a blank. */
bool IsLocal(const char* type) {
  for (const char* local : kLocalTypes) {
    if (strncmp(type, local, strlen(local)) == 0) return true;
  }
  return false;
}

bool IsBelow(const char* path, const char* point, size_t length) {
  if (length == 1) return path[0] == '/';  // the root
  return strncmp(path, point, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

}  // namespace

Mount MountOf(const char* path, const char* table) {
  Mount found = {};
  FILE* lines = fopen(table, "re");
  if (lines == nullptr) return found;
  char* line = nullptr;
  size_t room = 0;
  size_t longest = 0;
  while (getline(&line, &room, lines) > 0) {
    const char* type = strstr(line, kBeforeType);
    if (type == nullptr) continue;
    type += strlen(kBeforeType);
    const bool is_fuse = strncmp(type, "fuse", 4) == 0;
    const bool is_local = IsLocal(type);
    char* point = line;
    for (int i = 0; i < kMountPointField && point != nullptr; ++i) {
      point = strchr(point, ' ');
      if (point != nullptr) ++point;
    }
    char* end = point != nullptr ? strchr(point, ' ') : nullptr;
    if (end == nullptr) continue;
    *end = '\0';
    Unescape(point);
    const size_t length = strlen(point);
    // If several mounts have one mount point, the last one hides the others.
    if (length < longest || !IsBelow(path, point, length)) continue;
    longest = length;
    found = {LeadingNumber(line), is_fuse, is_local};
  }
  free(line);
  fclose(lines);
  return found;
}

}  // namespace nccl_trace
