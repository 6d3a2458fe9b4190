// Stream mode through the library, as NCCL calls it: chunks and rings together hold every record once, and what is
// missing is a gap.
//
//   stream <plugin.so> <folder> <case>
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "test/await.h"
#include "test/forked.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

std::string folder;
std::string path;  // of the rank file
const char* library;
std::atomic<bool> looks_like_nfs{false};

[[noreturn]] void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

/** The parent says thread and number, so a record tells which call it came from. */
void Call(Nccl& nccl, void* context, uint64_t thread, uint64_t number) {
  Descriptor d = Describe(nccl_abi::kGroup, thread << 40 | number << 1);
  nccl.Start(context, d);
}

/** With pauses, for the recorder's thread to have a chance on a busy machine. */
void CallMany(Nccl& nccl, void* context, uint64_t thread, uint64_t from, uint64_t to) {
  for (uint64_t number = from; number < to; ++number) {
    Call(nccl, context, thread, number);
    if (number % 512 == 511) usleep(1'000);
  }
}

struct Counts {
  std::map<uint64_t, uint64_t> calls;  // by thread: records that are there, none twice
  uint64_t missing = 0;                // positions
};

/** The file has each call exactly once. */
Counts Count(const RankFileReader& file) {
  Counts counts;
  std::map<uint64_t, std::vector<bool>> seen;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    for (const Span& gap : file.Gaps(ring)) counts.missing += gap.end - gap.begin;
    for (const Record& record : file.Records(ring)) {
      CHECK_EQ(record.kind, rank_file::kStartGroup);
      const uint64_t number = (record.w(0, 1) & ((uint64_t{1} << 40) - 1)) >> 1;
      std::vector<bool>& numbers = seen[record.w(0, 1) >> 40];
      if (numbers.size() <= number) numbers.resize(number + 1);
      CHECK(!numbers[number]);
      numbers[number] = true;
      ++counts.calls[record.w(0, 1) >> 40];
    }
  }
  return counts;
}

/** In a closed file every call is a record or a counted position, even on a starved machine. */
RankFileReader ExpectAll(uint64_t calls) {
  AwaitClosed(path);
  const RankFileReader file(path);
  const Counts counts = Count(file);
  uint64_t found = 0;
  for (const auto& [thread, number] : counts.calls) found += number;
  printf("%zu chunks, %" PRIu64 " records, %" PRIu64 " positions missing\n", file.chunks().size(), found,
         counts.missing);
  CHECK_EQ(found + counts.missing, calls);
  CHECK_EQ(file.header().mode, rank_file::kStream);
  return file;
}

/** A ring with a chunk's worth is drained at some time, however busy the machine is. */
void AwaitMoreChunksThan(size_t before) {
  for (int i = 0; i < 3'000 && RankFileReader(path).chunks().size() <= before; ++i) usleep(10'000);
  CHECK(RankFileReader(path).chunks().size() > before);
}

// More than the rings hold: the overwritten records are in chunks.
void MoreThanTheRing() {
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 1, 0, 100'000);
  AwaitMoreChunksThan(0);
  nccl.Finalize(context);
  const RankFileReader file = ExpectAll(100'000);
  CHECK_EQ(file.header().io_errors, 0);
  CHECK_EQ(file.header().chunks_begin, file.header().chunks_offset);
  CHECK(file.header().chunks_end > file.chunks().back().offset);
}

// More threads than rings: two groups come one after the other into the same rings, and some share the overflow ring.
void RetiredAndSharedRings() {
  constexpr uint64_t kThreads = 11;
  constexpr uint64_t kCalls = 8'000;
  Nccl nccl(library);
  void* context = nccl.Init();
  for (uint64_t wave = 0; wave < 2; ++wave) {
    std::atomic<uint64_t> attached{0};
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Call(nccl, context, wave * kThreads + thread, 0);
        ++attached;
        while (attached != kThreads) usleep(100);
        CallMany(nccl, context, wave * kThreads + thread, 1, kCalls);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  nccl.Finalize(context);
  const RankFileReader file = ExpectAll(2 * kThreads * kCalls);
  CHECK_EQ(file.header().threads_overflowed, 2 * (kThreads - 8));
  // Leases say which thread wrote which positions, also of positions that are only in chunks.
  std::map<uint32_t, uint64_t> ends;
  uint64_t leases = 0;
  for (const Record& record : file.Records(file.AreasOf(rank_file::kTableLeases).at(0))) {
    if (record.kind == rank_file::kLease) {
      ++leases;
      CHECK_EQ(record.w(0, 1), ends[record.low(0, 2)]);
      ends[record.low(0, 2)] += kCalls;
    }
  }
  CHECK_EQ(leases, 2 * 8);
}

// Closed, called late, opened again: it goes on in the same file.
void Reopened() {
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 1, 0, 20'000);
  nccl.Finalize(context);
  ExpectAll(20'000);
  AwaitMoreChunksThan(0);
  CallMany(nccl, context, 1, 20'000, 60'000);
  const size_t chunks = ExpectAll(60'000).chunks().size();
  context = nccl.Init();
  CallMany(nccl, context, 1, 60'000, 80'000);
  AwaitMoreChunksThan(chunks);
  nccl.Finalize(context);
  ExpectAll(80'000);
  nccl.Unload();
  Nccl again(library, "ncclProfiler_v5");
  context = again.Init();
  CallMany(again, context, 1, 80'000, 100'000);
  again.Finalize(context);
  ExpectAll(100'000);
}

// The oldest chunks are deleted for the newest.
void Limit() {
  constexpr uint64_t kLimit = uint64_t{8} << 20;
  setenv("NCCL_TRACE_MAX_MB", "8", 1);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  Nccl nccl(library);
  void* context = nccl.Init();
  uint64_t calls = 0;
  uint64_t most = 0;
  struct stat file;
  // Handles that no compressor can make small.
  for (uint64_t noise = 1; calls < 600'000; ++calls) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    nccl.Stop(noise & ~(uint64_t{1} << 63));
    if (calls % 512 != 511) continue;
    usleep(500);
    CHECK_EQ(stat(path.c_str(), &file), 0);
    most = std::max(most, static_cast<uint64_t>(file.st_blocks) * 512);
  }
  AwaitMoreChunksThan(0);
  nccl.Finalize(context);
  printf("at most %" PRIu64 " of %" PRIu64 " bytes on disk, %" PRIu64 " by size\n", most, kLimit,
         static_cast<uint64_t>(file.st_size));
  CHECK(most <= kLimit);
  const RankFileReader read(path);
  CHECK_EQ(read.header().max_bytes, kLimit);
  CHECK_EQ(read.header().io_errors, 0);
  CHECK(static_cast<uint64_t>(file.st_size) <= kLimit + (uint64_t{4} << 20));
  if (static_cast<uint64_t>(file.st_size) > kLimit) {
    CHECK(read.chunks()[0].header.sequence > 0);
  } else {
    puts("the recorder's thread had too little time to reach the limit");
  }
  uint64_t found = 0;
  uint64_t missing = 0;
  for (uint32_t ring = 0; read.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    found += read.Records(ring).size();
    for (const Span& gap : read.Gaps(ring)) missing += gap.end - gap.begin;
  }
  CHECK_EQ(found + missing, calls);
}

/** The disk has little more room than the rings need. The job goes on, and the rings stay. */
void ExpectOnlyRings(uint64_t calls) {
  Nccl nccl(library);
  void* context = nccl.Init();
  CHECK(Lines().warnings.empty());
  CallMany(nccl, context, 1, 0, calls);
  nccl.Finalize(context);
  const RankFileReader file = ExpectAll(calls);
  const uint32_t ring = file.AreasOf(rank_file::kRingHost).at(0);
  for (const Span& gap : file.Gaps(ring)) CHECK(gap.end + file.areas()[ring].capacity <= file.Live(ring).head);
}

void DiskFull() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4600k") != 0) Skip("cannot mount a tmpfs");
  ExpectOnlyRings(200'000);
}

void FileSizeLimit() {
  const rlimit limit = {4600 << 10, 4600 << 10};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  ExpectOnlyRings(200'000);
}

// The job closes all descriptors that it does not know, and one of its own gets the number: chunks go on in the right
// file.
void DescriptorLost() {
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 1, 0, 20'000);
  AwaitMoreChunksThan(0);
  const size_t chunks = RankFileReader(path).chunks().size();
  const std::string other = folder + "/other";
  const int ours = open(other.c_str(), O_RDWR | O_CREAT, 0600);
  CHECK(ours >= 0);
  char link[64];
  char target[4096];
  int taken = 0;
  for (int fd = 0; fd < 64; ++fd) {
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, target, sizeof(target));
    if (length < 0 || std::string(target, static_cast<size_t>(length)) != path) continue;
    CHECK_EQ(dup2(ours, fd), fd);
    ++taken;
  }
  CHECK_EQ(taken, 1);
  CallMany(nccl, context, 1, 20'000, 60'000);
  AwaitMoreChunksThan(chunks);
  nccl.Finalize(context);
  CHECK(ExpectAll(60'000).header().io_errors > 0);
}

// Rings in memory, because of the file system: chunks still go to the file, beside the copies.
void RingsInMemory() {
  looks_like_nfs = true;
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 1, 0, 100'000);
  AwaitMoreChunksThan(0);
  const RankFileReader file(path);
  CHECK_EQ(file.header().placement, rank_file::kInMemory);
  CHECK_EQ(file.header().chunks_begin, file.header().chunks_offset);
  nccl.Finalize(context);
  ExpectAll(100'000);
}

// The child's copy of the recorder must not append to the parent's file, and holds none of its disk space.
void Fork() {
  Nccl nccl(library);
  void* context = nccl.Init();
  CallMany(nccl, context, 1, 0, 20'000);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    char name[64];
    char target[4096];
    for (int fd = 0; fd < 64; ++fd) {
      snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
      const ssize_t length = readlink(name, target, sizeof(target));
      CHECK(length < 0 || std::string(target, static_cast<size_t>(length)) != path);
    }
    CallMany(nccl, context, 2, 0, 20'000);
    ExitForked();
  }
  CallMany(nccl, context, 1, 20'000, 60'000);
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  nccl.Finalize(context);
  CHECK_EQ(Count(RankFileReader(path)).calls.size(), 1);
  ExpectAll(60'000);
}

}  // namespace

// Replaces the C library's function, for the plugin too.
extern "C" int fstatfs(int fd, struct statfs* fs) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, struct statfs*)>(dlsym(RTLD_NEXT, "fstatfs"));
  const int result = next(fd, fs);
  if (looks_like_nfs) fs->f_type = NFS_SUPER_MAGIC;
  return result;
}

int main(int, char** argv) {
  library = argv[1];
  folder = argv[2];
  path = folder + "/rank00000.bin";
  setenv("NCCL_TRACE_DIR", argv[2], 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_MODE", "stream", 1);
  setenv("NCCL_TRACE_RING_MB", "4", 1);
  setenv("RANK", "0", 1);
  const std::map<std::string, void (*)()> cases = {
      {"more-than-the-ring", MoreThanTheRing},
      {"retired-and-shared-rings", RetiredAndSharedRings},
      {"reopened", Reopened},
      {"limit", Limit},
      {"disk-full", DiskFull},
      {"file-size-limit", FileSizeLimit},
      {"descriptor-lost", DescriptorLost},
      {"rings-in-memory", RingsInMemory},
      {"fork", Fork},
  };
  cases.at(argv[3])();
  return Passed();
}
