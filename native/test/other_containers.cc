// Rings of processes of other containers, which share the tmpfs and its user: with pids or mounts that are not ours.
//
//   other_containers <plugin.so> <folder> <case>
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <map>

#include "plugin/persist/saved_rings.h"
#include "plugin/process/clock.h"
#include "plugin/thread/neighbours.h"
#include "test/counted_ranks.h"

using namespace nccl_trace_test;

namespace {

// Makes all files look this much older. See statx at the end.
std::atomic<int64_t> seconds_older{0};

/** One look of a recorder that starts after `seconds`, in a container with our mounts and its own pids (0: our pids). */
void LookAfter(int64_t seconds, uint64_t container = 0) {
  const nccl_trace::HostFacts host = nccl_trace::CollectHostFacts();
  nccl_trace::ProcessName self = {host.pid_namespace + container, 1, 1, rank_file::kHandleTagFixedBits + container};
  if (container == 0) {
    self.pid = static_cast<uint64_t>(getpid());
    self.start = host.process_start;
  }
  nccl_trace::RingFile own = {};
  snprintf(own.folder, sizeof(own.folder), "%s", rings.c_str());
  snprintf(own.path, sizeof(own.path), "%s/own", rings.c_str());
  // Static, so that none of its threads outlives it.
  static nccl_trace::Neighbours neighbours;
  neighbours.Use(&own, "", &self, &host);
  seconds_older = seconds;
  neighbours.Look(nccl_trace::ReadClockNs(CLOCK_BOOTTIME) + static_cast<uint64_t>(seconds) * 1'000'000'000u);
  neighbours.Await(~uint64_t{0});
  seconds_older = 0;
}

/** In namespaces of its own, until stage 1. */
pid_t SpawnElsewhere(int rank, int flags) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  if (unshare(flags) != 0) exit(77);
  if ((flags & CLONE_NEWNS) != 0 && (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                                     mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64m") != 0)) {
    exit(77);
  }
  const pid_t inside = Spawn(rank, [=](Nccl& nccl, void* context) {
    CallMany(nccl, context, rank, kCalls);
    while (shared->stage == 0) usleep(1'000);
    _exit(0);
  });
  AwaitExit(inside);
  _exit(0);
}

/** The only ring file. */
nccl_trace::ProcessName OnlyProcess(int* fd) {
  const std::vector<std::string> names = NamesIn(rings);
  CHECK_EQ(names.size(), 1);
  nccl_trace::ProcessName process;
  CHECK(nccl_trace::ParseProcessName(names[0].c_str(), nccl_trace::kRingSuffix, process));
  *fd = open((rings + "/" + names[0]).c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(*fd >= 0);
  return process;
}

// A process of another container is alive while it holds its lock, however old its heartbeat. Without the lock a minute
// is enough.
void OtherPids() {
  const pid_t victim = SpawnElsewhere(1, CLONE_NEWPID);
  for (int i = 0; i < 12'000 && shared->calls[1] != kCalls; ++i) {
    int status;
    if (waitpid(victim, &status, WNOHANG) == victim) Skip("cannot have pids of our own");
    usleep(10'000);
  }
  const nccl_trace::HostFacts host = nccl_trace::CollectHostFacts();
  int fd;
  CHECK(OnlyProcess(&fd).pid_namespace != host.pid_namespace);
  Await("a heartbeat", [&] { return nccl_trace::LastSignOfLife(fd, host.boot_id) != 0; });
  CHECK(nccl_trace::IsHeld(fd));
  LookAfter(0);
  LookAfter(2 * 24 * 3'600);
  CHECK_EQ(NamesIn(rings).size(), 1);  // and no claim
  shared->stage = 1;
  AwaitExit(victim);
  CHECK(!nccl_trace::IsHeld(fd));
  close(fd);
  LookAfter(120);
  CHECK_EQ(NamesIn(rings).size(), 0);
  ExpectSaved(1, kCalls);
}

// A process that holds its lock is alive, even if /proc is of another namespace or shows other start times.
void StrangeProc() {
  const pid_t victim = SpawnVictim();
  int fd;
  nccl_trace::ProcessName process = OnlyProcess(&fd);
  close(fd);
  // As if /proc said that the process of this pid had another start time.
  const std::string before = rings + "/" + NamesIn(rings).at(0);
  process.start += 1;
  char after[nccl_trace::kProcessNameBytes];
  nccl_trace::FormatProcessName(process, nccl_trace::kRingSuffix, after);
  CHECK_EQ(rename(before.c_str(), (rings + "/" + after).c_str()), 0);
  LookAfter(0);
  LookAfter(120);
  CHECK_EQ(NamesIn(rings).size(), 1);
  CHECK(!Exists(SavedPath(1)));
  Kill(victim);
  LookAfter(0);
  CHECK_EQ(NamesIn(rings).size(), 0);
  ExpectSaved(1, kCalls);
}

// An earlier job of this user wrote to a FUSE mount that hangs now: no recorder waits for it, and the rings stay for
// one that writes there.
void FuseHangs() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
  const pid_t victim = SpawnVictim();
  Kill(victim);
  const int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (server < 0) Skip("no FUSE");
  const std::string options = "fd=" + std::to_string(server) + ",rootmode=40000,user_id=0,group_id=0";
  if (mount("no answer", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) Skip("cannot mount FUSE");
  LookAfter(0);
  LookAfter(120);
  CHECK_EQ(NamesIn(rings).size(), 1);  // and no claim
  umount2(folder.c_str(), MNT_DETACH);
  close(server);
  LookAfter(240);
  CHECK_EQ(NamesIn(rings).size(), 0);
  ExpectSaved(1, kCalls);
}

// A process of another container with other mounts: its path may be another place here. Its rings stay for a recorder
// that sees the right one.
void OtherMounts() {
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  shared->stage = 1;
  const pid_t victim = SpawnElsewhere(1, CLONE_NEWNS);
  int status;
  CHECK_EQ(waitpid(victim, &status, 0), victim);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) Skip("cannot have mounts of our own");
  int fd;
  const nccl_trace::ProcessName process = OnlyProcess(&fd);
  CHECK(nccl_trace::SaveRings(fd, process, 0) == nccl_trace::Saved::kElsewhere);
  CHECK_EQ(NamesIn(folder).size(), 0);
  CHECK_EQ(rmdir(folder.c_str()), 0);
  CHECK(nccl_trace::SaveRings(fd, process, 0) == nccl_trace::Saved::kElsewhere);
  close(fd);
}

/** Leaves the rings of a dead process of a mount namespace that no process here has. */
void LeaveFromOtherMounts() {
  const pid_t victim = SpawnVictim();
  int fd;
  OnlyProcess(&fd);
  const nccl_trace::HostFacts host = nccl_trace::CollectHostFacts();
  Await("a heartbeat", [&] { return nccl_trace::LastSignOfLife(fd, host.boot_id) != 0; });
  Kill(victim);
  rank_file::FileHeader header;
  CHECK_EQ(pread(fd, &header, sizeof(header), 0), sizeof(header));
  close(fd);
  const int tail = open((rings + "/" + NamesIn(rings)[0]).c_str(), O_RDWR | O_CLOEXEC);
  const uint64_t other = 1;
  CHECK_EQ(pwrite(tail, &other, sizeof(other),
                  static_cast<off_t>(header.chunks_offset + offsetof(nccl_trace::RingFileTail, mount_namespace))),
           sizeof(other));
  close(tail);
}

// Two containers share the tmpfs and its user. The one that cannot see the dead process's rank file leaves the rings to
// the other one. It neither claims nor removes them, not even after a day.
void LeftToWhoSeesThem() {
  constexpr int64_t kDay = 24 * 3'600;
  LeaveFromOtherMounts();
  const std::string hidden = folder + ".hidden";
  CHECK_EQ(rename(folder.c_str(), hidden.c_str()), 0);
  for (const int64_t seconds : {int64_t{120}, 2 * kDay}) {
    LookAfter(seconds, 1);
    CHECK_EQ(NamesIn(rings).size(), 1);  // and no claim
  }
  CHECK_EQ(rename(hidden.c_str(), folder.c_str()), 0);
  LookAfter(2 * kDay + 60, 2);
  ExpectSaved(1, kCalls);
  CHECK_EQ(NamesIn(rings).size(), 0);
}

// No recorder sees the rank file: after a week the rings are removed.
void LeftByAll() {
  LeaveFromOtherMounts();
  CHECK_EQ(rename(folder.c_str(), (folder + ".hidden").c_str()), 0);
  LookAfter(8 * 24 * 3'600, 1);
  CHECK_EQ(NamesIn(rings).size(), 0);
}

}  // namespace

// Replaces the C library's function.
extern "C" int statx(int folder_fd, const char* path, int flags, unsigned mask, struct statx* file) noexcept {
  static const auto next = reinterpret_cast<decltype(&statx)>(dlsym(RTLD_NEXT, "statx"));
  const int result = next(folder_fd, path, flags, mask, file);
  if (result == 0) {
    file->stx_mtime.tv_sec -= seconds_older;
    file->stx_ctime.tv_sec -= seconds_older;
  }
  return result;
}

int main(int, char** argv) {
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  UseArguments(argv);
  ShareCounts();
  const std::map<std::string, void (*)()> cases = {{"other-pids", OtherPids},
                                                   {"other-mounts", OtherMounts},
                                                   {"strange-proc", StrangeProc},
                                                   {"fuse-hangs", FuseHangs},
                                                   {"left-to-who-sees-them", LeftToWhoSeesThem},
                                                   {"left-by-all", LeftByAll}};
  cases.at(argv[3])();
  return Passed();
}
