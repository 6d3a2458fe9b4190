// What happens to a job around NCCL: memory limits, one core for everything, many threads and communicators, a peer
// that is stuck for minutes.
//
//   faults <plugin.so> <folder> <case> [how much: 1 is a sample]
//
// Prints SKIPPED instead of PASSED where this machine does not let us make the situation.

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <map>
#include <thread>

#include "test/job.h"

using namespace nccl_trace_test;

// The memory of a sanitizer or an emulator (EMULATED) itself grows with threads and allocations.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif

namespace {

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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

Footprint Measure() { return {ProcNumber("/proc/self/status", "VmRSS:"), EntriesOf("/proc/self/fd")}; }

void ExpectFlat(const Footprint& before, const Footprint& after, uint64_t kilobytes) {
  printf("%" PRIu64 " kB and %" PRIu64 " descriptors, then %" PRIu64 " kB and %" PRIu64 "\n", before.kilobytes,
         before.descriptors, after.kilobytes, after.descriptors);
  // Before may include one from making the file. After may include what the recorder's thread holds for a moment, as
  // while it looks at its neighbours.
  uint64_t descriptors = after.descriptors;
  for (int tries = 0; descriptors > before.descriptors && tries < 50; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    descriptors = EntriesOf("/proc/self/fd");
  }
  CHECK(descriptors <= before.descriptors);
  if (kMemoryIsOurs && getenv("EMULATED") == nullptr) CHECK(after.kilobytes <= before.kilobytes + kilobytes);
}

// The parent of a split communicator is finalized while its proxy thread, which the child shares, still reports with
// the parent's context and handles; then the last one, and the thread still goes on.
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
  AwaitClosed(path);
  const RankFileReader file(path);
  CHECK_EQ(KindIn(file, rank_file::kStartProxyOp), kOps);
  CHECK_EQ(KindIn(file, rank_file::kStartProxyStep), kOps);
  CHECK_EQ(KindIn(file, rank_file::kStop), 2 * kOps);
}

/** As the kernel says, or kNoThread. */
constexpr int kNoThread = 99;
int NiceOfRecorder() {
  int nice = kNoThread;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* task = readdir(tasks)) {
    std::string name;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), name);
    if (name == "nccl-trace") nice = getpriority(PRIO_PROCESS, static_cast<id_t>(atoi(task->d_name)));
  }
  closedir(tasks);
  return nice;
}

// One core for all threads, with the recorder's thread at low priority: every call is a record or a counted position.
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
      Await("the recorder gives way", [] { return NiceOfRecorder() >= 10 && NiceOfRecorder() != kNoThread; });
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
  AwaitClosed(path);
  const RankFileReader file(path);
  uint64_t missing = 0;
  const uint64_t found = KindIn(file, rank_file::kStartColl, &missing);
  CHECK_EQ(found * 4 + missing, 4 * (550 + 2'000 * much));  // slots
}

// A peer is stuck and its sender polls as fast as it can. The live file still has all earlier records, and the number
// and the last time of the polls.
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

// The rings would fill the container's memory: they go into a disk file, whose pages the kernel can reclaim, and
// nothing is killed.
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
    AwaitClosed(path);
  });
  rmdir(group.c_str());
  const RankFileReader file(path);
  CHECK(file.header().placement != rank_file::kInRingFile);
}

// The table of communicators has 256 entries. A communicator without one still counts as live: the file is not
// closed and the mask not cleared while any is live.
void TooManyCommunicators() {
  constexpr size_t kPlaces = 256;
  Nccl nccl(library);
  std::vector<void*> contexts;
  for (size_t i = 0; i < kPlaces + 2; ++i) contexts.push_back(nccl.Init(i, "one of too many"));
  CHECK_EQ(RankFileReader(path).header().communicators_lost, 2);
  for (size_t i = 0; i < kPlaces; ++i) nccl.Finalize(contexts[i]);
  nccl.Finalize(contexts[0]);  // again, which counts for none of the two
  usleep(1'500'000);           // longer than the interval of heartbeats
  CHECK(nccl.mask() != 0);
  CHECK_EQ(HeaderOf(path).life, rank_file::kRecording);
  Descriptor d = Coll(0, "AllReduce", 1);
  CHECK(nccl.Start(contexts[kPlaces], d) != 0);
  nccl.Finalize(contexts[kPlaces]);
  usleep(300'000);
  CHECK_EQ(HeaderOf(path).life, rank_file::kRecording);
  nccl.Finalize(contexts[kPlaces + 1]);
  AwaitClosed(path);
  // The next one opens the file again.
  void* next = nccl.Init(1'000);
  Await("recording again", [] { return HeaderOf(path).life == rank_file::kRecording; });
  nccl.Finalize(next);
  AwaitClosed(path);
}

// The stacks of our threads do not depend on `ulimit -s`.
void HugeStacks() {
  pthread_attr_t attributes;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, size_t{1} << 45), 0);
  if (pthread_setattr_default_np(&attributes) != 0) Skip("such a stack cannot be asked for here");
  pthread_t thread;
  if (pthread_create(
          &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0) {
    pthread_join(thread, nullptr);
    Skip("such a stack can be had here");
  }
  Nccl nccl(library);
  void* context = nccl.Init();
  CHECK(context != nullptr);
  CallMany(nccl, context, 1'000);
  nccl.Finalize(context);
  AwaitClosed(path);
  CHECK_EQ(KindIn(RankFileReader(path), rank_file::kStartColl), 1'000);
}

}  // namespace

int main(int argc, char** argv) {
  UseArguments(argc, argv);
  const std::map<std::string, void (*)()> cases = {
      {"parent-finalized", ParentFinalized},
      {"single-core", SingleCore},
      {"many-threads", ManyThreads},
      {"many-communicators", ManyCommunicators},
      {"too-many-communicators", TooManyCommunicators},
      {"stuck-peer", StuckPeer},
      {"memory-limit", MemoryLimit},
      {"huge-stacks", HugeStacks},
  };
  cases.at(argv[3])();
  return Passed();
}
