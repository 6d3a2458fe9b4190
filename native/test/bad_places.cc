// Folders and disks that fail: the job goes on, one warning says so, and the plugin keeps what it can.
//
//   bad_places <plugin.so> <folder> <case>
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <dlfcn.h>
#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "test/await.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

std::string folder;
const char* library;
std::atomic<bool> disk_hangs{false};
std::atomic<uint32_t> disk_us_per_kib{0};
std::atomic<bool> looks_like_nfs{false};

[[noreturn]] void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

/** A whole small job, with or without a file. */
void Job(Nccl& nccl) {
  void* context = nccl.Init();
  CHECK(context != nullptr);
  CHECK(nccl.mask() != 0);
  for (int i = 0; i < 1'000; ++i) {
    Descriptor d = Coll(0, "AllReduce", static_cast<uint64_t>(i));
    nccl.Stop(nccl.Start(context, d));
  }
  nccl.Finalize(context);
}

void ExpectWarning(const char* words) {
  CHECK_EQ(Lines().warnings.size(), 1);
  printf("%s\n", Lines().warnings[0].c_str());
  CHECK(Lines().warnings[0].find(words) != std::string::npos);
  CHECK_EQ(Lines().infos.size(), 1);
}

void NoPermission() {
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  CHECK_EQ(chmod(folder.c_str(), 0555), 0);
  Nccl nccl(library);  // before this process loses the right to read it
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) Skip("cannot stop being root");
  Job(nccl);
  ExpectWarning("Permission denied");
}

void NotAFolder() {
  FILE* file = fopen(folder.c_str(), "w");
  CHECK(file != nullptr);
  fclose(file);
  Nccl nccl(library);
  Job(nccl);
  ExpectWarning("Not a directory");
}

void Mount(const char* options, unsigned long flags) {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  if (mount("tmpfs", folder.c_str(), "tmpfs", flags, options) != 0) Skip("cannot mount a tmpfs");
}

void ReadOnly() {
  Mount("size=64k", MS_RDONLY);
  Nccl nccl(library);
  Job(nccl);
  ExpectWarning("Read-only file system");
}

uint64_t FreeBytes() {
  struct statfs fs;
  CHECK_EQ(statfs(folder.c_str(), &fs), 0);
  return fs.f_bavail * static_cast<uint64_t>(fs.f_bsize);
}

void DiskFull() {
  Mount("size=1m", 0);
  const uint64_t before = FreeBytes();
  Nccl nccl(library);
  Job(nccl);
  ExpectWarning("No space left on device");
  CHECK_EQ(FreeBytes(), before);  // no half-written file is left
}

// Our writes must not kill the job by a signal, whatever mask NCCL's thread has.
void FileSizeLimit() {
  const rlimit limit = {1 << 20, 1 << 20};
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  Nccl nccl(library);
  Job(nccl);
  ExpectWarning("File too large");
}

void CheckCopied() {
  const RankFileReader file(folder + "/rank00000.bin");
  CHECK_EQ(file.header().placement, rank_file::kInMemory);
  CHECK_EQ(file.header().copy_interval_ms, 2'000);
  CHECK_EQ(file.header().life, rank_file::kClosed);
  CHECK(file.header().copied_tick > file.header().start_tick);
  uint64_t starts = 0;
  for (const uint32_t ring : file.AreasOf(rank_file::kRingHost)) {
    for (const Record& record : file.Records(ring)) starts += record.kind == rank_file::kStartColl;
  }
  CHECK_EQ(starts, 1'000);
  CHECK(file.String(1) == "AllReduce");
}

// A file system that is not trusted: rings stay in memory and are copied, here at the latest when the job ends.
void NotToBeMapped() {
  looks_like_nfs = true;
  Nccl nccl(library);
  Job(nccl);
  CHECK(Lines().warnings.empty());
  AwaitClosed(folder + "/rank00000.bin");
  CheckCopied();
}

// A mount hangs: init still returns, and the file is written when the mount is back.
void SlowDisk() {
  disk_hangs = true;
  Nccl nccl(library);
  void* context = nccl.Init();
  CHECK(nccl.mask() != 0);
  ExpectWarning("not there after 1.7 s");
  for (int i = 0; i < 1'000; ++i) {
    Descriptor d = Coll(0, "AllReduce", static_cast<uint64_t>(i));
    nccl.Stop(nccl.Start(context, d));
  }
  disk_hangs = false;
  Await("the file", [] { return HeaderOf(folder + "/rank00000.bin").life == rank_file::kRecording; });
  nccl.Finalize(context);
  AwaitClosed(folder + "/rank00000.bin");
  CheckCopied();
}

// A disk is so busy that reserving space takes longer than init waits. The file is there soon after init has gone on.
void BusyDisk() {
  setenv("NCCL_TRACE_RING_MB", "64", 1);
  disk_us_per_kib = 100;  // 10 MB/s
  Nccl nccl(library);
  void* context = nccl.Init();
  ExpectWarning("not there after 1.7 s");
  for (int i = 0; i < 1'000; ++i) {
    Descriptor d = Coll(0, "AllReduce", static_cast<uint64_t>(i));
    nccl.Stop(nccl.Start(context, d));
  }
  const auto before = std::chrono::steady_clock::now();
  Await("the records", [] {
    const rank_file::FileHeader header = HeaderOf(folder + "/rank00000.bin");
    return header.life == rank_file::kRecording && header.copied_tick > header.start_tick;
  });
  // At 10 MB/s the zeros of 64 MB would take 5 s more.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(3));
  disk_us_per_kib = 0;
  nccl.Finalize(context);
  AwaitClosed(folder + "/rank00000.bin");
  CheckCopied();
}

// A job ends even while the mount hangs.
void DeadDisk() {
  disk_hangs = true;
  Nccl nccl(library);
  Job(nccl);
  ExpectWarning("not there after 1.7 s");
}

// A rank file of an earlier run is not changed.
void NothingIsOverwritten() {
  {
    CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
    FILE* file = fopen((folder + "/rank00000.bin").c_str(), "w");
    fputs("precious", file);
    fclose(file);
  }
  const std::string with_pid = folder + "/rank00000." + std::to_string(getpid());
  CHECK_EQ(symlink("/nonexistent", (with_pid + ".bin").c_str()), 0);
  Nccl nccl(library);
  Job(nccl);
  CHECK(Lines().warnings.empty());
  AwaitClosed(with_pid + ".2.bin");
  FILE* file = fopen((folder + "/rank00000.bin").c_str(), "r");
  char text[16] = "";
  CHECK(fgets(text, sizeof(text), file) != nullptr);
  CHECK(strcmp(text, "precious") == 0);
  struct stat made;
  CHECK_EQ(stat((with_pid + ".2.bin").c_str(), &made), 0);
  CHECK_EQ(made.st_mode & 0777, 0600);
}

// A small budget makes a small file.
void SmallBudget() {
  setenv("NCCL_TRACE_RING_MB", "0.125", 1);
  setenv("NCCL_TRACE_RUN_ID", "../a b", 1);
  Nccl nccl(library);
  Job(nccl);
  const RankFileReader file(folder + "/_._a_b/rank00000.bin");
  printf("%" PRIu64 " bytes before the chunks\n", file.header().chunks_offset);
  CHECK(file.header().chunks_offset < 200 << 10);
  CHECK(strcmp(file.header().run_id, "_._a_b") == 0);
}

}  // namespace

// Replace the C library's functions, for the plugin too: a slow disk and a foreign file system.
extern "C" {

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  static const auto next = reinterpret_cast<decltype(&pwrite)>(dlsym(RTLD_NEXT, "pwrite"));
  while (disk_hangs) usleep(10'000);
  if (disk_us_per_kib != 0) usleep(static_cast<useconds_t>(disk_us_per_kib * (bytes >> 10)));
  return next(fd, data, bytes, offset);
}

int fstatfs(int fd, struct statfs* fs) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, struct statfs*)>(dlsym(RTLD_NEXT, "fstatfs"));
  const int result = next(fd, fs);
  if (looks_like_nfs) fs->f_type = NFS_SUPER_MAGIC;
  return result;
}

}  // extern "C"

int main(int, char** argv) {
  library = argv[1];
  folder = argv[2];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  setenv("RANK", "0", 1);
  const std::map<std::string, void (*)()> cases = {
      {"no-permission", NoPermission},
      {"not-a-folder", NotAFolder},
      {"read-only", ReadOnly},
      {"disk-full", DiskFull},
      {"file-size-limit", FileSizeLimit},
      {"not-to-be-mapped", NotToBeMapped},
      {"slow-disk", SlowDisk},
      {"busy-disk", BusyDisk},
      {"dead-disk", DeadDisk},
      {"nothing-is-overwritten", NothingIsOverwritten},
      {"small-budget", SmallBudget},
  };
  cases.at(argv[3])();
  return Passed();
}
