// Disks that change while a job runs: they become full, they fail, they hang. Callbacks go on, finalize and exit end, and
// what is missing afterwards is a counted position.
//
//   mid_run <plugin.so> <folder> <case>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

std::string folder;  // of rank files
std::string base;    // NCCL_TRACE_RING_DIR
std::string rings;   // the folder of ring files below it
const char* library;

// What the disk does from now on, to files whose path ends in `suffix`; see the function at the end.
enum Disk { kWorks, kIsFull, kHangs };
std::atomic<Disk> disk{kWorks};
std::atomic<uint64_t> touched{0};  // writes that have met it
const char* suffix = ".bin";

constexpr uint64_t kCalls = 1'000;

std::string RankPath(int rank) {
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", rank);
  return folder + name;
}

/** However busy the machine is: it happens some time. */
void Await(const char* what, const std::function<bool()>& has_happened) {
  for (int i = 0; i < 12'000; ++i) {
    if (has_happened()) return;
    usleep(10'000);
  }
  Fail(__FILE__, __LINE__, what);
}

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

rank_file::FileHeader HeaderOf(int rank) {
  rank_file::FileHeader header = {};
  std::ifstream(RankPath(rank), std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
  return header;
}

void AwaitCopy(int rank) {
  for (int copies = 0; copies < 2; ++copies) {
    const uint64_t last = HeaderOf(rank).copied_tick;
    Await("a copy", [=] { return HeaderOf(rank).copied_tick > last; });
  }
}

size_t RingFiles() {
  DIR* entries = opendir(rings.c_str());
  if (entries == nullptr) return 0;
  size_t found = 0;
  while (const dirent* entry = readdir(entries)) found += strstr(entry->d_name, ".ring") != nullptr;
  closedir(entries);
  return found;
}

/** The rank file is there and has a first copy. */
void AwaitFile(int rank) {
  Await("the file", [=] { return HeaderOf(rank).copied_tick != 0; });
}

/** The only ring file says that the recorder's thread has got so far. */
void AwaitRingFile(rank_file::Life life) {
  const auto header = [] {
    rank_file::FileHeader found = {};
    DIR* entries = opendir(rings.c_str());
    while (const dirent* entry = entries != nullptr ? readdir(entries) : nullptr) {
      if (strstr(entry->d_name, ".ring") == nullptr) continue;
      std::ifstream in(rings + "/" + entry->d_name, std::ios::binary);
      in.read(reinterpret_cast<char*>(&found), sizeof(found));
    }
    if (entries != nullptr) closedir(entries);
    return found;
  };
  Await("the ring file", [&] { return header().life == life && header().io_errors > 0; });
}

/** A rank in a process of its own, which must end by itself and well. */
pid_t Spawn(int rank, const std::function<void(Nccl&, void*)>& life) {
  fflush(stdout);
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

void AwaitExit(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

/** Records, and positions that are missing: with records of one slot, all that was said. */
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

/** The next recorder of this user on this node saves what `rank` could not write. */
void ExpectSavedByTheNext(int rank, uint64_t calls) {
  AwaitExit(Spawn(rank + 1, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles() == 1; });
    nccl.Finalize(context);
  }));
  const RankFileReader saved(RankPath(rank) + ".rings");
  CHECK_EQ(Counted(saved), calls);
  CHECK_EQ(saved.header().life, rank_file::kClosed);
  CHECK(saved.header().io_errors > 0);
}

// The disk takes nothing any more: the ring file has everything, and stays when the job ends.
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
  CHECK_EQ(RingFiles(), 1);
  ExpectSavedByTheNext(0, 2 * kCalls);
}

// Full for a while: the file has all of it in the end, and says that there were errors.
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
    Await("the close", [] { return HeaderOf(0).life == rank_file::kClosed; });
  }));
  const RankFileReader file(RankPath(0));
  CHECK_EQ(Counted(file), 3 * kCalls);
  CHECK(file.header().io_errors > 0);
}

// The mount begins to hang: so does the recorder's thread, and nobody else. Finalize, another beginning and exit come back
// while it still hangs.
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
  CHECK_EQ(RingFiles(), 1);
  AwaitExit(Spawn(1, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles() == 1; });
    nccl.Finalize(context);
  }));
  CHECK_EQ(Counted(RankFileReader(RankPath(0) + ".rings")), 3 * kCalls);
}

// It comes back: in stream mode what was overwritten meanwhile is a gap, and it goes on behind it.
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
    Await("the close", [] { return HeaderOf(0).life == rank_file::kClosed; });
  }));
  uint64_t missing;
  CHECK_EQ(Counted(RankFileReader(RankPath(0)), &missing), kLaps + 2 * kCalls);
  CHECK(missing > 0);
}

// A neighbour died whose mount hangs. Whoever saves its rings goes on with its own file.
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
    CHECK_EQ(RingFiles(), 2);
    nccl.Finalize(context);
    CHECK_EQ(touched, 1);  // by one thread
  }));
  CHECK_EQ(Counted(RankFileReader(RankPath(0))), kCalls);
  // It died over it as well: the next one finds half a file and an abandoned claim.
  AwaitExit(Spawn(2, [](Nccl& nccl, void* context) {
    Await("saved", [] { return RingFiles() == 1; });
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

// Ours before the C library's, for the plugin too.
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
  library = argv[1];
  folder = argv[2];
  base = folder + ".disk";
  rings = base + "/nccl-trace-" + std::to_string(geteuid());
  CHECK_EQ(mkdir(base.c_str(), 0755), 0);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 1);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  const std::map<std::string, void (*)()> cases = {
      {"full-at-the-end", FullAtTheEnd},
      {"full-for-a-while", FullForAWhile},
      {"hangs-until-the-end", HangsUntilTheEnd},
      {"hangs-for-a-while", HangsForAWhile},
      {"a-neighbours-disk-hangs", ANeighboursDiskHangs},
  };
  cases.at(argv[3])();
  return Passed();
}
