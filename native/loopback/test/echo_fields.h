// The fields of a descriptor as text, for each version of the interface: what the version has, by the version's names.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "nccl/net_events.h"
#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"

namespace echo {

using namespace nccl_abi;

inline std::string Text(const char* format, ...) __attribute__((format(printf, 1, 2)));
inline std::string Text(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

inline const char* Name(const char* name) { return name == nullptr ? "NULL" : name; }
inline uintptr_t Number(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

template <typename Member>
std::string CommOf(const Member& task) {
  return Text("name=%s commHash=%016" PRIx64 " ", Name(task.name), task.commHash);
}

/** From v2 on: the names of a collective. */
template <typename Member>
std::string CollOf(const Member& coll) {
  return Text("seq=%" PRIu64 " func=%s count=%zu root=%d datatype=%s nWarps=%d algo=%s proto=%s", coll.seqNumber,
              coll.func, coll.count, coll.root, coll.datatype, coll.nWarps, coll.algo, coll.proto);
}

template <typename Member>
std::string P2pOf(const Member& p2p) {
  return Text("func=%s count=%zu datatype=%s peer=%d", p2p.func, p2p.count, p2p.datatype, p2p.peer);
}

inline std::string TaskFields(const v1::Descriptor& d) {
  if (d.type == kColl) {
    return CommOf(d.coll) + Text("seq=%" PRIu64
                                 " func=%d count=%zu root=%d datatype=%d op=%u trafficBytes=%zu nMaxChannels=%d "
                                 "nWarps=%d algo=%d proto=%d isCollnet=%d isNvls=%d",
                                 d.coll.seqNumber, d.coll.func, d.coll.count, d.coll.root, d.coll.datatype, d.coll.op,
                                 d.coll.trafficBytes, d.coll.nMaxChannels, d.coll.nWarps, d.coll.algo, d.coll.proto,
                                 d.coll.isCollnet, d.coll.isNvls);
  }
  return CommOf(d.p2p) +
         Text("func=%d count=%zu datatype=%d peer=%d", d.p2p.func, d.p2p.count, d.p2p.datatype, d.p2p.peer);
}

inline std::string TaskFields(const v2::Descriptor& d) {
  if (d.type == kP2p) return CommOf(d.p2p) + P2pOf(d.p2p);
  return CommOf(d.coll) + CollOf(d.coll) +
         Text(" trafficBytes=%zu nMaxChannels=%d", d.coll.trafficBytes, d.coll.nMaxChannels);
}

inline std::string TaskFields(const v3::Descriptor& d) {
  if (d.type == kP2p) return CommOf(d.p2p) + P2pOf(d.p2p);
  return CommOf(d.coll) + CollOf(d.coll) + Text(" nMaxChannels=%d", d.coll.nMaxChannels);
}

inline std::string TaskFields(const v4::Descriptor& d) {
  if (d.type == kP2p) return P2pOf(d.p2p) + Text(" nChannels=%d", d.p2p.nChannels);
  return CollOf(d.coll) + Text(" nChannels=%d", d.coll.nChannels);
}

inline std::string TaskFields(const Descriptor& d) {
  if (d.type == kP2p) {
    return P2pOf(d.p2p) + Text(" nChannels=%d group=%" PRIuPTR, d.p2p.nChannels, Number(d.p2p.parentGroup));
  }
  return CollOf(d.coll) + Text(" nChannels=%d group=%" PRIuPTR, d.coll.nChannels, Number(d.coll.parentGroup));
}

inline std::string TaskFields(const v7::Descriptor& d) {
  if (d.type == kP2p) {
    return P2pOf(d.p2p) + Text(" nChannels=%d group=%" PRIuPTR " userTag=%" PRIu64, d.p2p.nChannels,
                               Number(d.p2p.parentGroup), d.p2p.userTag);
  }
  return CollOf(d.coll) + Text(" nChannels=%d group=%" PRIuPTR " kernelVariant=%s isSymColl=%d userTag=%" PRIu64,
                               d.coll.nChannels, Number(d.coll.parentGroup), Name(d.coll.kernelVariant),
                               d.coll.isSymColl, d.coll.userTag);
}

inline std::string KernelFields(const v1::Descriptor&) { return "?"; }
inline std::string KernelFields(const v2::Descriptor&) { return "?"; }
inline std::string KernelFields(const v3::Descriptor& d) { return Text("channel=%d", d.kernelCh.channelId); }
template <typename Descriptor>
std::string KernelFields(const Descriptor& d) {
  return Text("channel=%d pTimer=%" PRIu64, d.kernelCh.channelId, d.kernelCh.pTimer);
}

/** Until v4 there are none. */
template <typename Descriptor>
std::enable_if_t<std::is_same_v<decltype(Descriptor::type), uint8_t>, std::string> ApiFields(const Descriptor&) {
  return "?";
}

inline std::string TagOf(const Descriptor&) { return ""; }
inline std::string TagOf(const v7::Descriptor& d) {
  return Text(" userTag=%" PRIu64, d.type == kP2pApi ? d.p2pApi.userTag : d.collApi.userTag);
}

template <typename Descriptor>
std::enable_if_t<std::is_same_v<decltype(Descriptor::type), uint64_t>, std::string> ApiFields(const Descriptor& d) {
  switch (d.type) {
    case kGroupApi:
      return Text("depth=%d captured=%d", d.groupApi.groupDepth, d.groupApi.graphCaptured);
    case kCollApi:
      return Text("func=%s count=%zu datatype=%s root=%d captured=%d", d.collApi.func, d.collApi.count,
                  d.collApi.datatype, d.collApi.root, d.collApi.graphCaptured) +
             TagOf(d);
    case kP2pApi:
      return Text("func=%s count=%zu datatype=%s captured=%d", d.p2pApi.func, d.p2pApi.count, d.p2pApi.datatype,
                  d.p2pApi.graphCaptured) +
             TagOf(d);
    default:
      return "";
  }
}

inline std::string NetDataOf(int64_t id, const void* data) {
  if (id == kNetIdIbV1) {
    const NetIbV1& ib = *static_cast<const NetIbV1*>(data);
    return Text(" type=%d device=%d wrId=%" PRIu64 " opcode=%d qp=%d length=%zu", ib.type, ib.device, ib.wr_id,
                ib.opcode, ib.qpNum, ib.length);
  }
  if (id == kNetIdSocketV1) {
    const NetSocketV1& socket = *static_cast<const NetSocketV1*>(data);
    return Text(" type=%d op=%d length=%zu", socket.type, socket.op, socket.length);
  }
  return "";
}

template <typename Descriptor>
std::string NetFields(const Descriptor& d) {
  return Text("rank=%d id=%" PRIi64, d.rank, d.netPlugin.id) + NetDataOf(d.netPlugin.id, d.netPlugin.data);
}
inline std::string NetFields(const v1::Descriptor&) { return "?"; }
inline std::string NetFields(const v2::Descriptor&) { return "?"; }
/** Of the copy engines, and phases: in the newest descriptor, or where v6 has them. */
inline std::string LateFields(const v7::Descriptor& d) {
  switch (d.type) {
    case kCeColl:
      return Text("rank=%d seq=%" PRIu64
                  " func=%s count=%zu root=%d datatype=%s sync=%s intraBatchSync=%d batchSize=%u",
                  d.rank, d.ceColl.seqNumber, d.ceColl.func, d.ceColl.count, d.ceColl.root, d.ceColl.datatype,
                  d.ceColl.syncStrategy, d.ceColl.intraBatchSync, d.ceColl.batchSize) +
             Text(" numBatches=%u ceSeq=%u", d.ceColl.numBatches, d.ceColl.ceSeqNum);
    case kCeSync:
      return Text("rank=%d isComplete=%d nRanks=%d", d.rank, d.ceCollSync.isComplete, d.ceCollSync.nRanks);
    case kCeBatch:
      return Text("rank=%d numOps=%d totalBytes=%zu useIntraSync=%d", d.rank, d.ceCollBatch.numOps,
                  d.ceCollBatch.totalBytes, d.ceCollBatch.useIntraSync);
    default:
      return Text("channel=%d phase=%d name=%s pTimer=%" PRIu64, d.kernelPhase.channelId, d.kernelPhase.phaseId,
                  d.kernelPhase.phaseName, d.kernelPhase.pTimer);
  }
}
inline std::string LateFields(const Descriptor& d) {
  v7::Descriptor newest{};
  memcpy(&newest, &d, sizeof d);
  return LateFields(newest);
}
template <typename Old>
std::string LateFields(const Old&) {
  return "?";
}

/** Bytes no version defines are garbage; " padding=clean" if they are not. */
template <typename Descriptor>
std::string PaddingOf(const Descriptor& d) {
  const unsigned char* const bytes = reinterpret_cast<const unsigned char*>(&d);
  bool clean = false;
  for (size_t i = sizeof d.type; i < 8; i++) clean |= bytes[i] != 0xA5;
  for (size_t i = 20; i < 24; i++) clean |= bytes[i] != 0xA5;
  return clean ? " padding=clean" : "";
}

template <typename Descriptor>
std::string Fields(const Descriptor& d) {
  switch (static_cast<uint64_t>(d.type)) {
    case kColl:
    case kP2p:
      return Text("rank=%d ", d.rank) + TaskFields(d);
    case kProxyOp:
      return Text("rank=%d pid=%d channel=%d peer=%d nSteps=%d chunkSize=%d isSend=%d", d.rank, d.proxyOp.pid,
                  d.proxyOp.channelId, d.proxyOp.peer, d.proxyOp.nSteps, d.proxyOp.chunkSize, d.proxyOp.isSend);
    case kProxyStep:
      return Text("rank=%d step=%d", d.rank, d.proxyStep.step);
    case kKernelCh:
      return KernelFields(d);
    case kNetPlugin:
      return NetFields(d);
    case kCeColl:
    case kCeSync:
    case kCeBatch:
    case v7::kKernelPhase:
      return LateFields(d);
    case kGroup:
    case kProxyCtrl:
      return "";
    default:
      return ApiFields(d);
  }
}

/** v1 to v3. Through an adapter a step has arguments, which say nothing. */
inline std::string ArgsOf(EventState state, const StateArgsBeforeV4& args) {
  if (static_cast<int>(state) <= static_cast<int>(kOpRecvDone)) {
    return Text(" transSize=%zu steps=%d", args.proxyOp.transSize, args.proxyOp.steps);
  }
  if (state <= kStepRecvGpuWait) return Text(" zero=%d", args.proxyOp.transSize == 0 && args.proxyOp.steps == 0);
  return state == kCtrlAppendEnd ? Text(" appended=%d", args.proxyCtrl.appendedProxyOps) : "";
}

inline std::string ArgsOf(EventState state, const StateArgs& args) {
  switch (static_cast<int>(state)) {
    case kStepSendWait:
    case kStepRecvFlushWait:
      return Text(" transSize=%zu", args.proxyStep.transSize);
    case kCtrlAppendEnd:
      return Text(" appended=%d", args.proxyCtrl.appendedProxyOps);
    case kNetPluginUpdate:
      return Text(" data=%d", args.netPlugin.data != nullptr);
    case kKernelChStop:
    case v7::kKernelPhaseStop:
      return Text(" pTimer=%" PRIu64, args.kernelCh.pTimer);
    default:
      return "";
  }
}

}  // namespace echo

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_
