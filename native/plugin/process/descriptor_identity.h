// Identifies the file or socket of a descriptor. A job that closes descriptors it does not know, or closes one twice,
// may reuse a number of ours for its own file, which we must not write, read or close. So we check a descriptor before
// each use.

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nccl_trace {

/** All zero: no file. */
struct DescriptorIdentity {
  uint64_t device;
  uint64_t inode;
};

/** False with errno. Uses statx, because fstat would bind us to glibc 2.33. Does not ask a file server. */
inline bool Identify(int fd, DescriptorIdentity& identity) {
  struct statx file;
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &file) != 0) return false;
  identity = {uint64_t{file.stx_dev_major} << 32 | file.stx_dev_minor, file.stx_ino};
  return true;
}

/** False with errno EBADF: the descriptor is closed, or another file now. */
inline bool IsStill(int fd, const DescriptorIdentity& identity) {
  DescriptorIdentity now;
  if (Identify(fd, now) && now.device == identity.device && now.inode == identity.inode) return true;
  errno = EBADF;
  return false;
}

/**
 * Opens the same file by its path, after its descriptor was lost. -1 with errno. ESTALE: another file has the path now.
 */
inline int OpenAgain(const char* path, const DescriptorIdentity& identity) {
  const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || IsStill(fd, identity)) return fd;
  close(fd);
  errno = ESTALE;
  return -1;
}

/** Makes only calls that are safe in a forked child. */
inline void CloseIfStill(int fd, const DescriptorIdentity& identity) {
  if (fd >= 0 && IsStill(fd, identity)) close(fd);
}

}  // namespace nccl_trace
