// Disks that become full, fail or hang while a job runs. Callbacks go on, finalize and exit return, and all missing
// records are counted positions.
//
//   mid_run <plugin.so> <folder> <case>

#include <dlfcn.h>
#include <errno.h>

#include <atomic>
#include <map>

#include "test/rank_processes.h"

using namespace nccl_trace_test;

namespace {

// The behaviour of the disk for files whose path ends in `suffix`; see pwrite at the end.
enum Disk { kWorks, kIsFull, kHangs };
std::atomic<Disk> disk{kWorks};
std::atomic<uint64_t> touched{0};  // number of writes with that behaviour
const char* suffix = ".bin";

constexpr uint64_t kCalls = 1'000;

void AwaitTouched() {
  const uint64_t before = touched;
  Await("a write", [=] { return touched != before; });
}

void CallMany(Nccl& nccl, void* context, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    Descriptor d = Describe(nccl_abi::kGroup);
    nccl.Start(context, d);
  }
}

void AwaitCopy(int rank) {
  for (int copies = 0; copies < 2; ++copies) {
    const uint64_t last = HeaderOf(rank).copied_tick;
    Await("a copy", [=] { return HeaderOf(rank).copied_tick > last; });
  }
}

std::vector<std::string> RingFiles() {
  std::vector<std::string> found;
  for (const std::string& name : NamesIn(rings)) {
    if (name.find(".ring") != std::string::npos) found.push_back(name);
  }
  return found;
}

/** Waits for the rank file and its first copy. */
void AwaitFile(int rank) {
  Await("the file", [=] { return HeaderOf(rank).copied_tick != 0; });
}

/** Waits until the only ring file has this life. */
void AwaitRingFile(rank_file::Life life) {
  const auto header = [] {
    rank_file::FileHeader found = {};
    for (const std::string& name : RingFiles()) {
      std::ifstream(rings + "/" + name, std::ios::binary).read(reinterpret_cast<char*>(&found), sizeof(found));
    }
    return found;
  };
  Await("the ring file", [&] { return header().life == life && header().io_errors > 0; });
}

/** Records plus missing positions. With records of one slot this is the number of calls. */
uint64_t Counted(const RankFileReader& file, uint64_t* missing = nullptr) {
  uint64_t found = 0;
  uint64_t gaps = 0;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    for (const Record& record : file.Records(ring)) found += record.kind == rank_file::kStartGroup;
    for (const Span& gap : file.Gaps(ring)) gaps += gap.end - gap.begin;
  }
  printf("%" PRIu64 " records, %" PRIu64 " positions missing, %" PRIu64 " errors\n", found, gaps,
         file.header().io_errors);
  if (missing != nullptr) *missing = gaps;
  return found + gaps;
}

/** Expects that the next recorder of this user on this node saves the rings of `rank`. */
void ExpectSavedByTheNext(int rank, uint64_t calls) {
  AwaitExit(Spawn(rank + 1, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles().size() == 1; });
    nccl.Finalize(context);
  }));
  const RankFileReader saved(SavedPath(rank));
  CHECK_EQ(Counted(saved), calls);
  CHECK_EQ(saved.header().life, rank_file::kClosed);
  CHECK(saved.header().io_errors > 0);
}

// The disk is full at the end: the ring file has everything, and stays when the job ends.
void FullAtTheEnd() {
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    AwaitFile(0);
    CallMany(nccl, context, kCalls);
    disk = kIsFull;
    CallMany(nccl, context, kCalls);
    nccl.Finalize(context);
    AwaitRingFile(rank_file::kClosed);
  }));
  CHECK(Counted(RankFileReader(RankPath(0))) < 2 * kCalls);
  CHECK_EQ(RingFiles().size(), 1);
  ExpectSavedByTheNext(0, 2 * kCalls);
}

// The disk is full for a while: the file has everything in the end, and counts the errors.
void FullForAWhile() {
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    AwaitFile(0);
    CallMany(nccl, context, kCalls);
    disk = kIsFull;
    AwaitTouched();
    CallMany(nccl, context, kCalls);
    disk = kWorks;
    CallMany(nccl, context, kCalls);
    nccl.Finalize(context);
    AwaitClosed(RankPath(0));
  }));
  const RankFileReader file(RankPath(0));
  CHECK_EQ(Counted(file), 3 * kCalls);
  CHECK(file.header().io_errors > 0);
}

// The disk is full before the first write, though room was reserved: header and rings are written when there is room.
void FullAtTheStart() {
  disk = kIsFull;
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, kCalls);
    AwaitTouched();
    disk = kWorks;
    CallMany(nccl, context, kCalls);
    nccl.Finalize(context);
    AwaitClosed(RankPath(0));
  }));
  const RankFileReader file(RankPath(0));
  CHECK_EQ(Counted(file), 2 * kCalls);
  CHECK(file.header().io_errors > 0);
}

// The mount begins to hang: only the recorder's thread waits for it. Finalize, a second init and exit return.
void HangsUntilTheEnd() {
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    AwaitFile(0);
    CallMany(nccl, context, kCalls);
    disk = kHangs;
    AwaitTouched();
    CallMany(nccl, context, kCalls);
    nccl.Finalize(context);
    context = nccl.Init();
    CHECK(context != nullptr);
    CallMany(nccl, context, kCalls);
  }));
  CHECK_EQ(RingFiles().size(), 1);
  AwaitExit(Spawn(1, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles().size() == 1; });
    nccl.Finalize(context);
  }));
  CHECK_EQ(Counted(RankFileReader(RankPath(0) + ".rings")), 3 * kCalls);
}

// The mount comes back: in stream mode the overwritten records are a gap, and recording continues after it.
void HangsForAWhile() {
  setenv("NCCL_TRACE_MODE", "stream", 1);
  constexpr uint64_t kLaps = 20'000;  // of a ring of 8 Ki slots
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    AwaitFile(0);
    CallMany(nccl, context, kCalls);
    disk = kHangs;
    AwaitTouched();
    CallMany(nccl, context, kLaps);
    disk = kWorks;
    CallMany(nccl, context, kCalls);
    const uint64_t copied = HeaderOf(0).copied_tick;
    Await("a copy", [=] { return HeaderOf(0).copied_tick > copied; });
    nccl.Finalize(context);
    AwaitClosed(RankPath(0));
  }));
  uint64_t missing;
  CHECK_EQ(Counted(RankFileReader(RankPath(0)), &missing), kLaps + 2 * kCalls);
  CHECK(missing > 0);
}

// A neighbour died and its mount hangs. The recorder that saves its rings still writes its own file.
void ANeighboursDiskHangs() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, kCalls);
    _exit(0);
  });
  AwaitExit(victim);
  AwaitExit(Spawn(0, [](Nccl& nccl, void* context) {
    suffix = ".rings";
    disk = kHangs;
    Await("somebody at the neighbour's rings", [] { return touched != 0; });
    CallMany(nccl, context, kCalls);
    AwaitCopy(0);
    CHECK_EQ(RingFiles().size(), 2);
    nccl.Finalize(context);
    CHECK_EQ(touched, 1);  // by one thread
  }));
  CHECK_EQ(Counted(RankFileReader(RankPath(0))), kCalls);
  // The saver's process ended as well: the next one finds half a file and an abandoned claim.
  AwaitExit(Spawn(2, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles().size() == 1; });
    nccl.Finalize(context);
  }));
  CHECK_EQ(Counted(RankFileReader(RankPath(1) + ".rings")), kCalls);
}

bool EndsIn(int fd, const char* end) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  const size_t wanted = strlen(end);
  return length >= static_cast<ssize_t>(wanted) && strncmp(path + length - wanted, end, wanted) == 0;
}

}  // namespace

// Replaces the C library's function, for the plugin too.
extern "C" ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  static const auto next = reinterpret_cast<decltype(&pwrite)>(dlsym(RTLD_NEXT, "pwrite"));
  if (disk != kWorks && EndsIn(fd, suffix)) {
    ++touched;
    if (disk == kIsFull) {
      errno = ENOSPC;
      return -1;
    }
    while (disk == kHangs) usleep(10'000);
  }
  return next(fd, data, bytes, offset);
}

int main(int, char** argv) {
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  UseArguments(argv);
  const std::map<std::string, void (*)()> cases = {
      {"full-at-the-start", FullAtTheStart}, {"full-at-the-end", FullAtTheEnd},
      {"full-for-a-while", FullForAWhile},   {"hangs-until-the-end", HangsUntilTheEnd},
      {"hangs-for-a-while", HangsForAWhile}, {"a-neighbours-disk-hangs", ANeighboursDiskHangs},
  };
  cases.at(argv[3])();
  return Passed();
}
