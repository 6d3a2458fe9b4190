// Rings in a file of their own: where they go, what becomes of them when their process ends in order, dies, or dies with
// all the others, and what is removed when.
//
//   ring_files <plugin.so> <folder> <case> [rounds]
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "plugin/clock.h"
#include "plugin/neighbours.h"
#include "plugin/saved_rings.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

std::string folder;  // of rank files
std::string base;    // NCCL_TRACE_RING_DIR
std::string rings;   // the folder of ring files below it
const char* library;
uint64_t rounds = 1;
// So much older than they are seem all files; see the function at the end.
std::atomic<int64_t> seconds_older{0};

constexpr uint64_t kCalls = 1'000;

[[noreturn]] void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

std::string RankPath(int rank) {
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", rank);
  return folder + name;
}
std::string SavedPath(int rank) { return RankPath(rank) + ".rings"; }

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  DIR* entries = opendir(path.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(entries);
  return names;
}

/** However busy the machine is: it happens some time. */
void Await(const char* what, const std::function<bool()>& has_happened) {
  for (int i = 0; i < 12'000; ++i) {
    if (has_happened()) return;
    usleep(10'000);
  }
  Fail(__FILE__, __LINE__, what);
}

/** What other processes are told: written by them, read by us. */
struct Shared {
  std::atomic<uint64_t> calls[8];
  std::atomic<uint32_t> stage;
};
Shared* shared;

void CallMany(Nccl& nccl, void* context, int rank, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    Descriptor d = Coll(0, "AllReduce", i);
    nccl.Start(context, d);
    shared->calls[rank].fetch_add(1, std::memory_order_release);
  }
}

uint64_t CollsIn(const RankFileReader& file) {
  uint64_t starts = 0;
  for (const uint32_t ring : file.AreasOf(rank_file::kRingHost)) {
    for (const Record& record : file.Records(ring)) starts += record.kind == rank_file::kStartColl;
  }
  return starts;
}

/** Zeros while there is none. */
rank_file::FileHeader HeaderOf(int rank) {
  rank_file::FileHeader header = {};
  std::ifstream(RankPath(rank), std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
  return header;
}
uint64_t CopiedTick(int rank) { return HeaderOf(rank).copied_tick; }

/** A rank of its own process. `life` begins with the communicator open. */
pid_t Spawn(int rank, const std::function<void(Nccl&, void*)>& life) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  Nccl nccl(library);
  void* context = nccl.Init(0xC0FFEE, "test", 4, rank, 1);
  CHECK(context != nullptr);
  life(nccl, context);
  exit(0);
}

void Kill(pid_t child) {
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitpid(child, nullptr, 0), child);
}

void AwaitExit(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

[[noreturn]] void Forever() {
  for (;;) pause();
}

/** A recorder whose thread got no time while its process ended leaves its ring file to the next one. */
void ExpectNothingLeft() {
  for (int tries = 0; tries < 20 && !NamesIn(base).empty(); ++tries) {
    AwaitExit(Spawn(8 + tries, [](Nccl& nccl, void* context) {
      Await("the others' are saved", [] { return NamesIn(rings).size() == 1; });
      nccl.Finalize(context);
    }));
  }
  CHECK_EQ(NamesIn(base).size(), 0);
}

// It ends in order: the rank file has everything, and nothing else is left.
void InOrder() {
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    CHECK(IsAllWell());
    CHECK_EQ(Lines().infos.size(), 1);
    printf("%s\n", Lines().infos[0].c_str());
    const char* said = Lines().warnings.empty() ? " rings in " : " recording into ";
    CHECK(Lines().infos[0].find(said + rings + "/") != std::string::npos);
    const std::vector<std::string> names = NamesIn(rings);
    CHECK_EQ(names.size(), 1);
    // A ring file is a rank file, and the newest of it; behind it stands whose it is.
    CallMany(nccl, context, 0, kCalls);
    const RankFileReader ring_file(rings + "/" + names[0]);
    CHECK_EQ(ring_file.header().placement, rank_file::kInRingFile);
    CHECK_EQ(CollsIn(ring_file), kCalls);
    CHECK(std::string(ring_file.header().ring_path) == rings + "/" + names[0]);
    struct stat made;
    CHECK_EQ(stat((rings + "/" + names[0]).c_str(), &made), 0);
    CHECK_EQ(made.st_mode & 0777, 0600);
    CHECK_EQ(stat(rings.c_str(), &made), 0);
    CHECK_EQ(made.st_mode & 0777, 0700);
    nccl.Finalize(context);
    CHECK_EQ(CollsIn(RankFileReader(RankPath(0))), kCalls);
    // Callbacks that come late, and an exit that waits for them.
    CallMany(nccl, context, 0, 10);
  }));
  const RankFileReader file(RankPath(0));
  CHECK_EQ(file.header().life, rank_file::kClosed);
  CHECK_EQ(file.header().placement, rank_file::kInRingFile);
  CHECK_EQ(file.header().copy_interval_ms, 2'000);
  CHECK_EQ(CollsIn(file), kCalls + 10);
  CHECK(!Exists(SavedPath(0)));
  ExpectNothingLeft();
}

// Exit hooks do not run, and nobody finalized.
void ExpectSaved(int rank, uint64_t calls) {
  const RankFileReader saved(SavedPath(rank));
  CHECK_EQ(CollsIn(saved), calls);
  CHECK_EQ(saved.header().life, rank_file::kRecording);
  CHECK_EQ(saved.header().placement, rank_file::kInFile);
  const RankFileReader file(RankPath(rank));
  CHECK_EQ(file.header().tag, saved.header().tag);
  CHECK_EQ(saved.size(), saved.header().chunks_offset);
  struct stat made;
  CHECK_EQ(stat(SavedPath(rank).c_str(), &made), 0);
  CHECK_EQ(made.st_mode & 0777, 0600);
}

// One of four dies, each in its own way: a survivor saves its rings. Last the survivor ends, and nothing is left.
void OneDies() {
  const pid_t survivor = Spawn(0, [](Nccl& nccl, void* context) {
    while (shared->stage == 0) usleep(1'000);
    nccl.Finalize(context);
  });
  const std::vector<std::function<void()>> deaths = {
      [] { raise(SIGKILL); },
      [] {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
      },
      [] {
        signal(SIGABRT, SIG_DFL);
        abort();
      },
      [] { _exit(7); },
  };
  for (size_t i = 0; i < deaths.size(); ++i) {
    const int rank = static_cast<int>(i) + 1;
    const pid_t victim = Spawn(rank, [&](Nccl& nccl, void* context) {
      CallMany(nccl, context, rank, kCalls + i);
      Await("the rank file", [=] { return CopiedTick(rank) != 0; });
      deaths[i]();
    });
    // Nobody has waited for it yet: a zombie is gone as well.
    Await("saved rings", [&] { return Exists(SavedPath(rank)) && NamesIn(rings).size() == 1; });
    CHECK_EQ(waitpid(victim, nullptr, 0), victim);
    ExpectSaved(rank, kCalls + i);
  }
  shared->stage = 1;
  AwaitExit(survivor);
  ExpectNothingLeft();
}

// All of a node die at once: the rank files have copies, which say how old they are; the next recorder of this user on
// this node saves the rest and removes it.
void AllDie() {
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(Spawn(rank, [=](Nccl& nccl, void* context) {
      CallMany(nccl, context, rank, kCalls);
      Forever();
    }));
  }
  for (int rank = 0; rank < 4; ++rank) Await("calls", [&] { return shared->calls[rank] == kCalls; });
  // The next copy may have begun before the last call.
  for (int copies = 0; copies < 2; ++copies) {
    uint64_t last[4];
    for (int rank = 0; rank < 4; ++rank) last[rank] = CopiedTick(rank);
    for (int rank = 0; rank < 4; ++rank) Await("a copy", [&] { return CopiedTick(rank) > last[rank]; });
  }
  for (const pid_t rank : ranks) CHECK_EQ(kill(rank, SIGSTOP), 0);  // so that nobody saves anybody
  for (const pid_t rank : ranks) Kill(rank);
  for (int rank = 0; rank < 4; ++rank) {
    const RankFileReader file(RankPath(rank));
    CHECK_EQ(file.header().life, rank_file::kRecording);
    CHECK_EQ(CollsIn(file), kCalls);
    CHECK(!Exists(SavedPath(rank)));
  }
  CHECK_EQ(NamesIn(rings).size(), 4);

  AwaitExit(Spawn(5, [](Nccl& nccl, void* context) {
    Await("all saved", [] { return NamesIn(rings).size() == 1; });
    nccl.Finalize(context);
  }));
  for (int rank = 0; rank < 4; ++rank) ExpectSaved(rank, kCalls);
  ExpectNothingLeft();
}

// A saver that dies over it: its claim and its half of a file are in nobody's way.
void SaverDies() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 1, kCalls);
    Forever();
  });
  Await("calls", [] { return shared->calls[1] == kCalls; });
  Await("the rank file", [] { return CopiedTick(1) != 0; });
  Kill(victim);
  const std::string name = NamesIn(rings).at(0);
  const std::string stem = rings + "/" + name.substr(0, name.rfind('.'));
  // By a process that is not there: of this pid namespace, but with another start.
  const std::string holder = name.substr(0, name.find('-') + 1) + std::to_string(victim) + "-1-8101000000000000";
  CHECK_EQ(symlink(holder.c_str(), (stem + ".claim").c_str()), 0);
  umask(077);
  FILE* half = fopen(SavedPath(1).c_str(), "w");
  CHECK(half != nullptr);
  CHECK_EQ(ftruncate(fileno(half), 12'345), 0);
  fclose(half);
  AwaitExit(Spawn(2, [](Nccl& nccl, void* context) {
    Await("saved", [] { return NamesIn(rings).size() == 1; });
    nccl.Finalize(context);
  }));
  ExpectSaved(1, kCalls);
  ExpectNothingLeft();
}

// A path is followed only where it leads to a rank file of the same tag; what is no ring file stays as it is, and a
// folder that others may enter is not used at all.
void Distrust() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 1, kCalls);
    Forever();
  });
  Await("calls", [] { return shared->calls[1] == kCalls; });
  Kill(victim);
  const std::string name = NamesIn(rings).at(0);
  // Somebody else's file has the rank file's name by now, and the one beside it.
  FILE* other = fopen((folder + "/other.bin").c_str(), "w");
  fputs("precious", other);
  fclose(other);
  for (const std::string& path : {RankPath(1), folder + "/rank00001." + std::to_string(victim) + ".bin"}) {
    unlink(path.c_str());
    CHECK_EQ(symlink((folder + "/other.bin").c_str(), path.c_str()), 0);
  }
  // Not by the rules for names: nobody's business.
  CHECK_EQ(symlink("/etc/passwd", (rings + "/1-2-3-8101000000000000.ring").c_str()), 0);
  FILE* strange = fopen((rings + "/notes.txt").c_str(), "w");
  fclose(strange);
  AwaitExit(Spawn(2, [&](Nccl& nccl, void* context) {
    Await("the ring file is removed", [&] { return !Exists(rings + "/" + name); });
    nccl.Finalize(context);
  }));
  CHECK(Exists(rings + "/notes.txt"));
  CHECK(!Exists(SavedPath(1)));
  CHECK_EQ(std::ifstream(folder + "/other.bin").rdbuf()->in_avail(), 8);
  CHECK_EQ(NamesIn(folder).size(), 4);  // other.bin, two links, rank 2

  CHECK_EQ(chmod(rings.c_str(), 0777), 0);
  AwaitExit(Spawn(3, [](Nccl& nccl, void* context) {
    CHECK_EQ(Lines().warnings.size(), 1);
    printf("%s\n", Lines().warnings[0].c_str());
    CHECK(Lines().warnings[0].find("cannot be used (Permission denied); rings in the file") != std::string::npos);
    CallMany(nccl, context, 3, kCalls);
    CHECK_EQ(RankFileReader(RankPath(3)).header().placement, rank_file::kInFile);
    nccl.Finalize(context);
  }));
  CHECK_EQ(CollsIn(RankFileReader(RankPath(3))), kCalls);
}

// Forked children, with and without exec: they neither write into the rings, nor keep them, nor take them away.
void Fork() {
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 0, kCalls);
    const pid_t child = fork();
    if (child == 0) {
      CHECK_EQ(nccl.mask(), 0);
      Descriptor d = Coll(0, "AllReduce", 0);
      for (int i = 0; i < 10'000; ++i) nccl.Start(context, d);
      nccl.Finalize(context);
      exit(0);  // with all exit hooks
    }
    AwaitExit(child);
    const pid_t executing = fork();
    if (executing == 0) {
      execlp("true", "true", nullptr);
      _exit(1);
    }
    AwaitExit(executing);
    CHECK_EQ(NamesIn(rings).size(), 1);
    CallMany(nccl, context, 0, kCalls);
    const RankFileReader ring_file(rings + "/" + NamesIn(rings).at(0));
    CHECK_EQ(ring_file.header().life, rank_file::kRecording);
    CHECK_EQ(CollsIn(ring_file), 2 * kCalls);
    nccl.Finalize(context);
  }));
  CHECK_EQ(CollsIn(RankFileReader(RankPath(0))), 2 * kCalls);
  ExpectNothingLeft();
}

/** What a recorder that begins so much later does. It stays, because its savers may still be at work. */
void LookLater(uint64_t seconds) {
  static const nccl_trace::HostFacts host = nccl_trace::CollectHostFacts();
  static const nccl_trace::ProcessName self = {host.pid_namespace, static_cast<uint64_t>(getpid()), host.process_start,
                                               rank_file::kHandleTagFixedBits};
  static nccl_trace::RingFile own = {};
  snprintf(own.folder, sizeof(own.folder), "%s", rings.c_str());
  snprintf(own.path, sizeof(own.path), "%s/own", rings.c_str());
  auto* neighbours = new nccl_trace::Neighbours();
  neighbours->Use(&own, &self, &host);
  neighbours->Look(nccl_trace::ReadClockNs(CLOCK_BOOTTIME) + seconds * 1'000'000'000u);
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

// Of another container: as long as it holds its lock it lives, however long its heart has stood still; without the lock
// a minute is enough.
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
  LookLater(0);
  LookLater(2 * 24 * 3'600);
  CHECK_EQ(NamesIn(rings).size(), 1);  // not even a claim
  shared->stage = 1;
  AwaitExit(victim);
  CHECK(!nccl_trace::IsHeld(fd));
  close(fd);
  LookLater(120);
  Await("saved", [] { return NamesIn(rings).empty(); });
  ExpectSaved(1, kCalls);
}

// Of another container whose mounts are not ours: its path may be another place here. Its rings wait for who sees the right one.
void OtherMounts() {
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  shared->stage = 1;
  const pid_t victim = SpawnElsewhere(1, CLONE_NEWNS);
  int status;
  CHECK_EQ(waitpid(victim, &status, 0), victim);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) Skip("cannot have mounts of our own");
  int fd;
  const nccl_trace::ProcessName process = OnlyProcess(&fd);
  CHECK(nccl_trace::SaveRings(fd, process) == nccl_trace::Saved::kElsewhere);
  CHECK_EQ(NamesIn(folder).size(), 0);
  CHECK_EQ(rmdir(folder.c_str()), 0);
  CHECK(nccl_trace::SaveRings(fd, process) == nccl_trace::Saved::kElsewhere);
  close(fd);
}

/** One look of a recorder of the container `id` that begins so much later than now, and what it saves. */
void LookFrom(uint64_t id, int64_t seconds) {
  const nccl_trace::HostFacts host = nccl_trace::CollectHostFacts();
  const nccl_trace::ProcessName self = {host.pid_namespace + id, 1, 1, rank_file::kHandleTagFixedBits + id};
  nccl_trace::RingFile own = {};
  snprintf(own.folder, sizeof(own.folder), "%s", rings.c_str());
  snprintf(own.path, sizeof(own.path), "%s/own", rings.c_str());
  // Static, so that none of its threads outlives it.
  static nccl_trace::Neighbours neighbours;
  neighbours.Use(&own, &self, &host);
  seconds_older = seconds;
  neighbours.Look(nccl_trace::ReadClockNs(CLOCK_BOOTTIME) + static_cast<uint64_t>(seconds) * 1'000'000'000u);
  neighbours.Await(~uint64_t{0});
  seconds_older = 0;
}

/** Rings of one that died, of a mount namespace that is nobody's here. */
void LeaveFromOtherMounts() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 1, kCalls);
    Forever();
  });
  Await("calls", [] { return shared->calls[1] == kCalls; });
  Await("the rank file", [] { return CopiedTick(1) != 0; });
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

// Two containers share the tmpfs and its user. The one that does not see the dead one's rank file leaves its rings to the
// one that does: it neither holds nor removes them, not even after a day.
void LeftToWhoSeesThem() {
  constexpr int64_t kDay = 24 * 3'600;
  LeaveFromOtherMounts();
  const std::string hidden = folder + ".hidden";
  CHECK_EQ(rename(folder.c_str(), hidden.c_str()), 0);
  for (const int64_t seconds : {int64_t{120}, 2 * kDay}) {
    LookFrom(1, seconds);
    CHECK_EQ(NamesIn(rings).size(), 1);  // and no claim
  }
  CHECK_EQ(rename(hidden.c_str(), folder.c_str()), 0);
  LookFrom(2, 2 * kDay + 60);
  ExpectSaved(1, kCalls);
  CHECK_EQ(NamesIn(rings).size(), 0);
}

// Nobody came who sees it: after a week the memory is given back.
void LeftByAll() {
  LeaveFromOtherMounts();
  CHECK_EQ(rename(folder.c_str(), (folder + ".hidden").c_str()), 0);
  LookFrom(1, 8 * 24 * 3'600);
  CHECK_EQ(NamesIn(rings).size(), 0);
}

double SecondsNow(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// How long it takes until a survivor has saved the rings of one that was killed, and how old the copies are that are left
// when nobody survives. Figures for people: how busy this machine is decides, too.
void HowSoon() {
  const pid_t survivor = Spawn(0, [](Nccl& nccl, void* context) {
    while (shared->stage == 0) usleep(1'000);
    nccl.Finalize(context);
  });
  std::vector<double> saved_after;
  std::vector<double> copy_age;
  for (uint64_t round = 0; round < rounds; ++round) {
    const int rank = static_cast<int>(round) + 1;
    const pid_t victim = Spawn(rank, [=](Nccl& nccl, void* context) {
      for (;;) {
        CallMany(nccl, context, 1, 100);
        usleep(1'000);
      }
    });
    Await("a copy", [=] { return CopiedTick(rank) != 0; });
    usleep(static_cast<useconds_t>(round * 7'919 % 2'500 * 1'000));  // any time between two copies
    Kill(victim);
    const double killed = SecondsNow(CLOCK_MONOTONIC);
    const rank_file::FileHeader header = RankFileReader(RankPath(rank)).header();
    const double copied =
        static_cast<double>(header.start_monotonic) * 1e-9 +
        static_cast<double>(header.copied_tick - header.start_tick) / static_cast<double>(header.tick_hz);
    copy_age.push_back(killed - copied);
    Await("saved", [=] { return Exists(SavedPath(rank)) && NamesIn(rings).size() == 1; });
    saved_after.push_back(SecondsNow(CLOCK_MONOTONIC) - killed);
  }
  shared->stage = 1;
  AwaitExit(survivor);
  for (const auto& [what, seconds] : {std::pair{"rings saved after", &saved_after}, {"age of the copy", &copy_age}}) {
    std::sort(seconds->begin(), seconds->end());
    printf("%s: median %.2f s, most %.2f s, of %zu\n", what, (*seconds)[seconds->size() / 2], seconds->back(),
           seconds->size());
  }
}

void MountOver(const char* place, const char* type, const char* options) {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
  if (mount(type, place, type, 0, options) != 0) Skip("cannot mount");
}

uint64_t FreeBytes(const char* place) {
  struct statfs fs;
  CHECK_EQ(statfs(place, &fs), 0);
  return fs.f_bavail * static_cast<uint64_t>(fs.f_bsize);
}

// The container's default /dev/shm, which NCCL needs for itself: not a byte of it is taken.
void SmallShm() {
  unsetenv("NCCL_TRACE_RING_DIR");
  MountOver("/dev/shm", "tmpfs", "size=64m");
  const uint64_t before = FreeBytes("/dev/shm");
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 0, kCalls);
  CHECK_EQ(FreeBytes("/dev/shm"), before);
  CHECK_EQ(NamesIn("/dev/shm").size(), 0);
  CHECK(IsAllWell());
  Await("the rank file", [] { return HeaderOf(0).life == rank_file::kRecording; });
  CHECK(HeaderOf(0).placement != rank_file::kInRingFile);
  nccl.Finalize(context);
  CHECK_EQ(CollsIn(RankFileReader(RankPath(0))), kCalls);
}

// Large enough for all ranks of the node: that is where rings go.
void LargeShm() {
  unsetenv("NCCL_TRACE_RING_DIR");
  MountOver("/dev/shm", "tmpfs", "size=3g");
  rings = "/dev/shm/nccl-trace-" + std::to_string(geteuid());
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    CHECK_EQ(NamesIn(rings).size(), 1);
    CHECK_EQ(RankFileReader(RankPath(0)).header().placement, rank_file::kInRingFile);
    nccl.Finalize(context);
  }));
  // For 32 ranks it is not.
  setenv("LOCAL_WORLD_SIZE", "32", 1);
  AwaitExit(Spawn(1, [](Nccl& nccl, void* context) {
    CHECK_EQ(NamesIn(rings).size(), 0);
    CHECK(RankFileReader(RankPath(1)).header().placement != rank_file::kInRingFile);
    nccl.Finalize(context);
  }));
}

}  // namespace

// Ours before the C library's.
extern "C" int statx(int folder_fd, const char* path, int flags, unsigned mask, struct statx* file) noexcept {
  static const auto next = reinterpret_cast<decltype(&statx)>(dlsym(RTLD_NEXT, "statx"));
  const int result = next(folder_fd, path, flags, mask, file);
  if (result == 0) {
    file->stx_mtime.tv_sec -= seconds_older;
    file->stx_ctime.tv_sec -= seconds_older;
  }
  return result;
}

int main(int argc, char** argv) {
  library = argv[1];
  if (argc > 4) rounds = strtoull(argv[4], nullptr, 10);
  folder = argv[2];
  base = folder + ".rings";
  rings = base + "/nccl-trace-" + std::to_string(geteuid());
  CHECK_EQ(mkdir(base.c_str(), 0755), 0);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 0);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  setenv("RANK", "0", 1);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  shared = static_cast<Shared*>(memory);
  const std::map<std::string, void (*)()> cases = {
      {"in-order", InOrder},      {"one-dies", OneDies},         {"all-die", AllDie},
      {"saver-dies", SaverDies},  {"distrust", Distrust},        {"fork", Fork},
      {"small-shm", SmallShm},    {"large-shm", LargeShm},       {"how-soon", HowSoon},
      {"other-pids", OtherPids},  {"other-mounts", OtherMounts}, {"left-to-who-sees-them", LeftToWhoSeesThem},
      {"left-by-all", LeftByAll},
  };
  cases.at(argv[3])();
  return Passed();
}
