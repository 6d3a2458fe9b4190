#include "plugin/persist/file_space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace nccl_trace {
namespace {

constexpr uint64_t kXfsMagic = 0x58465342;

/**
 * overlayfs is the root of every container. It maps a new file's pages from its upper layer and hides that layer's type.
 * The rest of its statfs is the upper layer's: btrfs counts no inodes, and ZFS has fragments smaller than its blocks.
 * ext4, XFS and tmpfs look different from both.
 */
bool UpperLayerIsInPlace(const struct statfs& fs) { return fs.f_files != 0 && fs.f_frsize == fs.f_bsize; }

}  // namespace

/**
 * On other file systems a store can be a network round trip, or a SIGBUS if copy-on-write finds no room (btrfs, ZFS, NFS,
 * Lustre, FUSE …).
 */
bool MayBeMapped(int fd) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0) return false;
  switch (static_cast<uint64_t>(fs.f_type)) {
    case EXT4_SUPER_MAGIC:  // also ext2 and ext3
    case kXfsMagic:
    case TMPFS_MAGIC:
      return true;
    case OVERLAYFS_SUPER_MAGIC:
      return UpperLayerIsInPlace(fs);
    default:
      return false;
  }
}

/** Reserves space, where the file system can, so that tens of MB need not be written to the disk. */
bool Reserve(int fd, uint64_t bytes) {
  int result;
  do {
    result = fallocate(fd, 0, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  return (errno == EOPNOTSUPP || errno == ENOSYS) && WriteZeros(fd, 0, bytes);
}

/**
 * Reserves space by writing zeros: a first store into a hole without room is a SIGBUS in the training job, and unwritten
 * extents of fallocate may need more room when they are converted.
 */
bool WriteZeros(int fd, uint64_t from, uint64_t bytes) {
  static const uint8_t zeros[1 << 16] = {};
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t left = bytes - done;
    const ssize_t wrote =
        pwrite(fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros), static_cast<off_t>(from + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<uint64_t>(wrote);
  }
  return true;
}

}  // namespace nccl_trace
