#include "plugin/persist/ring_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "plugin/persist/file_space.h"
#include "plugin/process/host_facts.h"

namespace nccl_trace {
namespace {

constexpr const char* kSharedMemory = "/dev/shm";
// Memory left for NCCL, which needs 32.6 MiB per rank with KernelCh to start, and for others, such as PyTorch's data
// loaders.
constexpr uint64_t kLeaveBytes = uint64_t{1} << 30;
constexpr uint64_t kLeavePerRankBytes = uint64_t{64} << 20;
constexpr uint64_t kMostOfMemory = 8;  // use at most an eighth of it
constexpr int kTries = 4;
// Ranks of one node start within this time.
constexpr uint64_t kTogetherSeconds = 60;

/** Opens the folder, or returns -1. Another process may remove it at any time if it is empty. */
int OpenFolder(const char* path) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return -1;
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || IsPrivateFolder(fd)) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool IsThere(Sign sign) { return sign == Sign::kAlive || sign == Sign::kUnknown; }

/** True for a ring file of this job: its process is alive, started at the same time, and its size is the same. */
bool IsSibling(int folder, const char* name, const ProcessName& self, uint64_t bytes) {
  ProcessName other;
  if (!ParseProcessName(name, kRingSuffix, other) || other.tag == self.tag || other.start == 0) return false;
  const uint64_t apart = other.start > self.start ? other.start - self.start : self.start - other.start;
  if (apart > kTogetherSeconds * static_cast<uint64_t>(sysconf(_SC_CLK_TCK))) return false;
  struct statx file;
  return statx(folder, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_SIZE, &file) == 0 && S_ISREG(file.stx_mode) &&
         file.stx_size == bytes + rank_file::kRingFileTailBytes && IsThere(LookFor(other, self.pid_namespace));
}

/** How many ranks of this node have their ring file already. */
uint32_t CountSiblings(const char* path, const ProcessName& self, uint64_t bytes) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return 0;
  DIR* entries = IsPrivateFolder(folder) ? fdopendir(folder) : nullptr;
  if (entries == nullptr) {
    close(folder);
    return 0;
  }
  uint32_t count = 0;
  while (const dirent* entry = readdir(entries)) count += IsSibling(folder, entry->d_name, self, bytes);
  closedir(entries);
  return count;
}

/**
 * True if there is room for all ranks of this node, because they start together. A tmpfs uses memory that the kernel
 * cannot reclaim, so near a memory limit pages of a disk file are better. Ranks that have started have taken their part,
 * so all ranks decide alike. The room is read before the ranks are counted, because a rank that starts in between has not
 * taken its part.
 */
bool HasRoom(uint64_t bytes, uint32_t local_ranks, const char* folder, const ProcessName& self) {
  struct statfs fs;
  if (statfs(kSharedMemory, &fs) != 0 || static_cast<uint64_t>(fs.f_type) != TMPFS_MAGIC) return false;
  const uint64_t available = fs.f_bavail * static_cast<uint64_t>(fs.f_bsize);
  const uint32_t siblings = CountSiblings(folder, self, bytes);
  const uint64_t to_come = siblings < local_ranks ? local_ranks - siblings : 1;
  return available >= kLeaveBytes + to_come * (kLeavePerRankBytes + bytes) &&
         MemoryLimit() / kMostOfMemory >= local_ranks * bytes;
}

/** Makes a new file. Returns its descriptor, or -1. */
int OpenNew(RingFile& file, const char* name) {
  for (int i = 0; i < kTries; ++i) {
    const int folder = OpenFolder(file.folder);
    if (folder < 0) {
      if (errno == ENOENT) continue;  // removed in between, or there is no parent
      return -1;
    }
    if (!MayBeMapped(folder)) {
      close(folder);
      errno = 0;
      return -1;
    }
    const int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int error = errno;
    close(folder);
    errno = error;
    if (fd >= 0 || error != ENOENT) return fd;
  }
  return -1;
}

/**
 * Locks for the process, not for the descriptor (as F_OFD_SETLK and flock do), so neither a child nor a copy of the
 * descriptor holds the lock.
 */
struct flock WholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/** Keeps the descriptor for the lock, or closes it where there are no locks. */
void Hold(int fd, RingFile& file) {
  struct flock lock = WholeFile();
  if (Identify(fd, file.identity) && fcntl(fd, F_SETLK, &lock) == 0) {
    file.lock = fd;
  } else {
    close(fd);  // the mapping keeps the file
  }
}

Image Map(int fd, uint64_t bytes) {
  const uint64_t all = bytes + rank_file::kRingFileTailBytes;
  if (!WriteZeros(fd, 0, all)) return {};
  void* memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return {};
  PreFault(memory, all);
  return {static_cast<uint8_t*>(memory), all, rank_file::kInRingFile};
}

}  // namespace

/** Uses statx, because fstat would bind us to glibc 2.33. */
bool IsPrivateFolder(int fd) {
  struct statx folder;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MODE | STATX_UID, &folder) != 0) return false;
  if (S_ISDIR(folder.stx_mode) && folder.stx_uid == geteuid() && (folder.stx_mode & 077) == 0) return true;
  errno = EACCES;
  return false;
}

Image CreateRingFile(const Settings& settings, const ProcessName& process, uint64_t bytes, uint32_t local_ranks,
                     RingFile& file) {
  file.path[0] = file.folder[0] = '\0';
  file.failed = nullptr;
  file.error = 0;
  file.lock = -1;
  if (settings.ring_place == RingPlace::kInRankFile) return {};
  const bool is_given = settings.ring_place == RingPlace::kGiven;
  snprintf(file.folder, sizeof(file.folder), "%s/nccl-trace-%u", is_given ? settings.ring_directory : kSharedMemory,
           static_cast<unsigned>(geteuid()));
  if (!is_given && !HasRoom(bytes, local_ranks, file.folder, process)) return {};
  char name[kProcessNameBytes];
  FormatProcessName(process, kRingSuffix, name);
  const int fd = OpenNew(file, name);
  Image image = {};
  if (fd >= 0) {
    snprintf(file.path, sizeof(file.path), "%s/%s", file.folder, name);
    image = Map(fd, bytes);
    if (image.base == nullptr) {
      const int error = errno;
      RemoveRingFile(file);
      file.path[0] = '\0';
      errno = error;
    }
  }
  if (image.base == nullptr && is_given) {
    file.error = errno;
    file.failed = file.error == 0 ? "its file system is none of tmpfs, ext4 and XFS" : strerror(file.error);
  }
  if (image.base != nullptr) {
    Hold(fd, file);
  } else if (fd >= 0) {
    close(fd);
  }
  return image;
}

bool IsHeld(int fd) {
  struct flock lock = WholeFile();
  lock.l_type = F_RDLCK;  // because the descriptor is for reading
  return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void ForgetRingFile(RingFile& file) {
  CloseIfStill(file.lock, file.identity);
  file.lock = -1;
}

void NameRankFile(const Image& image, const char* path) {
  auto* tail = reinterpret_cast<RingFileTail*>(image.base + image.bytes - sizeof(RingFileTail));
  snprintf(tail->path, sizeof(tail->path), "%s", path);
  tail->mount_namespace = MountNamespace();
}

void RemoveRingFile(const RingFile& file) {
  if (file.path[0] != '\0') unlink(file.path);
  if (file.folder[0] != '\0') rmdir(file.folder);  // fails while others are in it
}

}  // namespace nccl_trace
