#include "plugin/persist/old_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/persist/file_space.h"
#include "plugin/persist/finished_file.h"
#include "plugin/persist/ring_file.h"
#include "plugin/process/clock.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/process/mapped_by.h"
#include "plugin/process/own_thread.h"
#include "plugin/process/process_name.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kDayNs = uint64_t{24} * 3600 * kSecondNs;
// A recorder on another host writes a heartbeat once a second, and its file may reach us late.
constexpr uint64_t kSilentNs = 600 * kSecondNs;
constexpr const char* kRenamed = ".nccl-trace-old-";

struct Run {
  char name[NAME_MAX + 1];
  uint64_t last_ns;  // when a file of it was last written
  uint64_t bytes;    // on the disk
};

bool EndsWith(const char* text, const char* end) {
  const size_t length = strlen(text);
  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/** Names that recorders give. A file that was renamed to be removed is left if its remover was killed. */
bool IsOurName(const char* name) {
  if (strncmp(name, kRenamed, strlen(kRenamed)) == 0) return true;
  return strncmp(name, "rank", 4) == 0 && (EndsWith(name, ".bin") || EndsWith(name, ".bin.rings"));
}

bool IsDots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/** Calls `look` with each name, until it returns false. False: it did, or the folder cannot be read. */
template <typename Look>
bool EachName(int folder, Look look) {
  // A descriptor of its own, because closedir closes it, and its position is shared with copies made by dup.
  const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = fd >= 0 ? fdopendir(fd) : nullptr;
  if (entries == nullptr) {
    if (fd >= 0) close(fd);
    return false;
  }
  bool goes_on = true;
  errno = 0;
  for (const dirent* entry = readdir(entries); goes_on && entry != nullptr; entry = readdir(entries)) {
    if (!IsDots(entry->d_name)) goes_on = look(entry->d_name);
    errno = 0;
  }
  if (errno != 0) goes_on = false;
  closedir(entries);
  return goes_on;
}

/** A folder of this user, which is no link. -1 otherwise. */
int OpenRun(int directory, const char* name) {
  const int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct statx folder;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_UID, &folder) == 0 && folder.stx_uid == geteuid()) return fd;
  close(fd);
  return -1;
}

uint64_t NsOf(const statx_timestamp& time) {
  return time.tv_sec > 0 ? static_cast<uint64_t>(time.tv_sec) * kSecondNs + time.tv_nsec : 0;
}

/** False: it is empty, or there is something else than our files in it. */
bool Measure(int directory, Run& run) {
  const int folder = OpenRun(directory, run.name);
  if (folder < 0) return false;
  run.last_ns = run.bytes = 0;
  const bool is_ours = EachName(folder, [&](const char* name) {
    struct statx file;
    if (!IsOurName(name) ||
        statx(folder, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID | STATX_MTIME | STATX_BLOCKS, &file) != 0 ||
        !S_ISREG(file.stx_mode) || file.stx_uid != geteuid()) {
      return false;
    }
    if (NsOf(file.stx_mtime) > run.last_ns) run.last_ns = NsOf(file.stx_mtime);
    run.bytes += file.stx_blocks * 512;
    return true;
  });
  close(folder);
  return is_ours && run.last_ns != 0;
}

class Remover {
 public:
  Remover(const Settings& settings, const HostFacts& host, uint64_t tag)
      : retention_(settings.retention), host_(host), tag_(tag), own_run_(settings.run_id) {}

  void RemoveFrom(int directory) {
    uint64_t count = 0;
    uint64_t bytes = 0;
    Run* const runs = FindRuns(directory, count, bytes);
    // The oldest first.
    qsort(runs, count, sizeof(Run), [](const void* left, const void* right) {
      const uint64_t l = static_cast<const Run*>(left)->last_ns;
      const uint64_t r = static_cast<const Run*>(right)->last_ns;
      return (l > r) - (l < r);
    });
    for (uint64_t i = 0; i < count; ++i) {
      const bool is_over = retention_.runs != 0 ? count - i > retention_.runs : bytes > retention_.bytes;
      if (!is_over) break;
      // Our own files are young, but that may be asked for.
      if (strcmp(runs[i].name, own_run_) != 0 && RemoveRun(directory, runs[i].name)) bytes -= runs[i].bytes;
    }
    free(runs);
  }

 private:
  /** Null if there are none, or no memory. */
  Run* FindRuns(int directory, uint64_t& count, uint64_t& bytes) const {
    Run* runs = nullptr;
    uint64_t room = 0;
    EachName(directory, [&](const char* name) {
      if (count == room) {
        room = 2 * room + 64;
        void* const more = realloc(runs, room * sizeof(Run));
        if (more == nullptr) return false;
        runs = static_cast<Run*>(more);
      }
      snprintf(runs[count].name, sizeof(Run::name), "%s", name);
      if (!Measure(directory, runs[count])) return true;
      bytes += runs[count++].bytes;
      return true;
    });
    return runs;
  }

  bool RemoveRun(int directory, const char* name) {
    const int folder = OpenRun(directory, name);
    if (folder < 0) return false;
    DescriptorIdentity identity;
    // One file that must stay keeps all the others.
    const bool may_go = EachName(folder, [&](const char* file) { return MayGo(folder, file, identity); });
    // Each file is judged again, because a run may begin meanwhile. Others may remove the same files.
    if (may_go) {
      EachName(folder, [&](const char* file) {
        if (MayGo(folder, file, identity)) RemoveFile(folder, file, identity);
        return true;
      });
    }
    close(folder);
    return may_go && unlinkat(directory, name, AT_REMOVEDIR) == 0;
  }

  bool MayGo(int folder, const char* name, DescriptorIdentity& identity) const {
    if (!IsOurName(name)) return false;
    const int fd = OpenOwn(folder, name, O_RDONLY);
    if (fd < 0) return false;
    rank_file::FileHeader header;
    const bool may_go =
        Identify(fd, identity) && ReadAll(fd, &header, sizeof(header), 0) && IsHeader(header) && MayGo(fd, header);
    close(fd);
    return may_go;
  }

  bool MayGo(int fd, const rank_file::FileHeader& header) const {
    // A copy that somebody made is not ours to remove.
    if (header.snapshot_realtime != 0) return false;
    const bool is_closed = header.life == rank_file::kClosed;
    if (!is_closed && !retention_.even_unclosed) return false;
    struct statx file;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MTIME, &file) != 0) return false;
    const uint64_t beat = LastHeartbeat(fd, header).realtime;
    const uint64_t last = beat > NsOf(file.stx_mtime) ? beat : NsOf(file.stx_mtime);
    const uint64_t now = ReadClockNs(CLOCK_REALTIME);
    if (last + kDayNs > now && !retention_.even_young) return false;
    switch (SignOf(fd, header)) {
      case Sign::kAlive:
        return false;
      case Sign::kGone:
        return true;
      case Sign::kOtherStart:
      case Sign::kUnknown:
        return is_closed || last + kSilentNs < now;
    }
    return false;
  }

  Sign SignOf(int fd, const rank_file::FileHeader& header) const {
    if (memcmp(header.boot_id, host_.boot_id, sizeof(header.boot_id)) != 0) return Sign::kUnknown;
    const Sign sign =
        LookFor({header.pid_namespace, header.pid, header.process_start, header.tag}, host_.pid_namespace);
    return sign == Sign::kOtherStart && Uses(fd, header) ? Sign::kAlive : sign;
  }

  /** True if the process of this pid maps the rank file or its rings, or holds the lock of its rings. */
  static bool Uses(int fd, const rank_file::FileHeader& header) {
    if (MayBeMappedBy(header.pid, fd)) return true;
    if (header.placement != rank_file::kInRingFile) return false;
    char path[sizeof(header.ring_path) + 1];
    snprintf(path, sizeof(path), "%.*s", static_cast<int>(sizeof(header.ring_path)), header.ring_path);
    const int rings = OpenOwn(AT_FDCWD, path, O_RDONLY);
    if (rings < 0) return false;
    const bool is_used = IsHeld(rings) || MayBeMappedBy(header.pid, rings);
    close(rings);
    return is_used;
  }

  /** Removes the file only if it is still the one that was judged: its name may be that of a new file by now. */
  void RemoveFile(int folder, const char* name, const DescriptorIdentity& judged) {
    char renamed[sizeof(Run::name)];
    snprintf(renamed, sizeof(renamed), "%s%016" PRIx64 "-%" PRIu64, kRenamed, tag_, ++removed_);
    if (renameat(folder, name, folder, renamed) != 0) return;
    const int fd = OpenOwn(folder, renamed, O_RDONLY);
    const bool is_judged = fd >= 0 && IsStill(fd, judged);
    if (fd >= 0) close(fd);
    if (is_judged || linkat(folder, renamed, folder, name, 0) == 0) unlinkat(folder, renamed, 0);
  }

  const Retention& retention_;
  const HostFacts& host_;
  const uint64_t tag_;
  const char* const own_run_;
  uint64_t removed_ = 0;
};

}  // namespace

void OldRuns::Remove(const Settings* settings, const char* folder, const HostFacts* host, uint64_t tag) {
  if ((settings->retention.runs == 0 && settings->retention.bytes == 0) || folder[0] == '\0') return;
  settings_ = settings;
  host_ = host;
  tag_ = tag;
  snprintf(directory_, sizeof(directory_), "%s", folder);
  if (settings->run_id[0] != '\0') *strrchr(directory_, '/') = '\0';
  StartThread(Main, this);
}

void* OldRuns::Main(void* argument) {
  const OldRuns& self = *static_cast<OldRuns*>(argument);
  const int directory = open(self.directory_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return nullptr;
  // One process of each node, or one of the whole job where nodes may share the file system. One without a rank does it, too.
  const RankFacts& rank = self.settings_->rank;
  if ((MayBeMapped(directory) ? rank.local_rank : rank.rank) <= 0) {
    Remover(*self.settings_, *self.host_, self.tag_).RemoveFrom(directory);
  }
  close(directory);
  return nullptr;
}

}  // namespace nccl_trace
