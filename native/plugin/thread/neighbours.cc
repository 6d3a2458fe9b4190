#include "plugin/thread/neighbours.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/persist/saved_rings.h"
#include "plugin/process/clock.h"
#include "plugin/process/mapped_by.h"
#include "plugin/process/mount_of.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kThoroughEvery = 60;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMinuteNs = 60 * kSecondNs;
constexpr uint64_t kDayNs = uint64_t{24} * 3600 * kSecondNs;
constexpr uint64_t kWeekNs = 7 * kDayNs;

int OpenRings(int folder, const char* name) {
  const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  struct statx file;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_UID, &file) == 0 && S_ISREG(file.stx_mode) &&
      file.stx_uid == geteuid()) {
    return fd;
  }
  close(fd);
  return -1;
}

bool IsPast(const statx_timestamp& time, uint64_t age) {
  const uint64_t seconds = time.tv_sec > 0 ? static_cast<uint64_t>(time.tv_sec) : 0;
  return (seconds * kSecondNs + time.tv_nsec) + age < ReadClockNs(CLOCK_REALTIME);
}

/** True if the file was not changed for `age`. Does not follow a link. Empty `name`: the open folder. False if in doubt. */
bool IsUntouchedFor(uint64_t age, int folder, const char* name) {
  struct statx file;
  constexpr unsigned kTimes = STATX_MTIME | STATX_CTIME;
  if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, kTimes, &file) != 0) return false;
  return (file.stx_mask & kTimes) == kTimes && IsPast(file.stx_mtime, age) && IsPast(file.stx_ctime, age);
}

/** Also looks at the file's times, because a process that has just begun has no heartbeat yet. */
bool IsOld(uint64_t age, int fd, const HostFacts& host, uint64_t now) {
  return LastSignOfLife(fd, host.boot_id) + age < now && IsUntouchedFor(age, fd, "");
}

/**
 * For a process in another pid namespace. Its lock is gone when it ends, but also if the job closes the descriptor, so its
 * heartbeat must be old as well. If neither is known, for instance after a reboot, its file must be a day old.
 */
bool HasStopped(int fd, const HostFacts& host, uint64_t now) {
  if (IsHeld(fd)) return false;
  const uint64_t last = LastSignOfLife(fd, host.boot_id);
  return (last != 0 && last + kMinuteNs < now) || IsOld(kDayNs, fd, host, now);
}

/**
 * True if the process of this ring file has certainly ended, or looks so for long enough if it cannot be seen. A process that
 * holds its lock is alive, even if /proc says otherwise. If it has lost the lock, its memory tells.
 */
bool IsOver(Sign sign, const ProcessName& process, int fd, const HostFacts& host, uint64_t now) {
  switch (sign) {
    case Sign::kAlive:
      return false;
    case Sign::kGone:
      return !IsHeld(fd);
    case Sign::kOtherStart:
      return !IsHeld(fd) && !MayBeMappedBy(process.pid, fd);
    case Sign::kUnknown:
      return HasStopped(fd, host, now);
  }
  return false;
}

/** Whether the process that now has this pid, with another start, has the ring file of the old one. */
bool HasItsRings(int folder, const ProcessName& process) {
  char name[kProcessNameBytes];
  FormatProcessName(process, kRingSuffix, name);
  const int fd = OpenRings(folder, name);
  if (fd < 0) return false;
  const bool has = IsHeld(fd) || MayBeMappedBy(process.pid, fd);
  close(fd);
  return has;
}

}  // namespace

void Neighbours::Use(const RingFile* own, const char* rank_file, const ProcessName* self, const HostFacts* host) {
  own_ = own;
  rank_file_ = rank_file;
  self_ = self;
  host_ = host;
  looks_ = 0;
  tries_ = 0;
}

void Neighbours::Look(uint64_t now) {
  if (own_ == nullptr || own_->folder[0] == '\0') return;
  const int fd = open(own_->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  DIR* entries = IsPrivateFolder(fd) ? fdopendir(fd) : nullptr;
  if (entries == nullptr) {
    close(fd);
    return;
  }
  const bool is_thorough = looks_++ % kThoroughEvery == 0;
  if (is_thorough) tries_ = 0;
  while (const dirent* entry = readdir(entries)) Judge(fd, entry->d_name, now, is_thorough);
  closedir(entries);
}

void Neighbours::Judge(int folder, const char* name, uint64_t now, bool is_thorough) {
  ProcessName process;
  if (is_thorough && ParseProcessName(name, kClaimSuffix, process)) {
    return DropClaim(folder, name, !savers_.IsAt(process.tag));
  }
  if (!ParseProcessName(name, kRingSuffix, process) || process.tag == self_->tag) return;
  const Sign sign = LookFor(process, self_->pid_namespace);
  if (sign == Sign::kAlive || (sign == Sign::kUnknown && !is_thorough)) return;
  const int fd = OpenRings(folder, name);
  if (fd < 0) return;
  const bool is_over = IsOver(sign, process, fd, *host_, now);
  close(fd);
  if (is_over) Rescue(folder, name, process, now);
}

void Neighbours::Rescue(int folder, const char* name, const ProcessName& process, uint64_t now) {
  if (!savers_.HasFree() || savers_.IsAt(process.tag) || HasTried(process.tag)) return;
  char claim[kProcessNameBytes];
  char self[kProcessNameBytes];
  FormatProcessName(process, kClaimSuffix, claim);
  FormatProcessName(*self_, "", self);
  if (symlinkat(self, folder, claim) != 0) {
    DropClaim(folder, claim, false);  // if its holder is gone, the next look can claim it
    return;
  }
  // If the rings cannot be saved, the claim stays until the next thorough look, unless somebody else may save them.
  Orphan orphan = {process, -1, OpenRings(folder, name), MountOf(rank_file_).id, false, false};
  if (orphan.rings >= 0) {
    orphan.last_try = IsOld(kDayNs, orphan.rings, *host_, now);
    orphan.last_try_elsewhere = IsOld(kWeekNs, orphan.rings, *host_, now);
    orphan.folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    tried_[tries_++ % kTried] = process.tag;
    if (savers_.Begin(orphan)) return;
  }
  unlinkat(folder, claim, 0);
}

bool Neighbours::HasTried(uint64_t tag) const {
  for (uint64_t i = 0; i < tries_ && i < kTried; ++i) {
    if (tried_[i] == tag) return true;
  }
  return false;
}

/**
 * Drops a claim if its holder is gone, or if its holder is unknown and the claim is a day old. Our own claim stays between
 * looks if the rings could not be saved.
 */
void Neighbours::DropClaim(int folder, const char* name, bool even_ours) {
  char target[kProcessNameBytes] = "";
  ProcessName holder;
  const ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);
  if (length <= 0) return;
  target[length] = '\0';
  bool is_held = ParseProcessName(target, "", holder) && !(even_ours && holder.tag == self_->tag);
  if (is_held) {
    const Sign sign = LookFor(holder, self_->pid_namespace);
    is_held = sign == Sign::kAlive || (sign == Sign::kOtherStart && HasItsRings(folder, holder)) ||
              (sign == Sign::kUnknown && !IsUntouchedFor(kDayNs, folder, name));
  }
  if (!is_held) unlinkat(folder, name, 0);
}

}  // namespace nccl_trace
