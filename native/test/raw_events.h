// Every event type of the chosen version, with known fields.

#pragma once

#include "test/raw_abi.h"

namespace nccl_trace_test::raw {

struct Names {
  const char *func, *datatype, *algo, *proto;
};
struct Codes {
  uint8_t func, datatype, algo, proto;
};
constexpr Names kNames = {"AllReduce", "ncclFloat32", "RING", "SIMPLE"};
constexpr Codes kCodes = {4, 7, 1, 2};

inline void PutName(Bytes& d, int offset, const char* name, uint8_t code) {
  if (version == 1) {
    d.Put(offset, code);
  } else {
    d.Put(offset, name);
  }
}

inline Bytes Coll(uint64_t parent, uint64_t group, const Codes& codes = kCodes, const char* name = "a name",
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

inline Bytes P2p(uint64_t parent, uint64_t group, const char* name, uint64_t comm_hash, int32_t rank) {
  const auto& at = layout->p2p;
  Bytes d(nccl_abi::kP2p, parent, rank);
  d.Put(at.name, name).Put(at.comm_hash, comm_hash);
  d.Put(at.buffer, uint64_t{0x3000}).Put(at.count, uint64_t{77}).Put(at.peer, int32_t{3});
  d.Put(at.channels, uint8_t{2}).Put(at.group, group).Put(at.tag, kTag + 1);
  PutName(d, at.func, "Recv", 7);
  PutName(d, at.datatype, "ncclInt8", 0);
  return d;
}

inline Bytes ProxyOp(uint64_t parent) {
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
inline bool Has(uint64_t type) { return (static_cast<uint64_t>(layout->mask) & type) != 0; }

/** The data of network plugins. Bytes outside of all fields are 0xA5. It is overwritten after the call. */
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

inline NetData Ib() {
  NetData data(40);
  data.Put(0, uint8_t{1}).Put(8, int32_t{3}).Put(16, uint64_t{0x1122334455667788}).Put(24, int32_t{1});
  return data.Put(28, int32_t{-2}).Put(32, size_t{1} << 40);
}

inline NetData Socket(int32_t op) {
  return NetData(24).Put(0, uint8_t{1}).Put(8, int32_t{17}).Put(12, op).Put(16, size_t{4096});
}

constexpr int64_t kIb = 65537, kSocket = 131073;

inline void PlayNet(void* context, Handles& h) {
  h.net.push_back(Ib().Start(context, h.step, kIb));
  h.net.push_back(Socket(0).Start(context, h.step, kSocket));
  h.net.push_back(Socket(1).Start(context, 0, kSocket));
  // Unknown data is not read.
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

inline void PlayCopyEngine(void* context, Handles& h) {
  Bytes coll(kCeColl, h.coll_api, 1);
  coll.Put(24, uint64_t{9}).Put(32, "AllGather").Put(40, uint64_t{0x8000}).Put(48, uint64_t{0x9000});
  coll.Put(56, uint64_t{1} << 33).Put(64, int32_t{-1}).Put(72, "ncclInt8").Put(80, "MC").Put(88, uint8_t{1});
  coll.Put(92, uint32_t{5}).Put(96, uint32_t{6}).Put(100, uint32_t{7}).Put(104, uint64_t{0xA000});
  h.ce_coll = coll.Put(has_tags ? 112 : kNone, kTag + 4).Start(context);
  h.ce_sync = Bytes(kCeSync, h.ce_coll, 1).Put(24, uint8_t{1}).Put(28, int32_t{4}).Start(context);
  Stop(h.ce_sync);
  Bytes batch(kCeBatch, h.ce_coll, 1);
  h.ce_batch = batch.Put(24, int32_t{3}).Put(32, uint64_t{1} << 35).Put(40, uint8_t{1}).Start(context);
  Stop(h.ce_batch);
  Stop(h.ce_coll);
}

/** A child of a sampled-out event leaves no record. */
inline uint64_t PlayMuted(void* context) {
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

inline void PlayHost(void* context, Handles& h) {
  if (Has(nccl_abi::kGroupApi)) {
    h.group_api = Bytes(nccl_abi::kGroupApi, 0, 0).Put(24, uint8_t{1}).Put(28, int32_t{2}).Start(context);
    StateWithoutArgs(h.group_api, nccl_abi::kGroupStartApiStop);
    Bytes api(nccl_abi::kCollApi, h.group_api, 0);
    api.Put(24, kNames.func).Put(32, uint64_t{99}).Put(40, kNames.datatype).Put(48, int32_t{3});
    api.Put(56, uint64_t{0x5000}).Put(64, uint8_t{1}).Put(has_tags ? 72 : kNone, kTag + 2);
    h.coll_api = api.Start(context);
    Bytes p2p(nccl_abi::kP2pApi, h.group_api, 0);
    p2p.Put(24, "Recv").Put(32, uint64_t{55}).Put(40, "ncclInt8").Put(48, uint64_t{0x6000});
    p2p.Put(56, uint8_t{0}).Put(has_tags ? 64 : kNone, kTag + 3);
    h.p2p_api = p2p.Start(context);
    h.launch = Bytes(nccl_abi::kKernelLaunch, h.group_api, 0).Put(24, uint64_t{0x7000}).Start(context);
  }
  h.group = Bytes(nccl_abi::kGroup, 0, 0).Start(context);
  // From v5 on the call is the parent, and the group a field of its own.
  h.coll = Coll(version >= 5 ? h.coll_api : h.group, h.group).Start(context);
  h.p2p = P2p(version >= 5 ? h.p2p_api : h.group, h.group, "another name", 1, 1).Start(context);
  Stop(h.coll);
  Stop(h.p2p);
  Stop(h.group);
  if (Has(kCeColl)) PlayCopyEngine(context, h);
  if (version == 7) {
    h.variant = Coll(h.group, h.group).Put(layout->coll.variant, "LL_R").Start(context);
    h.symmetric = Coll(h.group, h.group).Put(layout->coll.symmetric, uint8_t{1}).Start(context);
  }
}

inline void PlayProxy(void* context, Handles& h) {
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
  if (version >= 4) {
    State(h.step, nccl_abi::kStepSendWait, uint64_t{1} << 50);
    State(h.step, 70000, 1);
  }
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

}  // namespace nccl_trace_test::raw
