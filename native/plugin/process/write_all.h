// Writes all bytes or fails. For the recorder's thread only.

#pragma once

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

namespace nccl_trace {

/** False: errno says why, or the disk takes no more. Part of the data may have been written. */
inline bool WriteAll(int fd, const void* data, uint64_t bytes, uint64_t offset) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const ssize_t wrote = pwrite(fd, at, bytes, static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    offset += static_cast<uint64_t>(wrote);
    bytes -= static_cast<uint64_t>(wrote);
  }
  return true;
}

}  // namespace nccl_trace
