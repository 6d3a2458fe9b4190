// Rings in a file of their own: where they go, and what is there while their process lives and after it ended in order.
//
//   ring_files <plugin.so> <folder> <case>
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include <map>

#include "test/counted_ranks.h"

using namespace nccl_trace_test;

namespace {

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

int main(int, char** argv) {
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  UseArguments(argv);
  ShareCounts();
  const std::map<std::string, void (*)()> cases = {
      {"in-order", InOrder}, {"fork", Fork}, {"small-shm", SmallShm}, {"large-shm", LargeShm}};
  cases.at(argv[3])();
  return Passed();
}
