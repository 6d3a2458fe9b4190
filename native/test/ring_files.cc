// Rings in a file of their own: where it is, and what it holds while its process lives and after it ended in order.
//
//   ring_files <plugin.so> <folder> <case>
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include <map>
#include <set>

#include "test/counted_ranks.h"
#include "test/forked.h"

using namespace nccl_trace_test;

namespace {

constexpr int kTooLate = 75;
constexpr int kTries = 20;

/** Runs a rank with its rings in a file of their own. If they were late and went elsewhere, runs the next rank. Returns the rank. */
int LiveInPlace(const std::function<void(Nccl&, void*, int rank)>& life) {
  for (int rank = 0; rank < kTries; ++rank) {
    const pid_t child = Spawn(rank, [&](Nccl& nccl, void* context) {
      if (!IsTooLate()) return life(nccl, context, rank);
      // By then the unused ring file is removed.
      Await("the rank file", [=] { return HeaderOf(rank).life == rank_file::kRecording; });
      exit(kTooLate);
    });
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == kTooLate) continue;
    CHECK_EQ(WEXITSTATUS(status), 0);
    return rank;
  }
  Fail(__FILE__, __LINE__, "rings in their file within 1.7 s");
}

// The rank ends in order: the rank file has everything, and nothing else is left.
void InOrder() {
  const int rank = LiveInPlace([](Nccl& nccl, void* context, int rank) {
    CHECK(IsAllWell());
    CHECK_EQ(Lines().infos.size(), 1);
    printf("%s\n", Lines().infos[0].c_str());
    const char* said = Lines().warnings.empty() ? " rings in " : " recording into ";
    CHECK(Lines().infos[0].find(said + rings + "/") != std::string::npos);
    const std::vector<std::string> names = NamesIn(rings);
    CHECK_EQ(names.size(), 1);
    // A ring file is a rank file with the newest records. The path of its rank file follows it.
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
    AwaitClosed(RankPath(rank));
    const RankFileReader file(RankPath(rank));
    CHECK_EQ(CollsIn(file), kCalls);
    CHECK_EQ(file.header().placement, rank_file::kInRingFile);
    CHECK_EQ(file.header().copy_interval_ms, 2'000);
    // Late callbacks, and an exit that waits for them.
    CallMany(nccl, context, 0, 10);
  });
  ExpectNothingLeft();
  // If it could not wait so long, the next process has saved them.
  const RankFileReader file(Exists(SavedPath(rank)) ? SavedPath(rank) : RankPath(rank));
  CHECK_EQ(file.header().life, rank_file::kClosed);
  CHECK_EQ(CollsIn(file), kCalls + 10);
}

// Somebody cuts the rank file at any time, as a cleaner of logs does: in the end it has all that the rings have.
void CutOff() {
  const int rank = LiveInPlace([](Nccl& nccl, void* context, int rank) {
    CallMany(nccl, context, 0, kCalls);
    Await("a copy", [=] { return CopiedTick(rank) != 0; });
    CHECK_EQ(truncate(RankPath(rank).c_str(), 0), 0);
    CallMany(nccl, context, 0, kCalls);
    nccl.Finalize(context);
  });
  ExpectNothingLeft();
  // If it could not wait so long, the next process has saved them.
  const RankFileReader file(Exists(SavedPath(rank)) ? SavedPath(rank) : RankPath(rank));
  CHECK_EQ(CollsIn(file), 2 * kCalls);
}

// Forked children, with and without exec, do not write into the rings, keep them or remove them.
void Fork() {
  const int rank = LiveInPlace([](Nccl& nccl, void* context, int rank) {
    CallMany(nccl, context, 0, kCalls);
    const pid_t child = fork();
    if (child == 0) {
      CHECK_EQ(nccl.mask(), 0);
      Descriptor d = Coll(0, "AllReduce", 0);
      for (int i = 0; i < 10'000; ++i) nccl.Start(context, d);
      nccl.Finalize(context);
      ExitForked();
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
    AwaitClosed(RankPath(rank));
  });
  CHECK_EQ(CollsIn(RankFileReader(RankPath(rank))), 2 * kCalls);
  ExpectNothingLeft();
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

// The container's default /dev/shm, which NCCL needs: the recorder takes nothing of it.
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
  AwaitClosed(RankPath(0));
  CHECK_EQ(CollsIn(RankFileReader(RankPath(0))), kCalls);
}

/** Beside them may lie the claim of a process that saves one. */
std::set<std::string> RingFiles() {
  std::set<std::string> files;
  for (const std::string& name : NamesIn(rings)) {
    if (name.find(".ring") != std::string::npos) files.insert(name);
  }
  return files;
}

// /dev/shm is large enough for all ranks of the node: rings go there.
void LargeShm() {
  unsetenv("NCCL_TRACE_RING_DIR");
  MountOver("/dev/shm", "tmpfs", "size=3g");
  rings = "/dev/shm/nccl-trace-" + std::to_string(geteuid());
  const int rank = LiveInPlace([](Nccl&, void*, int rank) {
    CHECK_EQ(NamesIn(rings).size(), 1);
    Await("the rank file", [=] { return HeaderOf(rank).life == rank_file::kRecording; });
    CHECK_EQ(HeaderOf(rank).placement, rank_file::kInRingFile);
  });
  // It is not large enough for 32 ranks.
  setenv("LOCAL_WORLD_SIZE", "32", 1);
  const std::set<std::string> left = RingFiles();  // of an exit that could not wait longer
  AwaitExit(Spawn(rank + 1, [=](Nccl&, void*) {
    Await("the rank file", [=] { return HeaderOf(rank + 1).life == rank_file::kRecording; });
    for (const std::string& name : RingFiles()) CHECK(left.count(name) == 1);
    CHECK(HeaderOf(rank + 1).placement != rank_file::kInRingFile);
  }));
}

// A process without room for its own rings still saves those of dead processes, which may fill the disk.
void FullShm() {
  unsetenv("NCCL_TRACE_RING_DIR");
  setenv("LOCAL_WORLD_SIZE", "1", 1);
  MountOver("/dev/shm", "tmpfs", "size=1101m");  // 1 GiB, 64 MiB, and one rank's rings of 8 to 9 MiB
  rings = "/dev/shm/nccl-trace-" + std::to_string(geteuid());
  const pid_t victim = SpawnVictim();
  CHECK_EQ(HeaderOf(1).placement, rank_file::kInRingFile);
  Kill(victim);
  CHECK_EQ(NamesIn(rings).size(), 1);
  AwaitExit(Spawn(2, [](Nccl& nccl, void* context) {
    Await("saved", [] { return NamesIn(rings).empty(); });
    Await("the rank file", [] { return HeaderOf(2).life == rank_file::kRecording; });
    CHECK(HeaderOf(2).placement != rank_file::kInRingFile);
    nccl.Finalize(context);
  }));
  ExpectSaved(1, kCalls);
  CHECK(!Exists(rings));
}

// There is just enough room for all ranks of the node: room that the first ranks have taken is not counted twice, and all
// ranks decide alike.
void JustEnoughShm() {
  constexpr int kRanks = 8;
  unsetenv("NCCL_TRACE_RING_DIR");
  setenv("LOCAL_WORLD_SIZE", std::to_string(kRanks).c_str(), 1);
  // 1 GiB, and for each rank 64 MiB and its rings of 8 to 9 MiB.
  MountOver("/dev/shm", "tmpfs", "size=1608m");
  rings = "/dev/shm/nccl-trace-" + std::to_string(geteuid());
  // An old ring file of another job does not count.
  CHECK_EQ(mkdir(rings.c_str(), 0700), 0);
  FILE* old = fopen((rings + "/1-2-3-8101000000000000.ring").c_str(), "w");
  CHECK(old != nullptr);
  fclose(old);
  std::vector<pid_t> ranks;
  int in_place = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(Spawn(rank, [](Nccl&, void*) { Forever(); }));
    Await("the rank file", [=] { return HeaderOf(rank).life == rank_file::kRecording; });
    in_place += HeaderOf(rank).placement == rank_file::kInRingFile;
  }
  printf("%d of %d in /dev/shm\n", in_place, kRanks);
  CHECK_EQ(in_place, kRanks);
  for (const pid_t rank : ranks) Kill(rank);
}

}  // namespace

int main(int, char** argv) {
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  UseArguments(argv);
  ShareCounts();
  const std::map<std::string, void (*)()> cases = {{"in-order", InOrder},   {"fork", Fork},
                                                   {"cut-off", CutOff},     {"small-shm", SmallShm},
                                                   {"large-shm", LargeShm}, {"just-enough-shm", JustEnoughShm},
                                                   {"full-shm", FullShm}};
  cases.at(argv[3])();
  return Passed();
}
