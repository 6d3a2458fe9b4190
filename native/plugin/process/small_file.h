// Reads small files of /proc and /sys as text. For the recorder's thread only.

#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

namespace nccl_trace {

/** Reads the file's first bytes, NUL-terminated, cut to fit. False if there are none. */
inline bool ReadSmallFile(const char* path, char* text, size_t size) {
  text[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  const ssize_t got = read(fd, text, size - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  return true;
}

}  // namespace nccl_trace
