// What happens to a job around NCCL: folders that vanish, mounts that hang, memory limits, one core for everything, many
// threads and communicators, a peer that is stuck for minutes.
//
//   faults <plugin.so> <folder> <case> [how much: 1 is a sample]
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

// A sanitizer's own bookkeeping grows with threads and allocations, as does an emulator's (EMULATED).
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif

namespace {

std::string folder;
std::string path;  // of the rank file
const char* library;
uint64_t much = 1;

[[noreturn]] void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void CallMany(Nccl& nccl, void* context, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    Descriptor d = Coll(0, "AllReduce", i);
    nccl.Start(context, d);
  }
}

/** Records of a kind in all rings, and positions that are missing. */
uint64_t KindIn(const RankFileReader& file, uint32_t kind, uint64_t* missing = nullptr) {
  uint64_t found = 0;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    for (const Record& record : file.Records(ring)) found += record.kind == kind;
    if (missing == nullptr) continue;
    for (const Span& gap : file.Gaps(ring)) *missing += gap.end - gap.begin;
  }
  return found;
}

/** In a process of its own, which must end by itself and well. */
void InChild(const std::function<void()>& what) {
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    what();
    exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
  CHECK_EQ(WEXITSTATUS(status), 0);
}

void OwnMounts() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    Skip("cannot have mounts of our own");
  }
}

void RemoveTree(const std::string& tree) { CHECK_EQ(system(("rm -rf '" + tree + "'").c_str()), 0); }

/** A number of a line "name: number" of a file of /proc. */
uint64_t ProcNumber(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) == 0) return strtoull(line.c_str() + name.size(), nullptr, 10);
  }
  return 0;
}

struct Footprint {
  uint64_t kilobytes;
  uint64_t descriptors;
};

uint64_t EntriesOf(const std::string& tree) {
  uint64_t found = 0;
  DIR* entries = opendir(tree.c_str());
  while (const dirent* entry = entries != nullptr ? readdir(entries) : nullptr) found += entry->d_name[0] != '.';
  if (entries != nullptr) closedir(entries);
  return found;
}

Footprint Measure() { return {ProcNumber("/proc/self/status", "VmRSS:"), EntriesOf("/proc/self/fd")}; }

void ExpectFlat(const Footprint& before, const Footprint& after, uint64_t kilobytes) {
  printf("%" PRIu64 " kB and %" PRIu64 " descriptors, then %" PRIu64 " kB and %" PRIu64 "\n", before.kilobytes,
         before.descriptors, after.kilobytes, after.descriptors);
  CHECK_EQ(after.descriptors, before.descriptors);
  if (kMemoryIsOurs && getenv("EMULATED") == nullptr) CHECK(after.kilobytes <= before.kilobytes + kilobytes);
}

// The parent of a split communicator is finalized while its proxy thread, which the child shares, still reports with the
// parent's context and handles; then the last one, and the thread still goes on.
void ParentFinalized() {
  Nccl nccl(library);
  void* parent = nccl.Init(1, "parent");
  void* child = nccl.Init(2, "child");
  constexpr uint64_t kOps = 4'000;
  std::atomic<uint64_t> done{0};
  std::thread proxy([&] {
    for (uint64_t i = 0; i < kOps; ++i) {
      Descriptor d = ProxyOp(0, 1, 2, true);
      const uint64_t op = nccl.Start(i % 2 == 0 ? parent : child, d);
      const uint64_t step = nccl.Start(parent, d = ProxyStep(op, 0));
      nccl.State(step, 9, 4096);
      nccl.Stop(step);
      nccl.Stop(op);
      done = i + 1;
      if (i % 64 == 0) usleep(100);
    }
  });
  while (done < kOps / 4) usleep(100);
  nccl.Finalize(parent);
  while (done < kOps / 2) usleep(100);
  nccl.Finalize(child);
  proxy.join();
  const RankFileReader file(path);
  CHECK_EQ(file.header().life, rank_file::kClosed);
  CHECK_EQ(KindIn(file, rank_file::kStartProxyOp), kOps);
  CHECK_EQ(KindIn(file, rank_file::kStartProxyStep), kOps);
  CHECK_EQ(KindIn(file, rank_file::kStop), 2 * kOps);
}

// Somebody clears the disk while the job runs: nothing is recorded any more, and nobody is harmed.
void FolderDeleted() {
  for (const char* place : {"none", "beside"}) {
    for (const char* mode : {"flight", "stream"}) {
      if (much == 1 && (place[0] == 'n') != (mode[0] == 's')) continue;
      InChild([&] {
        const std::string rings = folder + ".rings";
        mkdir(rings.c_str(), 0700);
        setenv("NCCL_TRACE_RING_DIR", strcmp(place, "none") == 0 ? "none" : rings.c_str(), 1);
        setenv("NCCL_TRACE_MODE", mode, 1);
        Nccl nccl(library);
        void* context = nccl.Init();
        CallMany(nccl, context, 1'000);
        RemoveTree(folder);
        RemoveTree(rings);
        CallMany(nccl, context, 200'000);
        if (place[0] == 'b') usleep(2'200'000);  // past the next copy
        CallMany(nccl, context, 1'000);
        nccl.Finalize(context);
        void* again = nccl.Init();
        CHECK(again != nullptr);
        CallMany(nccl, again, 1'000);
        nccl.Finalize(again);
        CHECK(access(path.c_str(), F_OK) != 0);
      });
    }
  }
}

// A FUSE server that never answers: whoever touches the mount waits for ever. Not NCCL's threads.
void HangingMount() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  const int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (server < 0) Skip("no FUSE");
  const std::string options = "fd=" + std::to_string(server) + ",rootmode=40000,user_id=0,group_id=0";
  if (mount("silent", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) Skip("cannot mount FUSE");
  const std::string base = folder + ".rings";
  CHECK_EQ(mkdir(base.c_str(), 0700), 0);
  const std::string rings = base + "/nccl-trace-" + std::to_string(geteuid());
  for (const bool with_ring_file : {false, true}) {
    InChild([&] {
      setenv("NCCL_TRACE_RING_DIR", with_ring_file ? base.c_str() : "none", 1);
      Nccl nccl(library);
      const double start = SecondsNow();
      void* context = nccl.Init();
      printf("init took %.2f s\n", SecondsNow() - start);
      CHECK(context != nullptr);
      CHECK(nccl.mask() != 0);
      CHECK_EQ(Lines().warnings.size(), 1);
      printf("%s\n", Lines().warnings[0].c_str());
      CHECK(Lines().warnings[0].find("not there after 2 s") != std::string::npos);
      CallMany(nccl, context, 1'000);
      nccl.Finalize(context);
      // And a second beginning, while the thread still waits.
      context = nccl.Init();
      CallMany(nccl, context, 1'000);
      fflush(stdout);
    });
  }
  // What could not be written anywhere else is in the ring file, with the name of the rank file it is for.
  DIR* entries = opendir(rings.c_str());
  CHECK(entries != nullptr);
  std::string left;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] != '.') left = entry->d_name;
  }
  closedir(entries);
  const RankFileReader ring_file(rings + "/" + left);
  CHECK_EQ(KindIn(ring_file, rank_file::kStartColl), 2'000);
  std::ifstream in(rings + "/" + left, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(ring_file.header().chunks_offset));
  std::string home;
  std::getline(in, home, '\0');
  CHECK(home == path);
  umount2(folder.c_str(), MNT_DETACH);
  close(server);
}

// The disk is full from the beginning: the ring file has everything, stays when the process ends, and is saved by the
// next one that finds room.
void DiskFullThenNot() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) Skip("cannot mount a tmpfs");
  const std::string base = folder + ".rings";
  CHECK_EQ(mkdir(base.c_str(), 0700), 0);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 1);
  InChild([] {
    Nccl nccl(library);
    void* context = nccl.Init();
    CHECK_EQ(Lines().warnings.size(), 1);
    CHECK(Lines().warnings[0].find("No space left on device; recording into /") != std::string::npos);
    CallMany(nccl, context, 1'000);
    nccl.Finalize(context);
  });
  // Perhaps with a beginning of the rank file: the process may have ended in the middle of another attempt.
  CHECK_EQ(mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT, "size=100m"), 0);
  InChild([] {
    setenv("RANK", "1", 1);
    Nccl nccl(library);
    void* context = nccl.Init();
    // As soon as the file is there it is being written; the ring file goes when it is complete.
    const std::string rings = folder + ".rings/nccl-trace-" + std::to_string(geteuid());
    for (int i = 0; i < 12'000 && EntriesOf(rings) > 1; ++i) usleep(10'000);
    nccl.Finalize(context);
  });
  const RankFileReader saved(path + ".rings");
  CHECK_EQ(KindIn(saved, rank_file::kStartColl), 1'000);
  CHECK_EQ(saved.header().life, rank_file::kClosed);
}

// One core for everybody, the recorder's thread included, which gives way: every call is a record or a counted position.
void SingleCore() {
  cpu_set_t all;
  CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  int core = 0;
  while (!CPU_ISSET(core, &all)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  for (const char* mode : {"flight", "stream"}) {
    setenv("RANK", strcmp(mode, "flight") == 0 ? "0" : "1", 1);
    InChild([&] {
      setenv("NCCL_TRACE_MODE", mode, 1);
      Nccl nccl(library);
      void* context = nccl.Init();
      CHECK(context != nullptr);
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
          for (uint64_t call = 0; call < 400'000 * much; ++call) {
            Descriptor d = Describe(nccl_abi::kGroup);
            nccl.Start(context, d);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      nccl.Finalize(context);
    });
  }
  for (const char* name : {"/rank00000.bin", "/rank00001.bin"}) {
    const RankFileReader file(folder + name);
    uint64_t missing = 0;
    const uint64_t found = KindIn(file, rank_file::kStartGroup, &missing);
    printf("%" PRIu64 " records, %" PRIu64 " positions missing, %zu chunks\n", found, missing, file.chunks().size());
    CHECK_EQ(found + missing, 1'600'000 * much);
  }
}

// Threads that come and go, 256 at a time.
void ManyThreads() {
  Nccl nccl(library);
  void* context = nccl.Init();
  const auto wave = [&] {
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable all_there;
    int attached = 0;
    for (int i = 0; i < 256; ++i) {
      threads.emplace_back([&] {
        Descriptor d = Describe(nccl_abi::kGroupApi);
        nccl.Start(context, d);
        std::unique_lock<std::mutex> lock(mutex);
        if (++attached == 256) all_there.notify_all();
        all_there.wait(lock, [&] { return attached == 256; });
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  for (int i = 0; i < 2; ++i) wave();
  const Footprint before = Measure();
  const uint64_t waves = 4 * much;
  for (uint64_t i = 0; i < waves; ++i) wave();
  ExpectFlat(before, Measure(), 2'048);
  nccl.Finalize(context);
  const RankFileReader file(path);
  uint64_t missing = 0;
  const uint64_t found = KindIn(file, rank_file::kStartGroupApi, &missing);
  CHECK_EQ(found + missing, (waves + 2) * 256);
  CHECK_EQ(file.header().threads_overflowed, (waves + 2) * (256 - 8));
}

// Communicators that come and go, some of them the last one.
void ManyCommunicators() {
  Nccl nccl(library);
  void* first = nccl.Init(0);
  const auto round = [&](uint64_t count) {
    std::vector<void*> contexts;
    for (uint64_t i = 0; i < count; ++i) {
      contexts.push_back(nccl.Init(i, "one of many"));
      CallMany(nccl, contexts.back(), 1);
      if (contexts.size() < 100) continue;
      for (void* context : contexts) nccl.Finalize(context);
      contexts.clear();
    }
    for (void* context : contexts) nccl.Finalize(context);
  };
  round(500);
  const Footprint before = Measure();
  round(2'000 * much);
  ExpectFlat(before, Measure(), 512);
  CHECK_EQ(RankFileReader(path).header().communicators_lost, 0);
  nccl.Finalize(first);
  for (int i = 0; i < 50; ++i) {
    void* only = nccl.Init(1);
    CallMany(nccl, only, 1);
    nccl.Finalize(only);
  }
  ExpectFlat(before, Measure(), 512);
  const RankFileReader file(path);
  CHECK_EQ(file.header().life, rank_file::kClosed);
  uint64_t missing = 0;
  const uint64_t found = KindIn(file, rank_file::kStartColl, &missing);
  CHECK_EQ(found * 4 + missing, 4 * (550 + 2'000 * much));  // slots
}

// A peer that is stuck: its sender polls as fast as it can. All that was recorded before is still there, and how often and
// until when it polled is known, in a file that is being written.
void StuckPeer() {
  setenv("NCCL_TRACE_RING_MB", "0.5", 1);
  Nccl nccl(library);
  void* context = nccl.Init();
  Descriptor d = ProxyOp(0, 1, 2, true);
  const uint64_t op = nccl.Start(context, d);
  constexpr int kHistory = 100;
  std::vector<uint64_t> history;
  for (int i = 0; i < kHistory; ++i) {
    history.push_back(nccl.Start(context, d = ProxyStep(op, i)));
    nccl.Stop(history.back());
  }
  const uint64_t step = nccl.Start(context, d = ProxyStep(op, kHistory));
  nccl.State(step, 8);
  const double end = SecondsNow() + 1.0 * static_cast<double>(much);
  uint64_t polls = 0;
  uint64_t said = 0;  // by the file, in mid-run
  do {
    for (int i = 0; i < 100'000; ++i) nccl.State(step, nccl_abi::kStepSendPeerWait);
    polls += 100'000;
    said += polls == 100'000 && access(path.c_str(), R_OK) == 0;
  } while (SecondsNow() < end);
  CHECK_EQ(said, 1);
  const RankFileReader file(path);
  CHECK_EQ(file.header().life, rank_file::kRecording);
  Record record;
  for (const uint64_t handle : history) {
    CHECK(file.Find(rank_file::HandleRing(handle), rank_file::HandlePosition(handle), record));
    CHECK_EQ(record.kind, rank_file::kStartProxyStep);
  }
  const uint32_t ring = rank_file::HandleRing(step);
  uint64_t counted = 0;
  uint64_t last_tick = 0;
  for (const Record& r : file.Records(ring)) {
    if (r.kind < rank_file::kState || r.handle() != step) continue;
    if ((r.w(0, 2) & 0xFFFF) != nccl_abi::kStepSendPeerWait) continue;
    counted += r.kind == rank_file::kFold ? r.w(1, 1) : 1;
    last_tick = r.tick();
  }
  for (const OpenFold& fold : file.OpenFolds(ring)) {
    if (fold.handle != step) continue;
    counted += fold.count;
    CHECK(fold.last_tick >= last_tick);
  }
  printf("%" PRIu64 " polls, %" PRIu64 " slots\n", polls, file.Live(ring).head);
  CHECK_EQ(counted, polls);
  nccl.Finalize(context);
}

/** The memory controller's folder of a new group, in either version of control groups. */
std::string NewMemoryGroup(uint64_t bytes) {
  const std::string name = "/nccl-trace-test-" + std::to_string(getpid());
  const char* const kinds[][2] = {{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes"},
                                  {"/sys/fs/cgroup", "/memory.max"}};
  for (const auto& [root, limit] : kinds) {
    const std::string group = root + name;
    if (mkdir(group.c_str(), 0755) != 0) continue;
    std::ofstream out(group + limit);
    out << bytes << std::flush;
    if (out.good()) return group;
    rmdir(group.c_str());
  }
  Skip("no control group for memory");
}

// A container whose memory the rings would fill: they go where the kernel can take pages back, and nobody is killed.
void MemoryLimit() {
  if (!kMemoryIsOurs) Skip("a sanitizer's memory is more than the limit");
  unsetenv("NCCL_TRACE_RING_DIR");
  setenv("NCCL_TRACE_RING_MB", "32", 1);
  const std::string group = NewMemoryGroup(uint64_t{48} << 20);
  InChild([&] {
    std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
    Nccl nccl(library);
    void* context = nccl.Init();
    CHECK(context != nullptr);
    CallMany(nccl, context, 300'000);
    nccl.Finalize(context);
  });
  rmdir(group.c_str());
  const RankFileReader file(path);
  CHECK(file.header().placement != rank_file::kInRingFile);
  CHECK_EQ(file.header().life, rank_file::kClosed);
}

// The file systems that this machine can make and mount, and containers' roots on top of them: rings are mapped where a
// store cannot fail, and nowhere else; nothing is lost on either.
void FileSystems() {
  OwnMounts();
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  int tried = 0;
  for (const auto& [make, may_be_mapped] :
       {std::pair<const char*, bool>{"mkfs.ext4 -q", true}, {"mkfs.xfs -q", true}, {"mkfs.btrfs -q", false}}) {
    const std::string name = folder + "/" + std::to_string(tried);
    const auto shell = [&](const std::string& command) { return system((command + " >/dev/null 2>&1").c_str()) == 0; };
    const std::string place = "'" + name + "'";
    if (!shell("truncate -s 320M " + place + ".img && " + make + " " + place + ".img && mkdir " + place +
               " && mount -o loop " + place + ".img " + place)) {
      printf("not here: %s\n", make);
      continue;
    }
    ++tried;
    CHECK(shell("mkdir " + place + "/u " + place + "/w " + place + "/l " + place + "/o"));
    const bool has_overlay = shell("mount -t overlay overlay -o lowerdir=" + name + "/l,upperdir=" + name +
                                   "/u,workdir=" + name + "/w " + place + "/o");
    for (const bool over : {false, true}) {
      if (over && !has_overlay) continue;
      const std::string run = name + (over ? "/o/run" : "/run");
      InChild([&] {
        setenv("NCCL_TRACE_DIR", run.c_str(), 1);
        setenv("NCCL_TRACE_MODE", "stream", 1);
        Nccl nccl(library);
        void* context = nccl.Init();
        for (const std::string& warning : Lines().warnings) printf("%s\n", warning.c_str());
        CallMany(nccl, context, 200'000);
        nccl.Finalize(context);
      });
      const RankFileReader file(run + "/rank00000.bin");
      printf("%s%s: placement %u\n", make, over ? ", overlay" : "", file.header().placement);
      CHECK_EQ(file.header().placement, may_be_mapped ? rank_file::kInFile : rank_file::kInMemory);
      uint64_t missing = 0;
      const uint64_t found = KindIn(file, rank_file::kStartColl, &missing);
      CHECK_EQ(found * 4 + missing, 800'000);  // slots
    }
    shell("umount " + place + "/o; umount " + place + "; rm " + place + ".img");
  }
  if (tried == 0) Skip("no file system can be made and mounted");
}

}  // namespace

int main(int argc, char** argv) {
  library = argv[1];
  folder = argv[2];
  path = folder + "/rank00000.bin";
  if (argc > 4) much = strtoull(argv[4], nullptr, 10);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  setenv("RANK", "0", 1);
  const std::map<std::string, void (*)()> cases = {
      {"parent-finalized", ParentFinalized},
      {"folder-deleted", FolderDeleted},
      {"hanging-mount", HangingMount},
      {"disk-full-then-not", DiskFullThenNot},
      {"single-core", SingleCore},
      {"many-threads", ManyThreads},
      {"many-communicators", ManyCommunicators},
      {"stuck-peer", StuckPeer},
      {"memory-limit", MemoryLimit},
      {"file-systems", FileSystems},
  };
  cases.at(argv[3])();
  return Passed();
}
