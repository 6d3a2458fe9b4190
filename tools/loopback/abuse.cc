#include "loopback/abuse.h"

#include <cstring>

#include "loopback/abuser.h"
#include "loopback/profiler.h"

namespace loopback {
namespace {

/** A state that fits an event of this type. */
nccl_abi::EventState StateFor(uint64_t type) {
  switch (type) {
    case nccl_abi::kProxyStep:
      return nccl_abi::kStepSendWait;
    case nccl_abi::kProxyCtrl:
      return nccl_abi::kCtrlAppendEnd;
    case nccl_abi::kKernelCh:
      return nccl_abi::kKernelChStop;
    default:
      return nccl_abi::kStepRecvFlushWait;
  }
}

/** Clears the names of an event that has names. */
void ClearStrings(EventFields& f) {
  if (f.type == nccl_abi::kColl) f.coll.func = f.coll.datatype = f.coll.algo = f.coll.proto = nullptr;
  if (f.type == nccl_abi::kP2p) f.p2p.func = f.p2p.datatype = nullptr;
  if (f.type == nccl_abi::kCollApi) f.collApi.func = f.collApi.datatype = nullptr;
  if (f.type == nccl_abi::kP2pApi) f.p2pApi.func = f.p2pApi.datatype = nullptr;
  if (f.type == nccl_abi::kCeColl) f.ceColl.func = f.ceColl.datatype = f.ceColl.syncStrategy = nullptr;
  if (f.type == nccl_abi::v7::kKernelPhase) f.kernelPhase.phaseName = nullptr;
}

void* Garbage() {
  void* garbage;
  memset(&garbage, kPoison, sizeof garbage);
  return garbage;
}

}  // namespace

void Abuser::Remember(void* context, void* handle, const EventFields& fields) {
  // The data of a network event is valid only during its call, so it cannot be used for a second one.
  if (fields.type == nccl_abi::kNetPlugin || handle == nullptr) return;
  known_ = true;
  context_ = context;
  memcpy(&fields_, &fields, sizeof fields);
}

void Abuser::Strike(void* stopped, Profiler& profiler, CallCounts& counts) {
  if (!known_) return;
  turn_ = (turn_ + 1) % kAbuses;
  Strike(static_cast<Abuse>(turn_), stopped, profiler, counts);
  old_[stops_++ % kOld] = stopped;
}

void Abuser::Start(void* context, const EventFields& fields, Profiler& profiler, CallCounts& counts) {
  Event event(fields.type, fields.parentObj, fields.rank);
  memcpy(&*event.fields, &fields, sizeof fields);
  void* handle = Garbage();
  profiler.StartOnly(context, &handle, event, counts);
}

void Abuser::Strike(Abuse abuse, void* stopped, Profiler& profiler, CallCounts& counts) {
  const nccl_abi::EventState state = StateFor(fields_.type);
  const StateValues values;
  void* const old = old_[stops_ % kOld];
  EventFields f;
  memcpy(&f, &fields_, sizeof f);
  switch (abuse) {
    case kRepeatedStart:
      return Start(context_, f, profiler, counts);
    case kDoubleStop:
      return profiler.StopOnly(stopped, counts);
    case kStateAfterStop:
      return profiler.State(stopped, state, &values, counts);
    case kNullHandle:
      profiler.State(nullptr, state, nullptr, counts);
      return profiler.StopOnly(nullptr, counts);
    case kStaleHandle:
      return profiler.StopOnly(old, counts);
    case kStaleParent:
      f.parentObj = old;
      return Start(context_, f, profiler, counts);
    case kGarbageHandle:
      profiler.State(Garbage(), nccl_abi::kCtrlIdle, &values, counts);
      return profiler.StopOnly(Garbage(), counts);
    case kUnknownType:
      f.type = kUnknownEventType;
      return Start(context_, f, profiler, counts);
    case kUnknownState:
      return profiler.State(stopped, static_cast<nccl_abi::EventState>(kUnknownEventState), &values, counts);
    case kNullContext:
      return Start(nullptr, f, profiler, counts);
    case kNullParent:
      f.parentObj = nullptr;
      return Start(context_, f, profiler, counts);
    case kNullStrings:
      ClearStrings(f);
      return Start(context_, f, profiler, counts);
  }
}

}  // namespace loopback
