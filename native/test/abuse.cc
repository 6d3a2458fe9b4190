// Misuse by NCCL and its applications: the plugin records it or ignores it, and nothing else happens.
//
//   abuse <plugin.so> <folder> <case>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "test/await.h"
#include "test/forked.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

extern char** environ;

// ThreadSanitizer cannot follow a forked child that starts a thread.
#ifdef __SANITIZE_THREAD__
constexpr bool kChildMayStartThreads = false;
#else
constexpr bool kChildMayStartThreads = true;
#endif

namespace {

const char* library;
std::string path;  // of the rank file

/** Counts of records by kind, over all rings. */
std::map<uint32_t, uint64_t> Kinds(const RankFileReader& file) {
  std::map<uint32_t, uint64_t> kinds;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    for (const Record& record : file.Records(ring)) ++kinds[record.kind];
  }
  return kinds;
}

bool IsMuted(uint64_t handle) { return (handle & rank_file::kHandleMuted) != 0; }

void Misuse() {
  Nccl nccl(library);
  Descriptor d = Describe(nccl_abi::kGroup);
  CHECK(IsMuted(nccl.Start(nullptr, d)));  // before the first init
  nccl.State(0, 8);
  nccl.Stop(0);
  nccl.Finalize(nullptr);

  void* context = nccl.Init();
  const uint64_t coll = nccl.Start(context, d = Coll(0, nullptr, 1));
  nccl.Stop(coll);
  nccl.Stop(coll);
  nccl.State(coll, 8);
  const uint64_t op = nccl.Start(context, d = ProxyOp(coll, 200, -7, true));
  std::thread([&] { nccl.Stop(op); }).join();
  nccl.Stop(op + (uint64_t{1} << 40));  // of another ring or position, so stale
  nccl.Stop(0x7fff12345678);
  nccl.State(~uint64_t{0} >> 1, -5);
  const uint64_t garbage_comm = nccl.Start(reinterpret_cast<void*>(0x123), d = Describe(nccl_abi::kGroup));
  CHECK(garbage_comm != 0);
  CHECK(nccl.Start(context, d = Describe(0)) != 0);
  CHECK(nccl.Start(context, d = Describe(3)) != 0);
  CHECK(nccl.Start(context, d = Describe(uint64_t{1} << 63)) != 0);
  nccl.Finalize(reinterpret_cast<void*>(0x123));
  nccl.Finalize(context);
  nccl.Finalize(context);
  CHECK(nccl.Start(context, d = Describe(nccl_abi::kGroup)) != 0);  // late callbacks are still recorded

  AwaitClosed(path);
  const RankFileReader file(path);
  std::map<uint32_t, uint64_t> kinds = Kinds(file);
  CHECK_EQ(kinds[rank_file::kStop], 5);
  CHECK_EQ(kinds[rank_file::kState], 2);
  CHECK_EQ(kinds[rank_file::kStartUnknown], 3);
  CHECK_EQ(kinds[rank_file::kStartGroup], 2);
}

void ConcurrentInit() {
  Nccl nccl(library);
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        void* context = nccl.Init(static_cast<uint64_t>(i), "concurrent", 64, i);
        CHECK(context != nullptr);
        Descriptor d = Coll(0, "AllReduce", static_cast<uint64_t>(round));
        nccl.Stop(nccl.Start(context, d));
        nccl.Finalize(context);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  AwaitClosed(path);
  const RankFileReader file(path);
  CHECK_EQ(Kinds(file)[rank_file::kStartColl], 640);
  CHECK_EQ(Kinds(file)[rank_file::kStop], 640);
  CHECK_EQ(file.header().communicators_lost, 0);
  CHECK_EQ(Lines().infos.size(), 1);
}

// The last communicator ends, NCCL unloads the plugin and loads it again.
void Unload() {
  std::atomic<int> stage{0};
  auto first = std::make_unique<Nccl>(library);
  void* context = first->Init();
  std::thread survivor([&] {
    Descriptor d = Describe(nccl_abi::kProxyCtrl);
    first->Stop(first->Start(context, d));
    stage = 1;
    while (stage != 2) usleep(100);
  });
  while (stage != 1) usleep(100);
  first->Finalize(context);
  AwaitClosed(path);
  first->Unload();
  stage = 2;
  survivor.join();  // its thread-exit hook runs code of the unloaded library

  Nccl second(library, "ncclProfiler_v5");
  context = second.Init();
  CHECK_EQ(second.mask() & ~nccl_abi::kMaskV5, 0);
  Await("another beginning", [] { return HeaderOf(path).life == rank_file::kRecording; });
  Descriptor d = Describe(nccl_abi::kGroup);
  second.Start(context, d);
  second.Finalize(context);
  AwaitClosed(path);
  const RankFileReader file(path);
  CHECK_EQ(Kinds(file)[rank_file::kStartGroup], 1);
  CHECK_EQ(Kinds(file)[rank_file::kStartProxyCtrl], 1);
}

void CheckChild(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

// A forked child has our memory and our mapped file. It must not change the file, not even when it exits.
void Fork() {
  Nccl nccl(library);
  void* context = nccl.Init();
  Descriptor d = Describe(nccl_abi::kGroup);
  const uint64_t before = nccl.Start(context, d);
  const pid_t child = fork();
  if (child == 0) {
    CHECK_EQ(nccl.mask(), 0);
    for (int i = 0; i < 100'000; ++i) {
      const uint64_t handle = nccl.Start(context, d);
      nccl.State(handle, 8);
      nccl.Stop(handle);
      nccl.Stop(before);
    }
    if (kChildMayStartThreads) std::thread([&] { nccl.Start(context, d); }).join();
    CHECK(nccl.Init() == nullptr);
    nccl.Finalize(context);
    ExitForked();
  }
  CheckChild(child);
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t spawned;
  CHECK_EQ(posix_spawnp(&spawned, "true", nullptr, nullptr, arguments, environ), 0);
  CheckChild(spawned);
  const pid_t executing = fork();
  if (executing == 0) {
    execlp("true", "true", nullptr);
    _exit(1);
  }
  CheckChild(executing);

  CHECK(nccl.mask() != 0);
  nccl.Stop(before);
  const RankFileReader file(path);
  CHECK_EQ(file.header().life, rank_file::kRecording);
  CHECK_EQ(Kinds(file)[rank_file::kStartGroup], 1);
  CHECK_EQ(Kinds(file)[rank_file::kStop], 1);
  nccl.Finalize(context);
}

/** True if the 200 ms of exit were enough for the recorder's thread to close the file. */
bool ExitsClosed() {
  const pid_t child = fork();
  if (child == 0) {
    Nccl nccl(library);
    void* context = nccl.Init();
    std::atomic<bool> started{false};
    std::thread([&] {
      Descriptor d = Describe(nccl_abi::kProxyCtrl);
      nccl.Start(context, d);
      started = true;
    }).detach();
    while (!started) usleep(1'000);
    exit(0);
  }
  CheckChild(child);
  const RankFileReader file(path);
  CHECK_EQ(Kinds(file)[rank_file::kStartProxyCtrl], 1);
  return file.header().life == rank_file::kClosed;
}

void ExitWithoutFinalize() {
  for (int tries = 0; tries < 20; ++tries) {
    if (ExitsClosed()) return;
    CHECK_EQ(unlink(path.c_str()), 0);
  }
  Fail(__FILE__, __LINE__, "a file that was closed by exit");
}

// Fifteen waves of twenty threads: eight find a ring of the pool, the others share; each leaves a lease.
void ThreadsComeAndGo() {
  Nccl nccl(library);
  void* context = nccl.Init();
  constexpr int kCalls = 50;
  for (int wave = 0; wave < 15; ++wave) {
    std::vector<std::thread> threads;
    std::atomic<int> attached{0};
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([&] {
        Descriptor d = Describe(nccl_abi::kGroupApi);
        const uint64_t first = nccl.Start(context, d);
        ++attached;
        while (attached != 20) std::this_thread::yield();
        for (int call = 1; call < kCalls; ++call) nccl.Start(context, d);
        nccl.Stop(first);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  nccl.Finalize(context);

  const RankFileReader file(path);
  CHECK_EQ(Kinds(file)[rank_file::kStartGroupApi], 15 * 20 * kCalls);
  CHECK_EQ(Kinds(file)[rank_file::kStop], 15 * 20);
  CHECK_EQ(file.header().threads_overflowed, 15 * 12);
  CHECK_EQ(file.header().leases_lost, 0);
  // The leases in the table do not overlap and have ended.
  std::map<uint32_t, uint64_t> covered;
  uint64_t leases = 0;
  const std::vector<Record> records = file.Records(file.AreasOf(rank_file::kTableLeases).at(0));
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].kind != rank_file::kLease) continue;
    ++leases;
    CHECK(i + 1 < records.size() && records[i + 1].kind == rank_file::kLeaseEnd);
    const uint32_t ring = records[i].low(0, 2);
    CHECK(records[i].w(0, 1) >= covered[ring]);
    covered[ring] = records[i + 1].w(0, 1);
    CHECK_EQ(covered[ring] - records[i].w(0, 1), kCalls + 1);
  }
  CHECK_EQ(leases, 15 * 8);
  for (const auto& [ring, end] : covered) CHECK_EQ(end, file.Live(ring).head);
}

// Main and all other threads end by pthread_exit: the recorder's thread closes the file and lets the process end.
void MainThreadLeaves() {
  for (const bool finalized : {true, false}) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      static Nccl* nccl = new Nccl(library);
      static void* context = nccl->Init();
      static Descriptor d = Describe(nccl_abi::kGroup);
      nccl->Start(context, d);
      if (finalized) nccl->Finalize(context);
      atexit([] { nccl->Start(context, d); });          // runs when all threads are gone
      std::thread([] { usleep(1'500'000); }).detach();  // ends after main
      pthread_exit(nullptr);
    }
    CheckChild(child);
    const RankFileReader file(path);
    CHECK_EQ(file.header().life, rank_file::kClosed);
    CHECK_EQ(Kinds(file)[rank_file::kStartGroup], 2);
    CHECK_EQ(unlink(path.c_str()), 0);
  }
}

// More live communicators than entries in the table: the last ones have no name.
void TooManyCommunicators() {
  Nccl nccl(library);
  std::vector<void*> contexts;
  for (uint64_t i = 0; i < 260; ++i) contexts.push_back(nccl.Init(i));
  Descriptor d = Describe(nccl_abi::kGroup);
  const uint64_t handle = nccl.Start(contexts.back(), d);
  CHECK_EQ(RankFileReader(path).header().communicators_lost, 4);
  Record record;
  CHECK(RankFileReader(path).Find(rank_file::HandleRing(handle), rank_file::HandlePosition(handle), record));
  CHECK_EQ(record.low(0, 2), rank_file::kCommNone);
  for (void* context : contexts) nccl.Finalize(context);
  AwaitClosed(path);
  nccl.Finalize(nccl.Init());
}

}  // namespace

int main(int, char** argv) {
  library = argv[1];
  path = std::string(argv[2]) + "/rank00000.bin";
  setenv("NCCL_TRACE_DIR", argv[2], 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "16", 1);
  setenv("RANK", "0", 1);
  const std::map<std::string, void (*)()> cases = {
      {"misuse", Misuse},
      {"concurrent-init", ConcurrentInit},
      {"unload", Unload},
      {"fork", Fork},
      {"exit-without-finalize", ExitWithoutFinalize},
      {"threads-come-and-go", ThreadsComeAndGo},
      {"main-thread-leaves", MainThreadLeaves},
      {"too-many-communicators", TooManyCommunicators},
  };
  cases.at(argv[3])();
  return Passed();
}
