#include "plugin/persist/rank_file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/persist/file_space.h"
#include "plugin/persist/saved_rings.h"

namespace nccl_trace {
namespace {

constexpr int kMostNames = 100;
constexpr int kMostFolders = 8;

/** As mkdir -p. Does not change folders that exist. */
bool MakeFolders(const char* folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s", folder);
  for (char* slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != nullptr) *slash = '\0';
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
      // The parent may exist without write or search permission: the next step fails then.
      const int error = errno;
      if (access(path, F_OK) != 0) {
        errno = error;
        return false;
      }
    }
    if (slash == nullptr) return true;
    *slash = '/';
  }
}

/** The names in the order of tries: rank00003.bin, rank00003.<pid>.bin, rank00003.<pid>.2.bin … */
void FileName(const Settings& settings, const HostFacts& host, int attempt, char* name, size_t size) {
  const int pid = getpid();
  char stem[96];
  if (settings.rank.rank >= 0) {
    snprintf(stem, sizeof(stem), "rank%05d", settings.rank.rank);
  } else {
    snprintf(stem, sizeof(stem), "rank-%.60s-%d", host.host_name, pid);
    ++attempt;  // the first name has the pid already
  }
  if (attempt == 0 || (attempt == 1 && settings.rank.rank < 0)) {
    snprintf(name, size, "%s.bin", stem);
  } else if (attempt == 1) {
    snprintf(name, size, "%s.%d.bin", stem, pid);
  } else if (settings.rank.rank < 0) {
    snprintf(name, size, "%s.%d.bin", stem, attempt);
  } else {
    snprintf(name, size, "%s.%d.%d.bin", stem, pid, attempt);
  }
}

bool OpenNew(const char* folder, const Settings& settings, const HostFacts& host, RankFile& file) {
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    char name[128];
    FileName(settings, host, attempt, name, sizeof(name));
    if (snprintf(file.path, sizeof(file.path), "%s/%s", folder, name) >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return false;
    }
    // Saved rings beside it belong to an earlier file of this name.
    char saved[PATH_MAX + 8];
    SavedRingsPath(file.path, saved, sizeof(saved));
    if (access(saved, F_OK) == 0) continue;
    file.fd = open(file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file.fd >= 0) {
      if (!Identify(file.fd, file.identity)) file.identity = {};  // without an identity it is trusted
      return true;
    }
    if (errno != EEXIST) return false;
  }
  return false;
}

void ReadRealPath(RankFile& file) {
  char link[40];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file.fd);
  const ssize_t length = readlink(link, file.real_path, sizeof(file.real_path) - 1);
  if (length > 0) {
    file.real_path[length] = '\0';
  } else {
    snprintf(file.real_path, sizeof(file.real_path), "%s", file.path);
  }
}

/** Whoever can change the folder can remove the file, or put another one in its place. Root may do that anyway. */
void NoteWhoElse(const char* folder, char* text, size_t size) {
  text[0] = '\0';
  struct statx facts;
  constexpr unsigned kWanted = STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID;
  const auto is_foreign = [&] { return facts.stx_uid != geteuid() && facts.stx_uid != 0; };
  if (statx(AT_FDCWD, folder, AT_SYMLINK_NOFOLLOW, kWanted, &facts) == 0 && S_ISLNK(facts.stx_mode) && is_foreign()) {
    snprintf(text, size, "the folder is a link of user %u", facts.stx_uid);
    return;
  }
  if (statx(AT_FDCWD, folder, 0, kWanted, &facts) != 0) return;
  const bool is_open = (facts.stx_mode & 002) != 0 || ((facts.stx_mode & 020) != 0 && facts.stx_gid != getegid());
  if (is_foreign()) {
    snprintf(text, size, "the folder belongs to user %u", facts.stx_uid);
  } else if (is_open && (facts.stx_mode & S_ISVTX) == 0) {
    snprintf(text, size, "other users can change the folder (mode %04o)", facts.stx_mode & 07777u);
  }
}

/**
 * If all ranks of a node write their zeros to one busy disk, it takes long. Once init has gone on in memory, the file is
 * not mapped, and zeros would only delay the copies, which are all that is left after a kill.
 */
bool MakeRoom(int fd, uint64_t bytes, const ImageOffer* offer) {
  if (offer == nullptr || !MayBeMapped(fd)) return Reserve(fd, bytes);
  constexpr uint64_t kPiece = uint64_t{1} << 18;
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    if (!offer->IsAwaited()) return Reserve(fd, bytes);
    if (!WriteZeros(fd, done, bytes - done < kPiece ? bytes - done : kPiece)) return false;
  }
  return true;
}

}  // namespace

void FolderOf(const Settings& settings, char (&folder)[PATH_MAX]) {
  char here[PATH_MAX] = "";
  if (settings.directory[0] != '/' && getcwd(here, sizeof(here)) == nullptr) here[0] = '\0';
  const int length = snprintf(folder, PATH_MAX, "%s%s%s%s%s", here, here[0] != '\0' ? "/" : "", settings.directory,
                              settings.run_id[0] != '\0' ? "/" : "", settings.run_id);
  if (length >= PATH_MAX) folder[0] = '\0';  // too long: the file will not be created
}

void FirstPath(const char* folder, const Settings& settings, const HostFacts& host, char (&path)[PATH_MAX]) {
  path[0] = '\0';
  if (folder[0] == '\0') return;
  char name[128];
  FileName(settings, host, 0, name, sizeof(name));
  if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) path[0] = '\0';
}

void CreateRankFile(const char* folder, const Settings& settings, const HostFacts& host, uint64_t bytes,
                    const ImageOffer* offer, RankFile& file) {
  file.fd = -1;
  file.error = 0;
  file.shared[0] = '\0';
  if (folder[0] == '\0') errno = ENAMETOOLONG;
  for (int i = 0; file.fd < 0; ++i) {
    if (folder[0] == '\0' || !MakeFolders(folder)) {
      file.failed = "create the folder";
      file.error = errno;
      snprintf(file.path, sizeof(file.path), "%s", folder);
      return;
    }
    if (OpenNew(folder, settings, host, file)) break;
    if (errno == ENOENT && i < kMostFolders) continue;  // who removes old runs has removed the empty folder in between
    file.failed = "create";
    file.error = errno;
    return;
  }
  ReadRealPath(file);
  NoteWhoElse(folder, file.shared, sizeof(file.shared));
  if (MakeRoom(file.fd, bytes, offer)) return;
  file.failed = "reserve space for";
  file.error = errno;
  // Half a file is useless and may fill the disk. We have just made it, so we may remove it.
  unlink(file.path);
  close(file.fd);
  file.fd = -1;
}

Image MapRankFile(const RankFile& file, uint64_t bytes) {
  if (!MayBeMapped(file.fd)) return {};
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
  if (memory == MAP_FAILED) return {};
  PreFault(memory, bytes);
  return {static_cast<uint8_t*>(memory), bytes, rank_file::kInFile};
}

}  // namespace nccl_trace
