// Every event type of one ABI version, written through its exported table and read back raw; and the file's header and tables.
//
//   abi_versions <plugin.so> <folder> <version> [<library>]     the folder is NCCL_TRACE_DIR
//
// With a library, its code is the caller's: a plugin named libnccl.so, or librccl.so, so that version 7 is RCCL's.

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include "test/await.h"
#include "test/rank_file_reader.h"
#include "test/raw_events.h"

using namespace nccl_trace_test;
using namespace nccl_trace_test::raw;

namespace {

Record At(const RankFileReader& file, uint64_t handle, uint32_t kind) {
  Record record;
  CHECK(file.Find(rank_file::HandleRing(handle), rank_file::HandlePosition(handle), record));
  CHECK_EQ(record.kind, kind);
  return record;
}

bool IsText(const RankFileReader& file, uint64_t id, const char* text) {
  return file.String(static_cast<uint16_t>(id)) == text;
}

void CheckColl(const RankFileReader& file, uint64_t handle, const Names& names) {
  const Record r = At(file, handle, rank_file::kStartColl);
  CHECK_EQ(r.slots.size(), 4);
  CHECK_EQ(r.high(0, 2), 1);
  CHECK_EQ(r.w(1, 0), 7);
  CHECK_EQ(r.w(1, 1), 1 << 20);
  CHECK(IsText(file, r.w(1, 2), names.func));
  CHECK(IsText(file, r.w(1, 2) >> 16, names.datatype));
  CHECK(IsText(file, r.w(1, 2) >> 32, names.algo));
  CHECK(IsText(file, r.w(1, 2) >> 48, names.proto));
  CHECK_EQ(r.low(2, 1), 2);
  CHECK_EQ(r.low(2, 2) & 0xFFFF, 8 | 16 << 8);
  CHECK_EQ(r.high(2, 2), 0);
  CHECK_EQ(r.w(3, 0), 0x1000);
  CHECK_EQ(r.w(3, 1), 0x2000);
  CHECK_EQ(r.w(3, 2), has_tags ? kTag : 0);
}

void CheckApi(const RankFileReader& file, const Handles& h) {
  Record r = At(file, h.group_api, rank_file::kStartGroupApi);
  CHECK_EQ(r.high(0, 2), 1 | 2 << 1);
  r = At(file, h.launch, rank_file::kStartKernelLaunch);
  CHECK_EQ(r.w(1, 0), 0x7000);
  for (const bool coll : {true, false}) {
    r = At(file, coll ? h.coll_api : h.p2p_api, coll ? rank_file::kStartCollApi : rank_file::kStartP2pApi);
    CHECK_EQ(r.slots.size(), has_tags ? 3 : 2);
    CHECK_EQ(r.w(0, 1), h.group_api);
    CHECK(IsText(file, r.high(0, 2), coll ? "AllReduce" : "Recv"));
    CHECK(IsText(file, r.high(0, 2) >> 16, coll ? "ncclFloat32" : "ncclInt8"));
    CHECK_EQ(r.w(1, 0), coll ? 99 : 55);
    CHECK_EQ(r.w(1, 1), coll ? 0x5000 : 0x6000);
    CHECK_EQ(r.low(1, 2), coll ? 3u : ~0u);
    CHECK_EQ(r.high(1, 2), coll ? 1 : 0);
    if (has_tags) CHECK_EQ(r.w(2, 0), coll ? kTag + 2 : kTag + 3);
  }
}

void CheckHost(const RankFileReader& file, const Handles& h) {
  if (Has(nccl_abi::kGroupApi)) CheckApi(file, h);
  At(file, h.group, rank_file::kStartGroup);
  CheckColl(file, h.coll, kNames);
  Record r = At(file, h.coll, rank_file::kStartColl);
  CHECK_EQ(r.w(0, 1), version >= 5 ? h.coll_api : h.group);
  CHECK_EQ(r.w(2, 0), version >= 5 ? h.group : 0);
  CHECK_EQ(r.high(2, 1), 0);
  CHECK_EQ(r.low(2, 2) >> 16, 0);

  r = At(file, h.p2p, rank_file::kStartP2p);
  CHECK_EQ(r.slots.size(), 3);
  CHECK_EQ(r.w(0, 1), version >= 5 ? h.p2p_api : h.group);
  CHECK_EQ(r.high(0, 2), 1);
  CHECK_EQ(r.w(1, 0), 0x3000);
  CHECK_EQ(r.w(1, 1), 77);
  CHECK(IsText(file, r.w(1, 2), "Recv"));
  CHECK(IsText(file, r.w(1, 2) >> 16, "ncclInt8"));
  CHECK_EQ(r.w(1, 2) >> 32, version >= 4 ? 2 : 0);  // and an ordinal that counts
  CHECK_EQ(r.w(2, 0), version >= 5 ? h.group : 0);
  CHECK_EQ(r.low(2, 1), 3);
  CHECK_EQ(r.w(2, 2), has_tags ? kTag + 1 : 0);
}

/** The records of `handle`, states and stop, in order. */
std::vector<Record> After(const RankFileReader& file, uint64_t handle) {
  std::vector<Record> found;
  for (const Record& record : file.Records(rank_file::HandleRing(handle))) {
    if (record.kind >= rank_file::kState && record.handle() == handle) found.push_back(record);
  }
  return found;
}

constexpr uint64_t StateWord(uint32_t state, uint64_t value = rank_file::kNoValue) { return state | value << 16; }

void CheckProxy(const RankFileReader& file, const Handles& h) {
  CHECK_EQ(file.areas()[rank_file::HandleRing(h.op)].area_class, rank_file::kRingOps);
  CHECK_EQ(file.areas()[rank_file::HandleRing(h.step)].area_class, rank_file::kRingSteps);
  for (const bool foreign : {false, true}) {
    const Record r = At(file, foreign ? h.foreign_op : h.op, rank_file::kStartProxyOp);
    CHECK_EQ(r.slots.size(), foreign ? 3 : 2);
    CHECK_EQ(r.w(0, 1), foreign ? 0xdead1000 : h.coll);
    CHECK_EQ(r.low(0, 2), foreign ? rank_file::kCommForeign : 0);
    CHECK_EQ(r.high(0, 2), 3);
    CHECK_EQ(r.high(1, 0), 28);
    CHECK_EQ(r.low(1, 1), 1 << 22);
    CHECK_EQ(r.high(1, 1), 4242);
    CHECK_EQ(r.w(1, 2), 5 | 1 << 8 | uint64_t{1} << 32);
    if (foreign) CHECK_EQ(r.w(2, 0), 0xdead0000);
  }
  std::vector<Record> after = After(file, h.op);
  if (version < 4) {
    CHECK_EQ(after.size(), 9);
    for (uint32_t state = 0; state <= 7; ++state) CHECK_EQ(after[state].w(0, 2), StateWord(state, 1000 + state));
  } else {
    CHECK_EQ(after.size(), 2);
    CHECK_EQ(after[0].w(0, 2), StateWord(19));
  }

  Record r = At(file, h.step, rank_file::kStartProxyStep);
  CHECK_EQ(r.w(0, 1), h.op);
  CHECK_EQ(r.high(0, 2), 11);
  after = After(file, h.step);
  CHECK_EQ(after.size(), version < 4 ? 3 : 5);
  CHECK_EQ(after[0].w(0, 2), StateWord(8));
  // Before v4 steps have no size. An adapter passes garbage.
  CHECK_EQ(after[1].w(0, 2), version < 4 ? StateWord(9) : StateWord(9, 524288));
  if (version >= 4) {
    // What needs more than 48 bits has a slot of its own.
    CHECK_EQ(after[2].w(1, 0), uint64_t{1} << 50);
    CHECK_EQ(after[3].w(0, 2), 70000);
    CHECK_EQ(after[3].w(1, 0), rank_file::kNoValue);
  }
  CHECK_EQ(after.back().kind, rank_file::kStop);

  At(file, h.ctrl, rank_file::kStartProxyCtrl);
  after = After(file, h.ctrl);
  CHECK_EQ(after.size(), 3);
  CHECK_EQ(after[0].w(0, 2), StateWord(17));
  CHECK_EQ(after[1].w(0, 2), StateWord(18, 16));
  CHECK_EQ(file.Live(rank_file::HandleRing(h.op)).null_calls, 2);

  const std::vector<Record> ops = file.Records(rank_file::HandleRing(h.op));
  CHECK_EQ(ops.back().kind, rank_file::kStartUnknown);
  CHECK_EQ(ops.back().w(1, 0), version < 5 ? 0x81 : 0x20081);
}

void CheckNet(const RankFileReader& file, const Handles& h) {
  using Words = std::array<uint64_t, 6>;
  const Words expected[] = {
      {65537, uint64_t{1} << 40, 0x1122334455667788, 3 | uint64_t{1} << 32, 0xFFFFFFFE | uint64_t{1} << 32, 0},
      {131073, 4096, 0, 0, uint64_t{1} << 32, 17},
      {131073, 4096, 0, 0, uint64_t{1} << 32, 17 | uint64_t{1} << 32},
      {0x10002, 0, 0, 0, 0, 0},
      {0x30001, 0, 0, 0, 0, 0},
      {~uint64_t{0}, 0, 0, 0, 0, 0},
      {65537, 0, 0, 0, 0, 0},
  };
  CHECK_EQ(h.net.size(), sizeof(expected) / sizeof(expected[0]));
  for (size_t i = 0; i < h.net.size(); ++i) {
    const Record r = At(file, h.net[i], rank_file::kStartNetPlugin);
    CHECK_EQ(rank_file::HandleRing(h.net[i]), rank_file::HandleRing(h.op));
    CHECK_EQ(r.slots.size(), 3);
    CHECK_EQ(r.w(0, 1), i == 2 ? 0 : h.step);
    CHECK_EQ(r.w(0, 2), 0);
    for (size_t word = 0; word < 6; ++word) CHECK_EQ(r.w(1 + word / 3, word % 3), expected[i][word]);
  }
  const std::vector<Record> after = After(file, h.net[0]);
  CHECK_EQ(after.size(), version >= 4 ? 3 : 2);
  if (version >= 4) CHECK_EQ(after[0].w(0, 2), StateWord(21));
}

void CheckCopyEngine(const RankFileReader& file, const Handles& h) {
  Record r = At(file, h.ce_coll, rank_file::kStartCeColl);
  CHECK_EQ(r.slots.size(), 4);
  CHECK_EQ(r.w(0, 1), h.coll_api);
  CHECK_EQ(r.w(0, 2), uint64_t{1} << 32);
  CHECK_EQ(r.w(1, 0), 9);
  CHECK_EQ(r.w(1, 1), uint64_t{1} << 33);
  CHECK(IsText(file, r.w(1, 2), "AllGather"));
  CHECK(IsText(file, r.w(1, 2) >> 16, "ncclInt8"));
  CHECK(IsText(file, r.w(1, 2) >> 32, "MC"));
  CHECK_EQ(r.w(1, 2) >> 48, 1);
  CHECK_EQ(r.w(2, 0), 0xFFFFFFFF | uint64_t{7} << 32);
  CHECK_EQ(r.w(2, 1), 5 | uint64_t{6} << 32);
  CHECK_EQ(r.w(2, 2), 0xA000);
  CHECK_EQ(r.w(3, 0), 0x8000);
  CHECK_EQ(r.w(3, 1), 0x9000);
  CHECK_EQ(r.w(3, 2), has_tags ? kTag + 4 : 0);
  r = At(file, h.ce_sync, rank_file::kStartCeSync);
  CHECK_EQ(r.slots.size(), 2);
  CHECK_EQ(r.w(0, 1), h.ce_coll);
  CHECK_EQ(r.w(0, 2), uint64_t{4} << 32);
  CHECK_EQ(r.w(1, 0), 1);
  r = At(file, h.ce_batch, rank_file::kStartCeBatch);
  CHECK_EQ(r.slots.size(), 2);
  CHECK_EQ(r.w(0, 1), h.ce_coll);
  CHECK_EQ(r.w(0, 2), uint64_t{3} << 32);
  CHECK_EQ(r.w(1, 0), uint64_t{1} << 35);
  CHECK_EQ(r.w(1, 1), 1);
  CHECK_EQ(r.w(1, 2), 0);
}

void CheckVariants(const RankFileReader& file, const Handles& h) {
  for (const bool named : {true, false}) {
    const Record r = At(file, named ? h.variant : h.symmetric, rank_file::kStartColl);
    CHECK_EQ(r.slots.size(), 5);
    CHECK_EQ(r.w(3, 2), has_tags ? kTag : 0);
    if (named) CHECK(IsText(file, r.w(4, 0), "LL_R"));
    if (!named) CHECK_EQ(r.w(4, 0) & 0xFFFF, rank_file::kStringNone);
    CHECK_EQ(r.w(4, 0) >> 16, named ? 0 : 1);
    CHECK_EQ(r.w(4, 1), 0);
  }
}

void CheckKernel(const RankFileReader& file, const Handles& h) {
  if (Has(nccl_abi::kKernelCh)) {
    Record r = At(file, h.kernel, rank_file::kStartKernelCh);
    CHECK_EQ(r.w(0, 1), h.coll);
    CHECK_EQ(r.high(0, 2), 63);
    CHECK_EQ(r.w(1, 0), version >= 4 ? kTimer : 0);
    const std::vector<Record> after = After(file, h.kernel);
    CHECK_EQ(after.size(), version >= 4 ? 2 : 1);
    if (version >= 4) CHECK_EQ(after[0].w(1, 0), kTimer + 32);
    CheckNet(file, h);
  }
  if (Has(kKernelPhase)) {
    const Record r = At(file, h.phase, rank_file::kStartKernelPhase);
    CHECK_EQ(r.slots.size(), 2);
    CHECK_EQ(r.w(0, 1), h.kernel);
    CHECK_EQ(r.w(0, 2), uint64_t{63} << 32 | uint64_t{1} << 40);
    CHECK_EQ(r.w(1, 0), kTimer + 1);
    CHECK(IsText(file, r.w(1, 1), "compute"));
    CHECK_EQ(r.w(1, 1) >> 16, 0);
    CHECK_EQ(r.w(1, 2), 0);
    const std::vector<Record> after = After(file, h.phase);
    CHECK_EQ(after.size(), 2);
    CHECK_EQ(after[0].w(0, 2), 31);
    CHECK_EQ(after[0].w(1, 0), kTimer + 2);
  }
}

void CheckCommunicator(const RankFileReader& file, uint64_t number, uint64_t id, int32_t rank, const std::string& name,
                       uint64_t latest_tick) {
  Record r;
  const uint32_t area = file.AreasOf(rank_file::kTableCommunicators).at(0);
  CHECK(file.Find(area, number * rank_file::kCommunicatorSlots, r));
  CHECK_EQ(r.kind, rank_file::kCommunicator);
  CHECK(r.tick() >= file.header().start_tick && r.tick() <= latest_tick);
  CHECK_EQ(r.w(0, 1), id);
  CHECK_EQ(static_cast<int32_t>(r.low(0, 2)), rank);
  CHECK_EQ(r.high(0, 2), version < 4 ? 0 : 4);
  CHECK_EQ(r.w(1, 0), (version < 4 ? 0u : 2u) | static_cast<uint64_t>(version) << 32);
  CHECK_EQ(r.w(1, 1), name.size());
  CHECK(std::string(reinterpret_cast<const char*>(r.slots[2].data())) == name);
  CHECK(file.Find(area, number * rank_file::kCommunicatorSlots + 7, r));
  CHECK_EQ(r.kind, rank_file::kCommunicatorEnd);
}

void CheckHeader(const RankFileReader& file) {
  const rank_file::FileHeader& h = file.header();
  CHECK_EQ(h.rank, 1);
  CHECK_EQ(h.world_size, 8);
  CHECK_EQ(h.local_rank, -1);
  CHECK_EQ(h.pid, getpid());
  CHECK(h.process_start > 0 && h.pid_namespace > 0 && h.boot_id[0] + h.boot_id[1] + h.boot_id[2] > 0);
  CHECK(strcmp(h.program, "abi_versions") == 0);
  CHECK(h.tick_hz > 1'000'000 && h.tick_hz < 10'000'000'000);
  CHECK_EQ(h.mask_now, h.event_mask);
  CHECK_EQ(h.chunks_offset, file.size());
  CHECK_EQ(h.io_errors, 0);
  CHECK_EQ(h.tag & ~rank_file::kHandleTagMask, 0);
  CHECK_EQ(h.tag & rank_file::kHandleTagFixedBits, rank_file::kHandleTagFixedBits);
}

void CheckTables(const RankFileReader& file) {
  // One record for the host thread, which goes on; begin and end for each ring of the others.
  const std::vector<Record> leases = file.Records(file.AreasOf(rank_file::kTableLeases).at(0));
  CHECK_EQ(leases.size(), Has(nccl_abi::kNetPlugin) ? 7 : 5);
  CHECK_EQ(leases[0].kind, rank_file::kLease);
  CHECK_EQ(leases[0].high(0, 2), static_cast<uint32_t>(getpid()));
  char name[16];
  CHECK_EQ(prctl(PR_GET_NAME, name), 0);
  CHECK(memcmp(leases[0].slots[1].data(), name, sizeof(name)) == 0);
  CHECK_EQ(leases[2].kind, rank_file::kLeaseEnd);
  CHECK_EQ(leases[2].w(0, 1), file.Live(leases[1].low(0, 2)).head);

  CHECK_EQ(file.AreasOf(rank_file::kTableClock).size(), 4);
  for (const uint32_t clock : file.AreasOf(rank_file::kTableClock)) {
    const std::vector<Record> samples = file.Records(clock);
    CHECK(!samples.empty());
    for (const Record& sample : samples) {
      CHECK_EQ(sample.kind, rank_file::kClockSample);
      CHECK(sample.tick() >= file.header().start_tick);
      CHECK(sample.w(0, 2) >= file.header().start_monotonic);
      CHECK(sample.w(1, 0) > 0);
      CHECK(sample.w(1, 1) >= sample.w(0, 2));
    }
  }
  CHECK(!file.Records(file.AreasOf(rank_file::kTableHeartbeat).at(0)).empty());
}

/** The file has names for v1's codes. */
std::vector<uint64_t> PlayCodes(void* context, const std::vector<std::pair<Codes, Names>>& cases) {
  std::vector<uint64_t> handles;
  for (const auto& each : cases) handles.push_back(Coll(0, 0, each.first).Start(context));
  return handles;
}

const std::vector<std::pair<Codes, Names>> kCodesOfV1 = {
    {{0, 0, 0, 0}, {"Broadcast", "ncclInt8", "TREE", "LL"}},
    {{1, 1, 1, 1}, {"Reduce", "ncclUint8", "RING", "LL128"}},
    {{2, 2, 2, 2}, {"AllGather", "ncclInt32", "COLLNET_DIRECT", "SIMPLE"}},
    {{3, 3, 3, 3}, {"ReduceScatter", "ncclUint32", "COLLNET_CHAIN", "Unknown"}},
    {{4, 4, 4, 0}, {"AllReduce", "ncclInt64", "NVLS", "LL"}},
    {{5, 5, 5, 0}, {"SendRecv", "ncclUint64", "NVLS_TREE", "LL"}},
    {{6, 6, 6, 0}, {"Send", "ncclFloat16", "PAT", "LL"}},
    {{7, 8, 7, 0}, {"Recv", "ncclFloat64", "Unknown", "LL"}},
    {{12, 9, 0, 0}, {"Unknown", "ncclBfloat16", "TREE", "LL"}},
    {{255, 255, 255, 255}, {"Unknown", "Unknown", "Unknown", "Unknown"}},
};

}  // namespace

int main(int count, char** argv) {
  const std::string folder = argv[2];
  version = atoi(argv[3]);
  CHECK(version >= 1 && version <= kVersions);
  layout = &kLayouts[version];
  has_tags = version == 7;
  if (count > 4) {
    // Any function of it that takes what a logger takes. It ignores all.
    const auto* caller = static_cast<const RawTable*>(dlsym(dlopen(argv[4], RTLD_NOW | RTLD_LOCAL), "ncclProfiler_v6"));
    CHECK(caller != nullptr);
    logger = reinterpret_cast<LoggerFunction*>(reinterpret_cast<void*>(caller->finalize));
    has_tags = strstr(argv[4], "rccl") == nullptr;
    if (!has_tags) layout = &kRccl;
  }
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "1", 1);
  setenv("RANK", "1", 1);
  setenv("WORLD_SIZE", "8", 1);

  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  table = static_cast<const RawTable*>(dlsym(library, ("ncclProfiler_v" + std::string(argv[3])).c_str()));
  CHECK(table != nullptr);
  CHECK(strcmp(table->name, "nccl-trace") == 0);

  // An adapter of a later NCCL passes only the rank. A second communicator has no events.
  void* context = Init();
  void* adapted = Init();
  void* unused = Init();
  Handles handles = {};
  PlayHost(context, handles);
  const uint64_t first_adapted = P2p(0, 0, nullptr, 0, 2).Start(adapted);
  const uint64_t muted = PlayMuted(context);
  std::vector<uint64_t> coded;
  if (version == 1) coded = PlayCodes(context, kCodesOfV1);
  std::thread([&] { PlayProxy(context, handles); }).join();
  // A network plugin has threads of its own, for which small rings are enough.
  uint64_t socket_thread = 0;
  if (Has(nccl_abi::kNetPlugin)) {
    std::thread([&] { socket_thread = Socket(0).Start(context, handles.step, kSocket); }).join();
  }
  for (void* each : {context, adapted, unused}) Finalize(each);

  AwaitClosed(folder + "/rank00001.bin");
  const RankFileReader file(folder + "/rank00001.bin");
  // This program has no ncclGetVersion; the library has one, which counts if it is NCCL's.
  CHECK_EQ(file.header().nccl_version, count > 4 && has_tags ? 23102 : 0);
  CheckHeader(file);
  CheckTables(file);
  CheckHost(file, handles);
  CHECK_EQ(file.Live(rank_file::HandleRing(handles.coll)).muted, muted);
  if (socket_thread != 0) {
    At(file, socket_thread, rank_file::kStartNetPlugin);
    CHECK_EQ(file.areas()[rank_file::HandleRing(socket_thread)].area_class, rank_file::kRingHost);
  }
  CheckProxy(file, handles);
  CheckKernel(file, handles);
  if (Has(kCeColl)) CheckCopyEngine(file, handles);
  if (version == 7) CheckVariants(file, handles);
  for (size_t i = 0; i < coded.size(); ++i) CheckColl(file, coded[i], kCodesOfV1[i].second);
  // The first name stays, though the p2p that followed had another one.
  const uint64_t first = At(file, handles.coll, rank_file::kStartColl).tick();
  CheckCommunicator(file, 0, kCommHash, 1, "a name", first);
  const uint64_t adapted_tick = At(file, first_adapted, rank_file::kStartP2p).tick();
  const bool has_info = version >= 4;
  CheckCommunicator(file, 1, has_info ? kCommHash : 0, has_info ? 1 : 2, has_info ? "a name" : "", adapted_tick);
  CheckCommunicator(file, 2, has_info ? kCommHash : 0, has_info ? 1 : -1, has_info ? "a name" : "", first);
  return Passed();
}
