// Every event type of one ABI version, written through its exported table and read back raw.
//
//   abi_versions <plugin.so> <folder> <version>      the folder is NCCL_TRACE_DIR
//
// Descriptors are bytes here, not structs: the offsets below are copied from NCCL's interface a second time, so that a
// field which native/nccl/ puts in the wrong place shows. What no field covers is 0xA5. The tables of v5 and v6 have a
// test of their own, record_kinds; here they are driven by the same offsets as the others.

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr int kVersions = 7;
constexpr int kNone = -1;

struct Layout {
  size_t bytes;
  int mask;
  int64_t type_bytes;
  struct {
    int name, comm_hash, sequence, func, send, receive, count, root, datatype, channels, warps, algo, proto, group, tag;
    int variant = kNone, symmetric = kNone;
  } coll;
  struct {
    int name, comm_hash, func, buffer, datatype, count, peer, channels, group, tag;
  } p2p;
  int timer;  // of kernelCh; kNone: it has none
};

// clang-format off
constexpr Layout kLayouts[kVersions + 1] = {
    {},
    {120, 0x3F, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 84, 104, 105, 106, 107, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {128, 0x3F, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 88, 104, 105, 112, 120, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {120, 0xFF, 1,
     {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 97, 104, 112, kNone, kNone},
     {24, 32, 40, 48, 56, 64, 72, kNone, kNone, kNone}, kNone},
    {104, 0xFF, 1,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, kNone, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, kNone, kNone}, 32},
    {112, 0xFFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, kNone}, 32},
    {112, 0x7FFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, kNone},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, kNone}, 32},
    {136, 0xFFFF, 8,
     {kNone, kNone, 24, 32, 40, 48, 56, 64, 72, 80, 81, 88, 96, 104, 128, 112, 120},
     {kNone, kNone, 24, 32, 40, 48, 56, 60, 64, 72}, 32},
};
// clang-format on

/** NCCL's table of any version, without its types. */
struct RawTable {
  const char* name;
  void* init;
  int (*start)(void* context, void** handle, void* descriptor);
  int (*stop)(void* handle);
  int (*state)(void* handle, int state, void* args);
  int (*finalize)(void* context);
};

constexpr uint64_t kCommHash = 0xABCDEF0123456789;
constexpr uint64_t kTimer = 1'756'135'989'724'672'000;
constexpr uint64_t kTag = 0x7A67'0000'0000'0001;
constexpr uint64_t kCeColl = 0x1000, kCeSync = 0x2000, kCeBatch = 0x4000, kKernelPhase = 0x8000;

int version;
const Layout* layout;
const RawTable* table;

class Bytes {
 public:
  Bytes(uint64_t type, uint64_t parent, int32_t rank) {
    // Exactly the descriptor's size: what lies behind it is another allocation's, and ASan says so.
    bytes_.resize(layout->bytes, 0xA5);
    memcpy(bytes_.data(), &type, static_cast<size_t>(layout->type_bytes));
    Put(8, parent);
    Put(16, rank);
  }
  template <typename T>
  Bytes& Put(int offset, T value) {
    if (offset == kNone) return *this;
    CHECK(offset + sizeof(value) <= bytes_.size());
    memcpy(&bytes_[static_cast<size_t>(offset)], &value, sizeof(value));
    return *this;
  }
  uint64_t Start(void* context) {
    void* handle = nullptr;
    CHECK_EQ(table->start(context, &handle, bytes_.data()), 0);
    // As NCCL's stack does.
    std::fill(bytes_.begin(), bytes_.end(), 0x5A);
    return reinterpret_cast<uint64_t>(handle);
  }

 private:
  std::vector<uint8_t> bytes_;
};

/** v1 to v3 have 16 bytes of arguments, then 8. */
void State(uint64_t handle, int state, uint64_t value, uint32_t steps = 0xA5A5A5A5) {
  std::vector<uint8_t> args(version < 4 ? 16 : 8, 0xA5);
  memcpy(args.data(), &value, sizeof(value));
  if (version < 4) memcpy(&args[8], &steps, sizeof(steps));
  CHECK_EQ(table->state(reinterpret_cast<void*>(handle), state, args.data()), 0);
}
void StateWithoutArgs(uint64_t handle, int state) {
  CHECK_EQ(table->state(reinterpret_cast<void*>(handle), state, nullptr), 0);
}
void Stop(uint64_t handle) { CHECK_EQ(table->stop(reinterpret_cast<void*>(handle)), 0); }
void Finalize(void* context) { CHECK_EQ(table->finalize(context), 0); }

using LoggerFunction = void(int32_t, unsigned long, const char*, int, const char*, ...);

void* Init() {
  void* context = reinterpret_cast<void*>(0xBAD);
  static int mask;
  const char* name = "a name";
  int result;
  if (version < 4) {
    result = reinterpret_cast<int (*)(void**, int*)>(table->init)(&context, &mask);
  } else if (version == 4) {
    result = reinterpret_cast<int (*)(void**, int*, const char*, uint64_t, int, int, int, LoggerFunction*)>(
        table->init)(&context, &mask, name, kCommHash, 2, 4, 1, Logger);
  } else {
    result = reinterpret_cast<int (*)(void**, uint64_t, int*, const char*, int, int, int, LoggerFunction*)>(
        table->init)(&context, kCommHash, &mask, name, 2, 4, 1, Logger);
  }
  CHECK_EQ(result, 0);
  CHECK_EQ(mask, layout->mask);
  return context;
}

// ---------------------------------------------------------------------------------------------------------------------
// What the events say

struct Names {
  const char *func, *datatype, *algo, *proto;
};
struct Codes {
  uint8_t func, datatype, algo, proto;
};
constexpr Names kNames = {"AllReduce", "ncclFloat32", "RING", "SIMPLE"};
constexpr Codes kCodes = {4, 7, 1, 2};

void PutName(Bytes& d, int offset, const char* name, uint8_t code) {
  if (version == 1) {
    d.Put(offset, code);
  } else {
    d.Put(offset, name);
  }
}

Bytes Coll(uint64_t parent, uint64_t group, const Codes& codes = kCodes, const char* name = "a name",
           uint64_t comm_hash = kCommHash) {
  const auto& at = layout->coll;
  Bytes d(nccl_abi::kColl, parent, 1);
  d.Put(at.name, name).Put(at.comm_hash, comm_hash);
  d.Put(at.sequence, uint64_t{7}).Put(at.send, uint64_t{0x1000}).Put(at.receive, uint64_t{0x2000});
  d.Put(at.count, uint64_t{1} << 20).Put(at.root, int32_t{2});
  d.Put(at.channels, uint8_t{8}).Put(at.warps, uint8_t{16}).Put(at.group, group).Put(at.tag, kTag);
  d.Put(at.variant, static_cast<const char*>(nullptr)).Put(at.symmetric, uint8_t{0});
  PutName(d, at.func, kNames.func, codes.func);
  PutName(d, at.datatype, kNames.datatype, codes.datatype);
  PutName(d, at.algo, kNames.algo, codes.algo);
  PutName(d, at.proto, kNames.proto, codes.proto);
  return d;
}

Bytes P2p(uint64_t parent, uint64_t group, const char* name, uint64_t comm_hash, int32_t rank) {
  const auto& at = layout->p2p;
  Bytes d(nccl_abi::kP2p, parent, rank);
  d.Put(at.name, name).Put(at.comm_hash, comm_hash);
  d.Put(at.buffer, uint64_t{0x3000}).Put(at.count, uint64_t{77}).Put(at.peer, int32_t{3});
  d.Put(at.channels, uint8_t{2}).Put(at.group, group).Put(at.tag, kTag + 1);
  PutName(d, at.func, "Recv", 7);
  PutName(d, at.datatype, "ncclInt8", 0);
  return d;
}

Bytes ProxyOp(uint64_t parent) {
  Bytes d(nccl_abi::kProxyOp, parent, 1);
  d.Put(24, int32_t{4242}).Put(28, uint8_t{5}).Put(32, int32_t{3}).Put(36, int32_t{28});
  return d.Put(40, int32_t{1 << 22}).Put(44, int32_t{1});
}

struct Handles {
  uint64_t group, coll, p2p, op, foreign_op, step, ctrl, kernel;
  uint64_t group_api, coll_api, p2p_api, launch, phase;
  uint64_t variant, symmetric, ce_coll, ce_sync, ce_batch;
  std::vector<uint64_t> net;
};

/** KernelCh and NetPlugin came with v3, the API's events with v5, the copy engine's with v6, KernelPhase with v7. */
bool Has(uint64_t type) { return (static_cast<uint64_t>(layout->mask) & type) != 0; }

/** The network plugins' data: what no field covers is 0xA5, and it is overwritten after the call. */
class NetData {
 public:
  explicit NetData(size_t bytes) : bytes_(bytes, 0xA5) {}
  template <typename T>
  NetData& Put(size_t offset, T value) {
    CHECK(offset + sizeof(value) <= bytes_.size());
    memcpy(&bytes_[offset], &value, sizeof(value));
    return *this;
  }
  uint64_t Start(void* context, uint64_t parent, int64_t id) {
    Bytes d(nccl_abi::kNetPlugin, parent, 3);
    const uint64_t handle = d.Put(24, id).Put(32, static_cast<void*>(bytes_.data())).Start(context);
    std::fill(bytes_.begin(), bytes_.end(), 0x5A);
    return handle;
  }

 private:
  std::vector<uint8_t> bytes_;
};

NetData Ib() {
  NetData data(40);
  data.Put(0, uint8_t{1}).Put(8, int32_t{3}).Put(16, uint64_t{0x1122334455667788}).Put(24, int32_t{1});
  return data.Put(28, int32_t{-2}).Put(32, size_t{1} << 40);
}

NetData Socket(int32_t op) {
  return NetData(24).Put(0, uint8_t{1}).Put(8, int32_t{17}).Put(12, op).Put(16, size_t{4096});
}

constexpr int64_t kIb = 65537, kSocket = 131073;

void PlayNet(void* context, Handles& h) {
  h.net.push_back(Ib().Start(context, h.step, kIb));
  h.net.push_back(Socket(0).Start(context, h.step, kSocket));
  h.net.push_back(Socket(1).Start(context, 0, kSocket));
  // What is not known is not looked at.
  for (const int64_t id : {int64_t{0x10002}, int64_t{0x30001}, int64_t{-1}}) {
    Bytes d(nccl_abi::kNetPlugin, h.step, 3);
    h.net.push_back(d.Put(24, id).Put(32, uint64_t{0xdead2000}).Start(context));
  }
  Bytes without_data(nccl_abi::kNetPlugin, h.step, 3);
  h.net.push_back(without_data.Put(24, kIb).Put(32, uint64_t{0}).Start(context));
  // An update has data, too, in a union of its own.
  if (version >= 4) State(h.net[0], 21, 0xdead2000);
  Stop(h.net[0]);
  Stop(h.net[0]);
}

void PlayCopyEngine(void* context, Handles& h) {
  Bytes coll(kCeColl, h.coll_api, 1);
  coll.Put(24, uint64_t{9}).Put(32, "AllGather").Put(40, uint64_t{0x8000}).Put(48, uint64_t{0x9000});
  coll.Put(56, uint64_t{1} << 33).Put(64, int32_t{-1}).Put(72, "ncclInt8").Put(80, "MC").Put(88, uint8_t{1});
  coll.Put(92, uint32_t{5}).Put(96, uint32_t{6}).Put(100, uint32_t{7}).Put(104, uint64_t{0xA000});
  h.ce_coll = coll.Put(version == 7 ? 112 : kNone, kTag + 4).Start(context);
  h.ce_sync = Bytes(kCeSync, h.ce_coll, 1).Put(24, uint8_t{1}).Put(28, int32_t{4}).Start(context);
  Stop(h.ce_sync);
  Bytes batch(kCeBatch, h.ce_coll, 1);
  h.ce_batch = batch.Put(24, int32_t{3}).Put(32, uint64_t{1} << 35).Put(40, uint8_t{1}).Start(context);
  Stop(h.ce_batch);
  Stop(h.ce_coll);
}

/** The child of what was sampled out leaves no record. */
uint64_t PlayMuted(void* context) {
  constexpr uint64_t kMuted = rank_file::kHandleTagFixedBits | rank_file::kHandleMuted;
  uint64_t played = 0;
  for (const uint64_t type : {uint64_t{nccl_abi::kNetPlugin}, kCeColl, kCeSync, kCeBatch, kKernelPhase}) {
    if (!Has(type)) continue;
    const uint64_t handle = Bytes(type, kMuted, 1).Start(context);
    CHECK_EQ(handle & kMuted, kMuted);
    ++played;
  }
  return played;
}

void PlayHost(void* context, Handles& h) {
  if (Has(nccl_abi::kGroupApi)) {
    h.group_api = Bytes(nccl_abi::kGroupApi, 0, 0).Put(24, uint8_t{1}).Put(28, int32_t{2}).Start(context);
    StateWithoutArgs(h.group_api, nccl_abi::kGroupStartApiStop);
    Bytes api(nccl_abi::kCollApi, h.group_api, 0);
    api.Put(24, kNames.func).Put(32, uint64_t{99}).Put(40, kNames.datatype).Put(48, int32_t{3});
    api.Put(56, uint64_t{0x5000}).Put(64, uint8_t{1}).Put(version == 7 ? 72 : kNone, kTag + 2);
    h.coll_api = api.Start(context);
    Bytes p2p(nccl_abi::kP2pApi, h.group_api, 0);
    p2p.Put(24, "Recv").Put(32, uint64_t{55}).Put(40, "ncclInt8").Put(48, uint64_t{0x6000});
    p2p.Put(56, uint8_t{0}).Put(version == 7 ? 64 : kNone, kTag + 3);
    h.p2p_api = p2p.Start(context);
    h.launch = Bytes(nccl_abi::kKernelLaunch, h.group_api, 0).Put(24, uint64_t{0x7000}).Start(context);
  }
  h.group = Bytes(nccl_abi::kGroup, 0, 0).Start(context);
  h.coll = Coll(h.group, h.group).Start(context);
  h.p2p = P2p(h.group, h.group, "another name", 1, 1).Start(context);
  Stop(h.coll);
  Stop(h.p2p);
  Stop(h.group);
  if (Has(kCeColl)) PlayCopyEngine(context, h);
  if (version == 7) {
    h.variant = Coll(h.group, h.group).Put(layout->coll.variant, "LL_R").Start(context);
    h.symmetric = Coll(h.group, h.group).Put(layout->coll.symmetric, uint8_t{1}).Start(context);
  }
}

void PlayProxy(void* context, Handles& h) {
  h.op = ProxyOp(h.coll).Start(context);
  if (version < 4) {
    for (int state = 0; state <= 7; ++state) State(h.op, state, static_cast<uint64_t>(1000 + state), 3);
  } else {
    State(h.op, nccl_abi::kOpInProgress, 99);
  }
  h.foreign_op = ProxyOp(0xdead1000).Start(reinterpret_cast<void*>(0xdead0000));
  h.step = Bytes(nccl_abi::kProxyStep, h.op, 1).Put(24, int32_t{11}).Start(context);
  StateWithoutArgs(h.step, nccl_abi::kStepSendGpuWait);
  State(h.step, nccl_abi::kStepSendWait, 524288);
  Stop(h.step);
  h.ctrl = Bytes(nccl_abi::kProxyCtrl, 0, 0).Start(context);
  StateWithoutArgs(h.ctrl, nccl_abi::kCtrlAppend);
  State(h.ctrl, nccl_abi::kCtrlAppendEnd, 0xA5A5A5A500000010);
  Stop(h.ctrl);
  Stop(h.op);
  if (Has(nccl_abi::kKernelCh)) {
    h.kernel = Bytes(nccl_abi::kKernelCh, h.coll, 0).Put(24, uint8_t{63}).Put(layout->timer, kTimer).Start(context);
    if (layout->timer != kNone) State(h.kernel, nccl_abi::kKernelChStop, kTimer + 32);
    Stop(h.kernel);
    PlayNet(context, h);
  }
  if (Has(kKernelPhase)) {
    Bytes phase(kKernelPhase, h.kernel, 0);
    phase.Put(24, uint8_t{63}).Put(25, uint8_t{1}).Put(32, "compute").Put(40, kTimer + 1);
    h.phase = phase.Start(context);
    State(h.phase, 31, kTimer + 2);
    Stop(h.phase);
  }
  // An event type of the future, and several at once.
  const uint64_t net_plugin_and_more = version < 5 ? 0x81 : 0x20081;
  Bytes(net_plugin_and_more, 0, 0).Start(context);
  StateWithoutArgs(0, 8);
  Stop(0);
}

// ---------------------------------------------------------------------------------------------------------------------
// What came of it

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
  CHECK_EQ(r.w(3, 2), version == 7 ? kTag : 0);
}

void CheckApi(const RankFileReader& file, const Handles& h) {
  Record r = At(file, h.group_api, rank_file::kStartGroupApi);
  CHECK_EQ(r.high(0, 2), 1 | 2 << 1);
  r = At(file, h.launch, rank_file::kStartKernelLaunch);
  CHECK_EQ(r.w(1, 0), 0x7000);
  for (const bool coll : {true, false}) {
    r = At(file, coll ? h.coll_api : h.p2p_api, coll ? rank_file::kStartCollApi : rank_file::kStartP2pApi);
    CHECK_EQ(r.slots.size(), version == 7 ? 3 : 2);
    CHECK_EQ(r.w(0, 1), h.group_api);
    CHECK(IsText(file, r.high(0, 2), coll ? "AllReduce" : "Recv"));
    CHECK(IsText(file, r.high(0, 2) >> 16, coll ? "ncclFloat32" : "ncclInt8"));
    CHECK_EQ(r.w(1, 0), coll ? 99 : 55);
    CHECK_EQ(r.w(1, 1), coll ? 0x5000 : 0x6000);
    CHECK_EQ(r.low(1, 2), coll ? 3u : ~0u);
    CHECK_EQ(r.high(1, 2), coll ? 1 : 0);
    if (version == 7) CHECK_EQ(r.w(2, 0), coll ? kTag + 2 : kTag + 3);
  }
}

void CheckHost(const RankFileReader& file, const Handles& h) {
  if (Has(nccl_abi::kGroupApi)) CheckApi(file, h);
  At(file, h.group, rank_file::kStartGroup);
  CheckColl(file, h.coll, kNames);
  Record r = At(file, h.coll, rank_file::kStartColl);
  CHECK_EQ(r.w(0, 1), h.group);
  CHECK_EQ(r.w(2, 0), version >= 5 ? h.group : 0);
  CHECK_EQ(r.high(2, 1), 0);
  CHECK_EQ(r.low(2, 2) >> 16, 0);

  r = At(file, h.p2p, rank_file::kStartP2p);
  CHECK_EQ(r.slots.size(), 3);
  CHECK_EQ(r.w(0, 1), h.group);
  CHECK_EQ(r.high(0, 2), 1);
  CHECK_EQ(r.w(1, 0), 0x3000);
  CHECK_EQ(r.w(1, 1), 77);
  CHECK(IsText(file, r.w(1, 2), "Recv"));
  CHECK(IsText(file, r.w(1, 2) >> 16, "ncclInt8"));
  CHECK_EQ(r.w(1, 2) >> 32, version >= 4 ? 2 : 0);  // and an ordinal that counts
  CHECK_EQ(r.w(2, 0), version >= 5 ? h.group : 0);
  CHECK_EQ(r.low(2, 1), 3);
  CHECK_EQ(r.w(2, 2), version == 7 ? kTag + 1 : 0);
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
  CHECK_EQ(after.size(), 3);
  CHECK_EQ(after[0].w(0, 2), StateWord(8));
  // Before v4 steps have no size; what an adapter hands over is garbage.
  CHECK_EQ(after[1].w(0, 2), version < 4 ? StateWord(9) : StateWord(9, 524288));
  CHECK_EQ(after[2].kind, rank_file::kStop);

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
  CHECK_EQ(r.w(3, 2), version == 7 ? kTag + 4 : 0);
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
    CHECK_EQ(r.w(3, 2), kTag);
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

/** v1's codes are names in the file. */
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

int main(int, char** argv) {
  const std::string folder = argv[2];
  version = atoi(argv[3]);
  CHECK(version >= 1 && version <= kVersions);
  layout = &kLayouts[version];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "1", 1);
  setenv("RANK", "1", 1);

  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  table = static_cast<const RawTable*>(dlsym(library, ("ncclProfiler_v" + std::string(argv[3])).c_str()));
  CHECK(table != nullptr);
  CHECK(strcmp(table->name, "nccl-trace") == 0);

  // As an adapter of a later NCCL tells it: nothing but the rank. And one in which nothing happens.
  void* context = Init();
  void* adapted = Init();
  void* silent = Init();
  Handles handles = {};
  PlayHost(context, handles);
  const uint64_t first_adapted = P2p(0, 0, nullptr, 0, 2).Start(adapted);
  const uint64_t muted = PlayMuted(context);
  std::vector<uint64_t> coded;
  if (version == 1) coded = PlayCodes(context, kCodesOfV1);
  std::thread([&] { PlayProxy(context, handles); }).join();
  // A network plugin has threads of its own: small rings will do.
  uint64_t socket_thread = 0;
  if (Has(nccl_abi::kNetPlugin)) {
    std::thread([&] { socket_thread = Socket(0).Start(context, handles.step, kSocket); }).join();
  }
  for (void* each : {context, adapted, silent}) Finalize(each);

  const RankFileReader file(folder + "/rank00001.bin");
  CHECK_EQ(file.header().life, rank_file::kClosed);
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
  // Once told, it stays: the p2p that followed had another name.
  const uint64_t first = At(file, handles.coll, rank_file::kStartColl).tick();
  CheckCommunicator(file, 0, kCommHash, 1, "a name", first);
  const uint64_t adapted_tick = At(file, first_adapted, rank_file::kStartP2p).tick();
  const bool told = version >= 4;
  CheckCommunicator(file, 1, told ? kCommHash : 0, told ? 1 : 2, told ? "a name" : "", adapted_tick);
  CheckCommunicator(file, 2, told ? kCommHash : 0, told ? 1 : -1, told ? "a name" : "", first);
  return Passed();
}
