#include "plugin/chain/interfaces.h"

#include <string.h>

namespace nccl_trace::chain {
namespace {

namespace v1 = nccl_abi::v1;
namespace v2 = nccl_abi::v2;
namespace v3 = nccl_abi::v3;
namespace v4 = nccl_abi::v4;

/** The code of a name. `unknown`: for all others, as NCCL has it. */
template <int known>
uint8_t CodeOf(const char* const (&names)[known], const char* name, uint8_t unknown) {
  for (uint8_t code = 0; name != nullptr && code < known; ++code) {
    if (strcmp(names[code], name) == 0) return code;
  }
  return unknown;
}
constexpr const char* kFuncs[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                  "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kAlgos[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtos[] = {"LL", "LL128", "SIMPLE"};
constexpr const char* kTypes1[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                   "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};

template <typename From, typename To>
void CopyHeadAndProxy(const From& from, To& to, uint64_t type) {
  memset(static_cast<void*>(&to), 0, sizeof(to));
  to.type = static_cast<uint8_t>(type);
  to.parentObj = from.parentObj;
  to.rank = from.rank;
  if (type == nccl_abi::kProxyOp) to.proxyOp = from.proxyOp;
  if (type == nccl_abi::kProxyStep) to.proxyStep = from.proxyStep;
}

/** What Coll has in all versions with names. */
template <typename From, typename To>
void CopyColl(const From& from, To& to) {
  to.seqNumber = from.seqNumber;
  to.func = from.func;
  to.sendBuff = from.sendBuff;
  to.recvBuff = from.recvBuff;
  to.count = from.count;
  to.root = from.root;
  to.datatype = from.datatype;
  to.nWarps = from.nWarps;
  to.algo = from.algo;
  to.proto = from.proto;
}

template <typename From, typename To>
void CopyP2p(const From& from, To& to) {
  to.func = from.func;
  to.buff = from.buff;
  to.datatype = from.datatype;
  to.count = from.count;
  to.peer = from.peer;
}

/** From v4 on events do not name the communicator. */
void Make(const v4::Descriptor& from, v3::Descriptor& to, uint64_t type) {
  CopyHeadAndProxy(from, to, type);
  if (type == nccl_abi::kNetPlugin) to.netPlugin = from.netPlugin;
  if (type == nccl_abi::kKernelCh) to.kernelCh.channelId = from.kernelCh.channelId;
  if (type == nccl_abi::kP2p) CopyP2p(from.p2p, to.p2p);
  if (type != nccl_abi::kColl) return;
  CopyColl(from.coll, to.coll);
  to.coll.nMaxChannels = from.coll.nChannels;
}

void Make(const v3::Descriptor& from, v2::Descriptor& to, uint64_t type) {
  CopyHeadAndProxy(from, to, type);
  if (type == nccl_abi::kP2p) {
    CopyP2p(from.p2p, to.p2p);
    to.p2p.name = from.p2p.name;
    to.p2p.commHash = from.p2p.commHash;
  }
  if (type != nccl_abi::kColl) return;
  CopyColl(from.coll, to.coll);
  to.coll.name = from.coll.name;
  to.coll.commHash = from.coll.commHash;
  to.coll.nMaxChannels = from.coll.nMaxChannels;
}

void Make(const v2::Descriptor& from, v1::Descriptor& to, uint64_t type) {
  CopyHeadAndProxy(from, to, type);
  if (type == nccl_abi::kP2p) {
    const auto& f = from.p2p;
    to.p2p = {f.name,  f.commHash, CodeOf(kFuncs, f.func, v1::kSend), f.buff, CodeOf(kTypes1, f.datatype, v1::kFloat64),
              f.count, f.peer};
  }
  if (type != nccl_abi::kColl) return;
  const auto& f = from.coll;
  const uint8_t algo = CodeOf(kAlgos, f.algo, v1::kRing);
  to.coll = {f.name,
             f.commHash,
             f.seqNumber,
             CodeOf(kFuncs, f.func, v1::kSend),
             f.sendBuff,
             f.recvBuff,
             f.count,
             f.root,
             CodeOf(kTypes1, f.datatype, v1::kFloat64),
             0,
             f.trafficBytes,
             f.nMaxChannels,
             f.nWarps,
             algo,
             CodeOf(kProtos, f.proto, v1::kSimple),
             algo == v1::kCollNetDirect || algo == v1::kCollNetChain,
             algo == v1::kNvls || algo == v1::kNvlsTree};
}

}  // namespace

void* DescriptorFor(int version, int running, uint64_t type, void* descriptor, OldDescriptors& room) {
  if (version >= 4 || version == running) return descriptor;
  v3::Descriptor* third = running == 3 ? static_cast<v3::Descriptor*>(descriptor) : &room.v3;
  if (running >= 4) {
    v4::Descriptor beginning;
    memcpy(&beginning, descriptor, sizeof(beginning));
    Make(beginning, room.v3, type);
  }
  if (version == 3) return third;
  v2::Descriptor* second = running == 2 ? static_cast<v2::Descriptor*>(descriptor) : &room.v2;
  if (running >= 3) Make(*third, room.v2, type);
  if (version == 2) return second;
  Make(*second, room.v1, type);
  return &room.v1;
}

bool StateFor(int version, int running, nccl_abi::EventState state, void*& args, AnyStateArgs& room) {
  if (version == running || running <= 3) return true;
  constexpr int kLast[] = {0, 18, 18, 18, 22, 24, 30, 31};
  if (state < nccl_abi::kStepSendGpuWait || state > kLast[version]) return false;
  if (version >= 4 && args != nullptr) return true;
  const bool is_ctrl = state >= nccl_abi::kCtrlIdle && state <= nccl_abi::kCtrlAppendEnd;
  room = {};
  if (is_ctrl && args != nullptr) {
    room.old.proxyCtrl.appendedProxyOps = static_cast<nccl_abi::StateArgs*>(args)->proxyCtrl.appendedProxyOps;
  }
  args = &room;
  return true;
}

}  // namespace nccl_trace::chain
