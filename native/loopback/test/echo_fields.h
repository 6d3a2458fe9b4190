// The fields of a descriptor as text, for each version of the interface: what the version has, by the version's names.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <type_traits>

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

template <typename Descriptor>
std::string Fields(const Descriptor& d) {
  switch (d.type) {
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
  switch (state) {
    case kStepSendWait:
    case kStepRecvFlushWait:
      return Text(" transSize=%zu", args.proxyStep.transSize);
    case kCtrlAppendEnd:
      return Text(" appended=%d", args.proxyCtrl.appendedProxyOps);
    case kKernelChStop:
      return Text(" pTimer=%" PRIu64, args.kernelCh.pTimer);
    default:
      return "";
  }
}

}  // namespace echo

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_TEST_ECHO_FIELDS_H_
