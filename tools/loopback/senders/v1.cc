// v1 (NCCL 2.23): numbers instead of names.

#include "loopback/sender_parts.h"
#include "nccl/profiler_v1.h"

namespace loopback {
namespace {

namespace v1 = nccl_abi::v1;

struct Code {
  const char* name;
  uint8_t code;
};
constexpr Code kFuncs[] = {
    {"AllReduce", v1::kAllReduce}, {"AllGather", v1::kAllGather}, {"ReduceScatter", v1::kReduceScatter},
    {"Broadcast", v1::kBroadcast}, {"Reduce", v1::kReduce},       {"SendRecv", v1::kSendRecv},
    {"Recv", v1::kRecv},           {"Send", v1::kSend},  // an unknown function is a Send
};
constexpr Code kDatatypes[] = {{"ncclInt8", v1::kInt8}, {"ncclFloat32", v1::kFloat32}, {"?", v1::kFloat64}};
constexpr Code kAlgos[] = {{"TREE", v1::kTree}, {"COLLNET_CHAIN", v1::kCollNetChain}, {"RING", v1::kRing}};
constexpr Code kProtos[] = {{"LL", v1::kLl}, {"LL128", v1::kLl128}, {"SIMPLE", v1::kSimple}};

/** Unknown names get the last code. */
template <size_t n>
uint8_t CodeOf(const Code (&codes)[n], const char* name) {
  for (const Code& code : codes) {
    if (name == nullptr) break;
    if (strcmp(code.name, name) == 0) return code.code;
  }
  return codes[n - 1].code;
}

void CopyColl(v1::Descriptor& d, const Event& event) {
  d.coll.seqNumber = event->coll.seqNumber;
  d.coll.func = CodeOf(kFuncs, event->coll.func);
  d.coll.sendBuff = event->coll.sendBuff;
  d.coll.recvBuff = event->coll.recvBuff;
  d.coll.count = event->coll.count;
  d.coll.root = event->coll.root;
  d.coll.datatype = CodeOf(kDatatypes, event->coll.datatype);
  d.coll.op = 0;  // ncclSum
  d.coll.trafficBytes = event.trafficBytes;
  d.coll.nMaxChannels = event->coll.nChannels;
  d.coll.nWarps = event->coll.nWarps;
  d.coll.algo = CodeOf(kAlgos, event->coll.algo);
  d.coll.proto = CodeOf(kProtos, event->coll.proto);
  d.coll.isCollnet = event->coll.algo != nullptr && strncmp(event->coll.algo, "COLLNET", 7) == 0;
  d.coll.isNvls = 0;
  CopyComm(d.coll, event);
}

void CopyP2p(v1::Descriptor& d, const Event& event) {
  d.p2p.func = CodeOf(kFuncs, event->p2p.func);
  d.p2p.buff = event->p2p.buff;
  d.p2p.datatype = CodeOf(kDatatypes, event->p2p.datatype);
  d.p2p.count = event->p2p.count;
  d.p2p.peer = event->p2p.peer;
  CopyComm(d.p2p, event);
}

void Fill(v1::Descriptor& d, const Event& event) {
  CopyOldHead(d, event);
  CopyProxyMembers(d, event);
  if (event->type == EventType::kColl) CopyColl(d, event);
  if (event->type == EventType::kP2p) CopyP2p(d, event);
}

void FillAdapted(v1::Descriptor& d, const Event& event) {
  Fill(d, event);
  ForgetComm(d, event);
  if (event->type == EventType::kColl) d.coll.trafficBytes = 0;
}

constexpr auto kStart = StartKnown<v1::Profiler, v1::Descriptor, Fill, v1::kMask>;
constexpr auto kAdapt = AdaptFilled<v1::Profiler, v1::Descriptor, FillAdapted, v1::kMask>;

}  // namespace

const Sender kSenderV1 = {FunctionsOf<v1::Profiler>, InitWithoutInfo<v1::Profiler>, kStart,
                          StateBeforeV4<v1::Profiler>};
const Sender kAdapterV1 = {FunctionsOf<v1::Profiler>, InitWithoutInfo<v1::Profiler>, kAdapt,
                           AdaptStateBeforeV4<v1::Profiler>};

}  // namespace loopback
