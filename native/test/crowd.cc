// Callbacks of all kinds from more threads than there are rings, so on both paths (Path in ring.h), while communicators
// come and go, the recorder's thread drains or copies, control changes what is recorded, and the file is read. Made for
// ThreadSanitizer. Nothing is lost or invented.
//
//   crowd <plugin.so> <folder> <changes by control to wait for>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "plugin/persist/crc32.h"
#include "test/await.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr int kThreads = 20;  // more than there are rings
constexpr int kFewestRounds = 20;
constexpr int kMostRounds = 60;  // the rings hold no more
constexpr uint64_t kEvents = 0x7FFF;

std::string path;
std::atomic<bool> done{false};
std::atomic<uint64_t> groups{0};
std::atomic<int> there{0};

/** Callbacks of a thread of the application: calls, groups, launches, collectives. `coll`: the last collective. */
void Host(Nccl& nccl, void* context, std::mt19937& random, uint64_t& coll) {
  Descriptor d = Describe(nccl_abi::kGroupApi);
  d.groupApi.graphCaptured = false;
  d.groupApi.groupDepth = 1;
  const uint64_t api = nccl.Start(context, d);
  nccl.State(api, nccl_abi::kGroupStartApiStop);
  const uint64_t call = nccl.Start(context, d = Api(nccl_abi::kCollApi, api, "AllReduce"));
  const uint64_t p2p_call = nccl.Start(context, d = Api(nccl_abi::kP2pApi, api, "Send"));
  const uint64_t group = nccl.Start(context, d = Describe(nccl_abi::kGroup));
  // Sometimes a new name for the string table.
  const std::string func = random() % 8 == 0 ? "Func" + std::to_string(random() % 64) : "AllReduce";
  coll = nccl.Start(context, d = Coll(call, func.c_str(), random() % 200, group));
  const uint64_t p2p = nccl.Start(context, d = P2p(p2p_call, "Recv", static_cast<int>(random() % 4)));
  d = Describe(nccl_abi::kKernelLaunch, api);
  d.kernelLaunch.stream = reinterpret_cast<void*>(0x5000);
  const uint64_t launch = nccl.Start(context, d);
  for (const uint64_t handle : {launch, p2p, coll, p2p_call, call, group, api, api}) nccl.Stop(handle);
  ++groups;
}

/** Callbacks of a progress thread, with repeats that become counts and edges in quick sequence. */
void Proxy(Nccl& nccl, void* context, std::mt19937& random, uint64_t coll) {
  Descriptor d = Describe(nccl_abi::kProxyCtrl);
  const uint64_t ctrl = nccl.Start(context, d);
  nccl.State(ctrl, nccl_abi::kCtrlAppend);
  nccl.State(ctrl, nccl_abi::kCtrlAppendEnd, 1);
  nccl.Stop(ctrl);
  // Sometimes a communicator of another process (PXN).
  void* comm = random() % 8 == 0 ? reinterpret_cast<void*>(0xdead0000) : context;
  const int channel = static_cast<int>(random() % 8);
  const uint64_t op = nccl.Start(comm, d = ProxyOp(coll, channel, static_cast<int>(random() % 4), random() % 2 == 0));
  nccl.State(op, nccl_abi::kOpInProgress);
  for (int i = 0; i < 3; ++i) {
    const uint64_t step = nccl.Start(comm, d = ProxyStep(op, i));
    nccl.State(step, nccl_abi::kStepSendGpuWait);
    for (uint32_t polls = random() % 8; polls > 0; --polls) nccl.State(step, nccl_abi::kStepSendPeerWait);
    nccl.State(step, nccl_abi::kStepSendWait, random() % 2 == 0 ? 4096 : uint64_t{1} << 50);
    d = Describe(nccl_abi::kNetPlugin, step);
    d.netPlugin.id = 65537;
    d.netPlugin.data = nullptr;
    nccl.Stop(nccl.Start(comm, d));
    nccl.Stop(step);
  }
  d = Describe(nccl_abi::kKernelCh, coll);
  d.kernelCh.channelId = static_cast<uint8_t>(channel);
  d.kernelCh.pTimer = random();
  const uint64_t kernel = nccl.Start(context, d);
  nccl.State(kernel, nccl_abi::kKernelChStop, random());
  nccl.Stop(kernel);
  nccl.Stop(op);
  nccl.Stop(0);
  nccl.Start(context, d = Describe(uint64_t{1} << 40));  // an unknown type
}

/** No thread ends before the first thread of each place has taken its ring, or found none. */
void AwaitTheOthers(Nccl& nccl, void* world, int number) {
  std::mt19937 random(static_cast<uint32_t>(number));
  uint64_t coll = 0;
  if (number % 2 == 0) {
    Host(nccl, world, random, coll);
  } else {
    Proxy(nccl, world, random, coll);
  }
  for (++there; there < kThreads;) usleep(100);
}

/**
 * One place of the crowd: one thread after another, some with a communicator of their own, until the others are done.
 */
void Place(Nccl& nccl, void* world, int number) {
  std::atomic<uint64_t> shared_coll{0};  // the parent of another thread's operations, as in NCCL
  for (int round = 0; round < kMostRounds && (round < kFewestRounds || !done);) {
    std::thread([&] {
      std::mt19937 random(static_cast<uint32_t>(number * 1'000 + round));
      if (round == 0) AwaitTheOthers(nccl, world, number);
      void* own = random() % 4 == 0 ? nccl.Init(random(), "one of many") : nullptr;
      void* context = own != nullptr ? own : world;
      for (int i = 0; i < 10 && round < kMostRounds; ++i, ++round) {
        uint64_t coll = shared_coll;
        if (random() % 3 != 0) Host(nccl, context, random, coll);
        if (random() % 3 != 0) Proxy(nccl, context, random, coll);
        shared_coll = coll;
        if (round >= kFewestRounds) usleep(100'000);
      }
      if (own != nullptr) nccl.Finalize(own);
    }).join();
  }
}

/** Writes a request as `nccl-trace control` does. */
void Request(int fd, uint64_t tag, uint32_t number, uint32_t events, uint32_t sample) {
  const uint64_t word = events | uint64_t{sample} << 32;
  const uint64_t checked[] = {tag, word, number};
  const uint64_t generation = number | uint64_t{nccl_trace::Crc32(checked, sizeof(checked))} << 32;
  CHECK_EQ(pwrite(fd, &word, sizeof(word), offsetof(rank_file::FileHeader, control_word)), sizeof(word));
  CHECK_EQ(pwrite(fd, &generation, sizeof(generation), offsetof(rank_file::FileHeader, control_generation)),
           sizeof(generation));
}

rank_file::FileHeader HeaderOf(int fd) {
  rank_file::FileHeader header = {};
  CHECK(pread(fd, &header, sizeof(header), 0) >= 0);
  return header;
}

void ControlAndRead(uint32_t changes) {
  // On a busy machine the recorder's thread may make its file late.
  int fd = -1;
  for (int i = 0; i < 60'000 && (fd < 0 || HeaderOf(fd).life != rank_file::kRecording); ++i) {
    if (fd < 0) fd = open(path.c_str(), O_RDWR);
    usleep(1'000);
  }
  CHECK(fd >= 0);
  for (uint32_t number = 1; number <= changes; ++number) {
    const uint64_t events = number % 2 == 1 ? kEvents & ~uint64_t{nccl_abi::kProxyStep} : kEvents;
    Request(fd, HeaderOf(fd).tag, number, static_cast<uint32_t>(events), number % 2 == 1 ? 3 : 1);
    for (int i = 0; i < 60'000 && HeaderOf(fd).control_answered != number; ++i) {
      if (i % 500 == 0) RankFileReader{path};
      usleep(1'000);
    }
    CHECK_EQ(HeaderOf(fd).control_answered, number);
  }
  CHECK_EQ(HeaderOf(fd).control_refused, 0);
  close(fd);
}

/** Each position is of a record or a gap. If nothing is missing, all calls of what is not sampled are there. */
void CheckFile() {
  const RankFileReader file(path);
  uint64_t found = 0;
  uint64_t missing = 0;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    uint64_t covered = 0;
    for (const Record& record : file.Records(ring)) {
      covered += record.slots.size();
      found += record.kind == rank_file::kStartGroupApi;
    }
    uint64_t gaps = 0;
    for (const Span& gap : file.Gaps(ring)) gaps += gap.end - gap.begin;
    CHECK_EQ(covered + gaps, file.Live(ring).head);
    missing += gaps;
  }
  printf("%" PRIu64 " groups, %" PRIu64 " recorded, %" PRIu64 " slots missing\n", groups.load(), found, missing);
  CHECK_EQ(missing, 0);
  CHECK_EQ(found, groups);
  CHECK_EQ(file.header().io_errors, 0);
  // A thread's rings are one of the pool, or two of the progress threads'.
  const size_t rings = file.AreasOf(rank_file::kRingHost).size() + file.AreasOf(rank_file::kRingSteps).size();
  CHECK(rings < kThreads);
  CHECK(file.header().threads_overflowed >= kThreads - rings);
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[2];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_RING_MB", "32", 1);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("RANK", "0", 1);
  path = folder + "/rank00000.bin";
  Nccl nccl(argv[1]);
  void* world = nccl.Init();
  std::vector<std::thread> crowd;
  for (int i = 0; i < kThreads; ++i) crowd.emplace_back([&nccl, world, i] { Place(nccl, world, i); });
  ControlAndRead(static_cast<uint32_t>(strtoul(argv[3], nullptr, 10)));
  done = true;
  for (std::thread& place : crowd) place.join();
  nccl.Finalize(world);
  AwaitClosed(path);
  CheckFile();
  return Passed();
}
