// Which file or socket a descriptor is. A job that closes all descriptors it does not know, or one of them twice, may have
// given a number of ours to something of its own: that must not be written to, read from or closed by us. So whoever keeps
// a descriptor looks before each use.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_DESCRIPTOR_IDENTITY_H_
#define NCCL_TRACE_NATIVE_PLUGIN_DESCRIPTOR_IDENTITY_H_

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nccl_trace {

/** All zero: of nothing. */
struct DescriptorIdentity {
  uint64_t device;
  uint64_t inode;
};

/** False with errno. By statx, because fstat would bind us to glibc 2.33; a file server need not be asked. */
inline bool Identify(int fd, DescriptorIdentity& identity) {
  struct statx file;
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &file) != 0) return false;
  identity = {uint64_t{file.stx_dev_major} << 32 | file.stx_dev_minor, file.stx_ino};
  return true;
}

/** False, errno EBADF: it is closed, or something else now. */
inline bool IsStill(int fd, const DescriptorIdentity& identity) {
  DescriptorIdentity now;
  if (Identify(fd, now) && now.device == identity.device && now.inode == identity.inode) return true;
  errno = EBADF;
  return false;
}

/** The same file by its path, after its descriptor was lost. -1 with errno; ESTALE: another file has the path by now. */
inline int OpenAgain(const char* path, const DescriptorIdentity& identity) {
  const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || IsStill(fd, identity)) return fd;
  close(fd);
  errno = ESTALE;
  return -1;
}

/** Only calls that are safe in a forked child. */
inline void CloseIfStill(int fd, const DescriptorIdentity& identity) {
  if (fd >= 0 && IsStill(fd, identity)) close(fd);
}

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_DESCRIPTOR_IDENTITY_H_
