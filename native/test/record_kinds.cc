// Every kind of record, written through the exported table and read back raw: fields, positions, checks.
//
//   record_kinds <plugin.so> <folder>      the folder is NCCL_TRACE_DIR; RANK is set here

#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "test/await.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr uint64_t kTimer = 1'756'135'989'724'672'000;

uint64_t PositionOf(uint64_t handle) { return rank_file::HandlePosition(handle); }

/** The record that a handle names. */
Record At(const RankFileReader& file, uint64_t handle, uint32_t kind) {
  Record record;
  CHECK(file.Find(rank_file::HandleRing(handle), PositionOf(handle), record));
  CHECK_EQ(record.kind, kind);
  CHECK(record.tick() >= file.header().start_tick);
  return record;
}

struct Handles {
  uint64_t group_api, coll_api, p2p_api, launch, group, coll, p2p;
  uint64_t op, foreign_op, step, ctrl, kernel, net;
};

void PlayHost(Nccl& nccl, void* context, Handles& h) {
  Descriptor d = Describe(nccl_abi::kGroupApi);
  d.groupApi.graphCaptured = true;
  d.groupApi.groupDepth = 2;
  h.group_api = nccl.Start(context, d);
  nccl.State(h.group_api, nccl_abi::kGroupStartApiStop);
  h.coll_api = nccl.Start(context, d = Api(nccl_abi::kCollApi, h.group_api, "AllReduce"));
  h.p2p_api = nccl.Start(context, d = Api(nccl_abi::kP2pApi, h.group_api, "Send"));
  d = Describe(nccl_abi::kKernelLaunch, h.group_api);
  d.kernelLaunch.stream = reinterpret_cast<void*>(0x5000);
  h.launch = nccl.Start(context, d);
  h.group = nccl.Start(nullptr, d = Describe(nccl_abi::kGroup));
  h.coll = nccl.Start(context, d = Coll(h.coll_api, "AllReduce", 7, h.group));
  h.p2p = nccl.Start(context, d = P2p(h.p2p_api, "Recv", 3));
  nccl.Stop(h.coll);
}

void PlayProxy(Nccl& nccl, void* context, Handles& h) {
  Descriptor d = ProxyOp(h.coll, 5, 3, true);
  h.op = nccl.Start(context, d);
  nccl.State(h.op, nccl_abi::kOpInProgress, 99);
  h.foreign_op = nccl.Start(reinterpret_cast<void*>(0xdead0000), d = ProxyOp(0xdead1000, 6, 2, false));
  h.step = nccl.Start(context, d = ProxyStep(h.op, 11));
  nccl.State(h.step, nccl_abi::kStepSendGpuWait, 12345);
  nccl.State(h.step, nccl_abi::kStepSendWait, 524288);
  nccl.State(h.step, nccl_abi::kStepSendWait, uint64_t{1} << 50);
  nccl.State(h.step, 70000);
  nccl.Stop(h.step);
  h.ctrl = nccl.Start(context, d = Describe(nccl_abi::kProxyCtrl));
  nccl.State(h.ctrl, nccl_abi::kCtrlAppend);
  nccl.State(h.ctrl, nccl_abi::kCtrlAppendEnd, 0xA5A5A5A500000010);
  nccl.Stop(h.ctrl);
  d = Describe(nccl_abi::kKernelCh, h.coll);
  d.kernelCh.channelId = 63;
  d.kernelCh.pTimer = kTimer;
  h.kernel = nccl.Start(context, d);
  nccl.State(h.kernel, nccl_abi::kKernelChStop, kTimer + 32);
  d = Describe(nccl_abi::kNetPlugin, h.step, 3);
  d.netPlugin.id = 65537;
  d.netPlugin.data = nullptr;
  h.net = nccl.Start(context, d);
  nccl.Stop(0);
  nccl.State(0, 8);
}

void CheckHost(const RankFileReader& file, const Handles& h) {
  Record r = At(file, h.group_api, rank_file::kStartGroupApi);
  CHECK_EQ(r.w(0, 1), 0);
  CHECK_EQ(r.low(0, 2), 0);
  CHECK_EQ(r.high(0, 2), 1 | 2 << 1);

  for (const bool coll : {true, false}) {
    r = At(file, coll ? h.coll_api : h.p2p_api, coll ? rank_file::kStartCollApi : rank_file::kStartP2pApi);
    CHECK_EQ(r.w(0, 1), h.group_api);
    CHECK(file.String(static_cast<uint16_t>(r.high(0, 2))) == (coll ? "AllReduce" : "Send"));
    CHECK(file.String(static_cast<uint16_t>(r.high(0, 2) >> 16)) == (coll ? "ncclBfloat16" : "ncclInt8"));
    CHECK_EQ(r.w(1, 0), coll ? 123456789 : 55);
    CHECK_EQ(r.w(1, 1), coll ? 0x5000 : 0x6000);
    CHECK_EQ(r.low(1, 2), coll ? 3u : ~0u);
    CHECK_EQ(r.high(1, 2), coll ? 1 : 0);
  }

  r = At(file, h.launch, rank_file::kStartKernelLaunch);
  CHECK_EQ(r.w(1, 0), 0x5000);
  r = At(file, h.group, rank_file::kStartGroup);
  CHECK_EQ(r.low(0, 2), rank_file::kCommNone);

  r = At(file, h.coll, rank_file::kStartColl);
  CHECK_EQ(r.slots.size(), 4);
  CHECK_EQ(r.w(0, 1), h.coll_api);
  CHECK_EQ(r.high(0, 2), 1);
  CHECK_EQ(r.w(1, 0), 7);
  CHECK_EQ(r.w(1, 1), 1 << 20);
  const char* names[] = {"AllReduce", "ncclFloat32", "RING", "SIMPLE"};
  for (int i = 0; i < 4; ++i) CHECK(file.String(static_cast<uint16_t>(r.w(1, 2) >> 16 * i)) == names[i]);
  CHECK_EQ(r.w(2, 0), h.group);
  CHECK_EQ(r.low(2, 1), 2);
  CHECK_EQ(r.high(2, 1), 0);
  CHECK_EQ(r.w(2, 2), 8 | 16 << 8);
  CHECK_EQ(r.w(3, 0), 0x1000);
  CHECK_EQ(r.w(3, 1), 0x2000);
  CHECK_EQ(r.w(3, 2), 0);

  r = At(file, h.p2p, rank_file::kStartP2p);
  CHECK_EQ(r.slots.size(), 3);
  CHECK_EQ(r.w(1, 0), 0x3000);
  CHECK_EQ(r.w(1, 1), 77);
  CHECK(file.String(static_cast<uint16_t>(r.w(1, 2))) == "Recv");
  CHECK_EQ(r.w(1, 2) >> 32, 2);
  CHECK_EQ(r.low(2, 1), 3);
  CHECK_EQ(r.high(2, 1), 0);
}

/** The records of a ring from `handle`'s start on, as kinds. */
void CheckProxy(const RankFileReader& file, const Handles& h) {
  CHECK_EQ(file.areas()[rank_file::HandleRing(h.op)].area_class, rank_file::kRingOps);
  CHECK_EQ(file.areas()[rank_file::HandleRing(h.step)].area_class, rank_file::kRingSteps);

  Record r = At(file, h.op, rank_file::kStartProxyOp);
  CHECK_EQ(r.slots.size(), 2);
  CHECK_EQ(r.w(0, 1), h.coll);
  CHECK_EQ(r.high(0, 2), 3);
  CHECK_EQ(r.low(1, 0), 0);
  CHECK_EQ(r.high(1, 0), 28);
  CHECK_EQ(r.low(1, 1), 1 << 22);
  CHECK_EQ(r.high(1, 1), 4242);
  CHECK_EQ(r.w(1, 2), 5 | 1 << 8 | uint64_t{1} << 32);

  r = At(file, h.foreign_op, rank_file::kStartProxyOp);
  CHECK_EQ(r.slots.size(), 3);
  CHECK_EQ(r.w(0, 1), 0xdead1000);
  CHECK_EQ(r.low(0, 2), rank_file::kCommForeign);
  CHECK_EQ(r.w(1, 2), 6 | uint64_t{1} << 32);
  CHECK_EQ(r.w(2, 0), 0xdead0000);

  r = At(file, h.step, rank_file::kStartProxyStep);
  CHECK_EQ(r.w(0, 1), h.op);
  CHECK_EQ(r.high(0, 2), 11);
  const std::vector<Record> steps = file.Records(rank_file::HandleRing(h.step));
  CHECK_EQ(steps.size(), 6);
  CHECK_EQ(steps[1].w(0, 2), 8 | rank_file::kNoValue << 16);  // transSize means nothing in state 8
  CHECK_EQ(steps[2].w(0, 2), 9 | uint64_t{524288} << 16);
  CHECK_EQ(steps[3].slots.size(), 2);
  CHECK_EQ(steps[3].w(0, 2), 9);
  CHECK_EQ(steps[3].w(1, 0), uint64_t{1} << 50);
  CHECK_EQ(steps[4].w(0, 2), 70000);
  CHECK_EQ(steps[4].w(1, 0), rank_file::kNoValue);
  CHECK_EQ(steps[5].kind, rank_file::kStop);
  for (size_t i = 1; i < steps.size(); ++i) CHECK_EQ(steps[i].handle(), h.step);

  const std::vector<Record> ops = file.Records(rank_file::HandleRing(h.op));
  const uint32_t kinds[] = {rank_file::kStartProxyOp,   rank_file::kState,         rank_file::kStartProxyOp,
                            rank_file::kStartProxyCtrl, rank_file::kState,         rank_file::kState,
                            rank_file::kStop,           rank_file::kStartKernelCh, rank_file::kState,
                            rank_file::kStartNetPlugin};
  CHECK_EQ(ops.size(), sizeof(kinds) / sizeof(kinds[0]));
  for (size_t i = 0; i < ops.size(); ++i) CHECK_EQ(ops[i].kind, kinds[i]);
  CHECK_EQ(ops[5].w(0, 2), 18 | 16 << 16);
  CHECK_EQ(ops[7].high(0, 2), 63);
  CHECK_EQ(ops[7].w(1, 0), kTimer);
  CHECK_EQ(ops[8].slots.size(), 2);  // a GPU time needs more than 48 bits
  CHECK_EQ(ops[8].w(1, 0), kTimer + 32);
  CHECK_EQ(ops[9].w(1, 0), 65537);
  CHECK_EQ(ops[9].w(1, 1), 0);
  CHECK_EQ(file.Live(rank_file::HandleRing(h.op)).null_calls, 2);
}

void CheckTables(const RankFileReader& file) {
  Record r;
  const uint32_t communicators = file.AreasOf(rank_file::kTableCommunicators).at(0);
  CHECK(file.Find(communicators, 0, r));
  CHECK_EQ(r.kind, rank_file::kCommunicator);
  CHECK_EQ(r.slots.size(), 7);
  CHECK_EQ(r.w(0, 1), 0xC0FFEE);
  CHECK_EQ(r.low(0, 2), 1);
  CHECK_EQ(r.high(0, 2), 4);
  CHECK_EQ(r.w(1, 0), 2 | uint64_t{6} << 32);
  CHECK_EQ(r.w(1, 1), 4);
  CHECK(memcmp(r.slots[2].data(), "test\0\0\0\0", 8) == 0);
  CHECK(file.Find(communicators, 7, r));
  CHECK_EQ(r.kind, rank_file::kCommunicatorEnd);

  const std::vector<Record> leases = file.Records(file.AreasOf(rank_file::kTableLeases).at(0));
  // One record for the host thread. The proxy thread has ended: begin and end for each of its two rings.
  CHECK_EQ(leases.size(), 5);
  CHECK_EQ(leases[0].kind, rank_file::kLease);
  CHECK_EQ(leases[0].high(0, 2), static_cast<uint32_t>(getpid()));
  char name[16];
  CHECK_EQ(prctl(PR_GET_NAME, name), 0);
  CHECK(memcmp(leases[0].slots[1].data(), name, sizeof(name)) == 0);
  CHECK_EQ(leases[2].kind, rank_file::kLeaseEnd);
  CHECK_EQ(leases[2].w(0, 1), file.Live(leases[1].low(0, 2)).head);

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
  CHECK_EQ(file.AreasOf(rank_file::kTableClock).size(), 4);
  CHECK(!file.Records(file.AreasOf(rank_file::kTableHeartbeat).at(0)).empty());
}

void CheckHeader(const RankFileReader& file) {
  const rank_file::FileHeader& h = file.header();
  CHECK_EQ(h.rank, 3);
  CHECK_EQ(h.world_size, 8);
  CHECK_EQ(h.local_rank, -1);
  CHECK_EQ(h.pid, getpid());
  CHECK(h.process_start > 0 && h.pid_namespace > 0 && h.boot_id[0] + h.boot_id[1] + h.boot_id[2] > 0);
  CHECK(strcmp(h.program, "record_kinds") == 0);
  CHECK(h.tick_hz > 1'000'000 && h.tick_hz < 10'000'000'000);
  CHECK_EQ(h.event_mask, 0xFFFF);
  CHECK_EQ(h.mask_now, 0xFFFF);
  CHECK_EQ(h.chunks_offset, file.size());
  CHECK_EQ(h.io_errors, 0);
  CHECK_EQ(h.tag & ~rank_file::kHandleTagMask, 0);
  CHECK_EQ(h.tag & rank_file::kHandleTagFixedBits, rank_file::kHandleTagFixedBits);
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[2];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "1", 1);
  setenv("RANK", "3", 1);
  setenv("WORLD_SIZE", "8", 1);

  Nccl nccl(argv[1]);
  void* context = nccl.Init();
  CHECK_EQ(nccl.mask(), nccl_abi::kMaskV6);
  Handles handles;
  PlayHost(nccl, context, handles);
  std::thread([&] { PlayProxy(nccl, context, handles); }).join();
  nccl.Finalize(context);

  AwaitClosed(folder + "/rank00003.bin");
  const RankFileReader file(folder + "/rank00003.bin");
  CheckHeader(file);
  CheckHost(file, handles);
  CheckProxy(file, handles);
  CheckTables(file);
  return Passed();
}
