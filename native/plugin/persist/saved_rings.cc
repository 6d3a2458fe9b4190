#include "plugin/persist/saved_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/persist/crc32.h"
#include "plugin/persist/finished_file.h"
#include "plugin/persist/ring_file.h"
#include "plugin/process/host_facts.h"
#include "plugin/process/mount_of.h"
#include "plugin/process/write_all.h"
#include "plugin/record/file_layout.h"

namespace nccl_trace {
namespace {

using rank_file::FileHeader;

constexpr uint64_t kPiece = uint64_t{1} << 18;
constexpr const char* kRankFileEnd = ".bin";
constexpr int kMostNames = 100;

/**
 * Says whose file this is: a rank file of the tag, one that its owner had not begun (all zero), or another's. kUnknown:
 * the disk does not answer now.
 */
enum class Owner { kOurs, kNobody, kOther, kUnknown };

Owner OwnerOf(const char* path, uint64_t tag) {
  const int fd = OpenOwn(AT_FDCWD, path, O_RDONLY);
  if (fd < 0) {
    if (errno == ENOENT) return Owner::kNobody;
    return errno == ENOTDIR || errno == ELOOP || errno == EEXIST ? Owner::kOther : Owner::kUnknown;
  }
  FileHeader header;
  memset(&header, 0, sizeof(header));
  const bool read = ReadAll(fd, &header, sizeof(header), 0);
  const bool has_failed = !read && errno != 0;
  close(fd);
  if (has_failed) return Owner::kUnknown;
  if (read && IsHeader(header)) return header.tag == tag ? Owner::kOurs : Owner::kOther;
  constexpr uint8_t kZeros[sizeof(header.magic)] = {};
  return memcmp(header.magic, kZeros, sizeof(kZeros)) == 0 ? Owner::kNobody : Owner::kOther;
}

bool IsZero(const uint64_t* words, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
    if (words[i] != 0) return false;
  }
  return true;
}

/** The header of the new file, which has its rings itself. */
FileHeader SavedHeader(const FileHeader& header) {
  FileHeader saved;
  memcpy(&saved, &header, sizeof(saved));
  saved.placement = rank_file::kInFile;
  saved.copy_interval_ms = 0;
  saved.copied_tick = 0;
  saved.header_crc = 0;
  saved.header_crc = Crc32(&saved, rank_file::kHeaderFixedBytes);
  return saved;
}

/** Copies the header last, when all else is on the disk, because the ring file is removed next. Zeros stay holes. */
bool Copy(int from, int to, const FileHeader& header) {
  uint64_t* piece = static_cast<uint64_t*>(malloc(kPiece));
  if (piece == nullptr) return false;
  bool ok = ftruncate(to, static_cast<off_t>(header.chunks_offset)) == 0;
  for (uint64_t at = rank_file::kHeaderBytes; ok && at < header.chunks_offset;) {
    const uint64_t left = header.chunks_offset - at;
    const uint64_t bytes = left < kPiece ? left : kPiece;
    ok = ReadAll(from, piece, bytes, at) && (IsZero(piece, bytes) || WriteAll(to, piece, bytes, at));
    at += bytes;
  }
  const int error = errno;
  free(piece);
  errno = error;
  if (!ok || fsync(to) != 0) return false;
  const FileHeader saved = SavedHeader(header);
  return WriteAll(to, &saved, sizeof(saved), 0) && fsync(to) == 0;
}

/** Reads the tail behind the areas, if the header is valid. */
bool ReadHome(int fd, const FileHeader& header, RingFileTail& tail) {
  if (!ReadAll(fd, &tail, sizeof(tail), header.chunks_offset)) return false;
  const size_t length = strnlen(tail.path, sizeof(tail.path));
  const size_t end = strlen(kRankFileEnd);
  return length < sizeof(tail.path) && length > end && tail.path[0] == '/' &&
         strcmp(tail.path + length - end, kRankFileEnd) == 0;
}

bool ReadHeader(int fd, uint64_t tag, FileHeader& header) {
  return ReadAll(fd, &header, sizeof(header), 0) && IsHeader(header) && header.tag == tag &&
         header.life != rank_file::kCreating && header.chunks_offset > rank_file::kHeaderBytes &&
         header.chunks_offset % rank_file::kChunkAlignment == 0 && header.area_count <= kMaxAreas;
}

/** True if nothing reached a disk and nothing will. If there were copies, the permission may come back. */
bool NeverHadPlace(const FileHeader& header, int error) { return header.copied_tick == 0 && IsNoPlace(error); }

/** kTaken: something else has the name. */
Saved SaveBeside(int fd, const FileHeader& header, const char* rank_file) {
  char path[PATH_MAX];
  SavedRingsPath(rank_file, path, sizeof(path));
  switch (OwnerOf(path, header.tag)) {
    case Owner::kOurs:
      return Saved::kDone;
    case Owner::kOther:
      return Saved::kTaken;
    case Owner::kUnknown:
      return Saved::kNotYet;
    case Owner::kNobody:
      break;
  }
  int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0 && errno == EEXIST) to = OpenOwn(AT_FDCWD, path, O_WRONLY);  // an earlier saver died
  if (to < 0) {
    const bool has_gone = errno == ENOENT || errno == ENOTDIR;
    return has_gone || NeverHadPlace(header, errno) ? Saved::kNothing : Saved::kNotYet;
  }
  const bool is_copied = Copy(fd, to, header);
  // Close can fail: a file server may notice only now that it has no room.
  if (close(to) == 0 && is_copied) return Saved::kDone;
  unlink(path);  // half a file is useless and may fill the disk
  return Saved::kNotYet;
}

}  // namespace

bool IsNoPlace(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == ENOENT || error == ENOTDIR || error == ELOOP ||
         error == ENAMETOOLONG;
}

void SavedRingsPath(const char* rank_file, char* path, size_t size) { snprintf(path, size, "%s.rings", rank_file); }

Saved SaveRings(int fd, const ProcessName& process, uint64_t own_mount) {
  FileHeader header;
  RingFileTail home;
  errno = 0;  // stays 0 if the file's bytes are wrong
  if (!ReadHeader(fd, process.tag, header) || !ReadHome(fd, header, home))
    return errno == 0 ? Saved::kNothing : Saved::kNotYet;
  const char* const rank_file = home.path;
  const Mount mount = MountOf(rank_file);
  if (mount.is_fuse && mount.id != own_mount) return Saved::kElsewhere;
  Owner owner = OwnerOf(rank_file, header.tag);
  // In another mount namespace the path may be another place, no place, or not writable. A process there sees the right
  // one.
  if (home.mount_namespace != 0 && home.mount_namespace != MountNamespace()) {
    const bool is_saved = owner == Owner::kOurs && SaveBeside(fd, header, rank_file) == Saved::kDone;
    return is_saved ? Saved::kDone : Saved::kElsewhere;
  }
  if (owner == Owner::kUnknown) return NeverHadPlace(header, errno) ? Saved::kNothing : Saved::kNotYet;
  Saved saved = owner == Owner::kOther ? Saved::kTaken : SaveBeside(fd, header, rank_file);
  // Another file has the name: it died before it had a rank file, or somebody put a link there. Use the names that it would
  // have tried next.
  char other[sizeof(home.path) + 64];
  const int stem = static_cast<int>(strlen(rank_file) - strlen(kRankFileEnd));
  for (int i = 1; saved == Saved::kTaken && i < kMostNames; ++i) {
    char number[16] = "";
    if (i > 1) snprintf(number, sizeof(number), ".%d", i);
    snprintf(other, sizeof(other), "%.*s.%" PRIu64 "%s%s", stem, rank_file, process.pid, number, kRankFileEnd);
    owner = OwnerOf(other, header.tag);
    if (owner == Owner::kUnknown) return Saved::kNotYet;
    if (owner != Owner::kOther) saved = SaveBeside(fd, header, other);
  }
  return saved == Saved::kTaken ? Saved::kNotYet : saved;
}

uint64_t LastSignOfLife(int fd, const uint8_t (&boot_id)[16]) {
  FileHeader header;
  if (!ReadAll(fd, &header, sizeof(header), 0) || !IsHeader(header)) return 0;
  return memcmp(header.boot_id, boot_id, sizeof(boot_id)) == 0 ? LastHeartbeat(fd, header).boottime : 0;
}

}  // namespace nccl_trace
