// Code that senders of several versions share. Only for senders/*.cc.

#pragma once

#include "loopback/nccl_log.h"
#include "loopback/sender.h"
#include "nccl/profiler_v7.h"

namespace loopback {

using nccl_abi::EventState;
using nccl_abi::EventType;
using nccl_abi::Result;

template <typename Profiler>
const Profiler& As(const void* table) {
  return *static_cast<const Profiler*>(table);
}

template <typename Profiler>
PluginFunctions FunctionsOf(const void* table) {
  const Profiler& profiler = As<Profiler>(table);
  return {profiler.name, profiler.stopEvent, profiler.finalize};
}

// init. Each rank is a node of its own: all its connections are network connections.

template <typename Profiler>
Result InitWithoutInfo(const void* table, void** context, int* mask, const CommInfo&) {
  return As<Profiler>(table).init(context, mask);
}

template <typename Profiler>
Result InitHashSecond(const void* table, void** context, int* mask, const CommInfo& comm) {
  return As<Profiler>(table).init(context, comm.id, mask, comm.name, comm.nNodes, comm.nRanks, comm.rank, NcclLog);
}

// Starts.

/** Until v4: a type of one byte, and the Group as the parent of Coll and P2p. */
template <typename Descriptor>
void CopyOldHead(Descriptor& d, const Event& event) {
  d.type = static_cast<uint8_t>(event->type == kUnknownEventType ? kUnknownEventType >> 16 : event->type);
  d.parentObj = event->parentObj;
  if (event->type == EventType::kColl) d.parentObj = event->coll.parentGroup;
  if (event->type == EventType::kP2p) d.parentObj = event->p2p.parentGroup;
  d.rank = event->rank;
}

template <typename Descriptor>
void CopyProxyMembers(Descriptor& d, const Event& event) {
  if (event->type == EventType::kProxyOp) d.proxyOp = event->proxyOp;
  if (event->type == EventType::kProxyStep) d.proxyStep = event->proxyStep;
}

/** From v3 on. */
template <typename Descriptor>
void CopyNetMember(Descriptor& d, const Event& event) {
  if (event->type == EventType::kNetPlugin) d.netPlugin = event->netPlugin;
}

/** Until v3. */
template <typename Member>
void CopyComm(Member& member, const Event& event) {
  member.name = event.commName;
  member.commHash = event.commHash;
}

/** From v2 on, except the number of channels. */
template <typename Member>
void CopyColl(Member& coll, const Event& event) {
  coll.seqNumber = event->coll.seqNumber;
  coll.func = event->coll.func;
  coll.sendBuff = event->coll.sendBuff;
  coll.recvBuff = event->coll.recvBuff;
  coll.count = event->coll.count;
  coll.root = event->coll.root;
  coll.datatype = event->coll.datatype;
  coll.nWarps = event->coll.nWarps;
  coll.algo = event->coll.algo;
  coll.proto = event->coll.proto;
}

template <typename Member>
void CopyP2p(Member& p2p, const Event& event) {
  p2p.func = event->p2p.func;
  p2p.buff = event->p2p.buff;
  p2p.datatype = event->p2p.datatype;
  p2p.count = event->p2p.count;
  p2p.peer = event->p2p.peer;
}

/** Until v4: the descriptor that `kFill` makes of the event. */
template <typename Profiler, typename Descriptor, void (*kFill)(Descriptor& d, const Event& event)>
bool StartFilled(const void* table, void* context, void** handle, const Event& event) {
  Poisoned<Descriptor> d;
  kFill(*d, event);
  As<Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

/** v1 and v2: newer events are dropped, but not unknown ones. */
template <typename Profiler, typename Descriptor, void (*kFill)(Descriptor& d, const Event& event), int kKnown>
bool StartKnown(const void* table, void* context, void** handle, const Event& event) {
  if ((event->type & kKnown) != 0 || event->type == kUnknownEventType)
    return StartFilled<Profiler, Descriptor, kFill>(table, context, handle, event);
  *handle = nullptr;
  return false;
}

/** v1 to v3 through an adapter: newer and unknown events are dropped. */
template <typename Profiler, typename Descriptor, void (*kFill)(Descriptor& d, const Event& event), int kKnown>
bool AdaptFilled(const void* table, void* context, void** handle, const Event& event) {
  *handle = nullptr;
  return (event->type & kKnown) != 0 && StartFilled<Profiler, Descriptor, kFill>(table, context, handle, event);
}

/** An adapter does not know the communicator. */
template <typename Descriptor>
void ForgetComm(Descriptor& d, const Event& event) {
  if (event->type == EventType::kColl) {
    d.coll.name = nullptr;
    d.coll.commHash = 0;
  } else if (event->type == EventType::kP2p) {
    d.p2p.name = nullptr;
    d.p2p.commHash = 0;
  }
}

/** v5 and v6: the beginning of the newest descriptor. */
template <typename Profiler, typename Descriptor>
bool StartPrefix(const void* table, void* context, void** handle, const Event& event) {
  Poisoned<Descriptor> d;
  memcpy(&*d, &*event.fields, sizeof(Descriptor));
  As<Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

/** v5 and v6 through an adapter: newer events are dropped. */
template <typename Profiler, typename Descriptor, int kKnown>
bool AdaptPrefix(const void* table, void* context, void** handle, const Event& event) {
  if ((event->type & kKnown) != 0) return StartPrefix<Profiler, Descriptor>(table, context, handle, event);
  *handle = nullptr;
  return false;
}

// States.

inline bool IsCtrlState(EventState state) { return state >= nccl_abi::kCtrlIdle && state <= nccl_abi::kCtrlAppendEnd; }
inline bool IsStepState(EventState state) {
  return (state >= nccl_abi::kStepSendGpuWait && state <= nccl_abi::kStepRecvGpuWait) ||
         state == nccl_abi::kStepSendPeerWait;
}

/** v1 to v3, from the core of their time. */
template <typename Profiler>
bool StateBeforeV4(const void* table, void* handle, EventState state, const StateValues* values) {
  Poisoned<nccl_abi::StateArgsBeforeV4> args;
  if (values != nullptr && state <= static_cast<int>(nccl_abi::kOpRecvDone)) {
    args->proxyOp = {values->transSize, values->steps};
  } else if (values != nullptr && IsCtrlState(state)) {
    args->proxyCtrl.appendedProxyOps = values->appended;
  }
  As<Profiler>(table).recordEventState(handle, state, values == nullptr ? nullptr : &*args);
  return true;
}

/** v1 to v3 through an adapter, which clears the arguments and has none for steps. */
template <typename Profiler>
bool AdaptStateBeforeV4(const void* table, void* handle, EventState state, const StateValues* values) {
  if (state < nccl_abi::kStepSendGpuWait || state > nccl_abi::kCtrlAppendEnd) return false;
  Poisoned<nccl_abi::StateArgsBeforeV4> args;
  memset(&*args, 0, sizeof *args);
  if (values != nullptr && IsCtrlState(state)) args->proxyCtrl.appendedProxyOps = values->appended;
  As<Profiler>(table).recordEventState(handle, state, &*args);
  return true;
}

/** The member that the state defines; the others are left as they are. */
inline void SetArgs(nccl_abi::StateArgs& args, EventState state, const StateValues* values) {
  if (values == nullptr) return;
  if (IsStepState(state)) args.proxyStep.transSize = values->transSize;
  if (IsCtrlState(state)) args.proxyCtrl.appendedProxyOps = values->appended;
  if (state == nccl_abi::kKernelChStop || state == nccl_abi::v7::kKernelPhaseStop)
    args.kernelCh.pTimer = values->pTimer;
  if (state == nccl_abi::kNetPluginUpdate) args.netPlugin.data = values->data;
}

/** From v4 on. */
template <typename Profiler>
bool State(const void* table, void* handle, EventState state, const StateValues* values) {
  Poisoned<nccl_abi::StateArgs> args;
  SetArgs(*args, state, values);
  As<Profiler>(table).recordEventState(handle, state, values == nullptr ? nullptr : &*args);
  return true;
}

/** v4 and v5 through an adapter, which never passes NULL but may pass an uninitialised union. */
template <typename Profiler, int kLast>
bool AdaptState(const void* table, void* handle, EventState state, const StateValues* values) {
  if (state < nccl_abi::kStepSendGpuWait || state > kLast) return false;
  Poisoned<nccl_abi::StateArgs> args;
  SetArgs(*args, state, values);
  As<Profiler>(table).recordEventState(handle, state, &*args);
  return true;
}

}  // namespace loopback
