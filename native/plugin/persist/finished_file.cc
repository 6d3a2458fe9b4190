#include "plugin/persist/finished_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/persist/crc32.h"
#include "plugin/record/file_layout.h"

namespace nccl_trace {

using rank_file::FileHeader;

int OpenOwn(int folder, const char* path, int flags) {
  const int fd = openat(folder, path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  struct statx file;
  const bool is_known = statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_UID, &file) == 0;
  if (is_known && S_ISREG(file.stx_mode) && file.stx_uid == geteuid()) return fd;
  const int error = is_known ? EEXIST : errno;
  close(fd);
  errno = error;
  return -1;
}

bool ReadAll(int fd, void* to, uint64_t bytes, uint64_t offset) {
  uint8_t* at = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(fd, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return true;
}

bool IsHeader(const FileHeader& header) {
  FileHeader unchecked;
  memcpy(&unchecked, &header, sizeof(header));
  unchecked.header_crc = 0;
  return memcmp(header.magic, rank_file::kMagic, sizeof(header.magic)) == 0 &&
         Crc32(&unchecked, rank_file::kHeaderFixedBytes) == header.header_crc;
}

LastBeat LastHeartbeat(int fd, const FileHeader& header) {
  using rank_file::kClockSampleSlots;
  LastBeat last = {};
  rank_file::AreaEntry areas[kMaxAreas];
  if (header.area_count > kMaxAreas ||
      !ReadAll(fd, areas, sizeof(areas[0]) * header.area_count, header.directory_offset)) {
    return last;
  }
  for (uint32_t i = 0; i < header.area_count; ++i) {
    if (areas[i].area_class != rank_file::kTableHeartbeat) continue;
    rank_file::Slot slots[2 * kClockSampleSlots];
    if (!ReadAll(fd, slots, sizeof(slots), areas[i].slots_offset)) continue;
    for (uint32_t at = 0; at < 2 * kClockSampleSlots; at += kClockSampleSlots) {
      if (slots[at + 1].words[1] > last.boottime) last = {slots[at].words[1], slots[at + 1].words[1]};
    }
  }
  return last;
}

}  // namespace nccl_trace
