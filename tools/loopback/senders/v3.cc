// v3 (NCCL 2.26): KernelCh, which has no time yet.

#include "loopback/sender_parts.h"
#include "nccl/profiler_v3.h"

namespace loopback {
namespace {

namespace v3 = nccl_abi::v3;

void Fill(v3::Descriptor& d, const Event& event) {
  CopyOldHead(d, event);
  CopyProxyMembers(d, event);
  CopyNetMember(d, event);
  if (event->type == EventType::kKernelCh) d.kernelCh.channelId = event->kernelCh.channelId;
  if (event->type == EventType::kColl) {
    CopyColl(d.coll, event);
    CopyComm(d.coll, event);
    d.coll.nMaxChannels = event->coll.nChannels;
  } else if (event->type == EventType::kP2p) {
    CopyP2p(d.p2p, event);
    CopyComm(d.p2p, event);
  }
}

bool Start(const void* table, void* context, void** handle, const Event& event) {
  Poisoned<v3::Descriptor> d;
  Fill(*d, event);
  As<v3::Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

bool Adapt(const void* table, void* context, void** handle, const Event& event) {
  *handle = nullptr;
  if ((event->type & v3::kMask) == 0) return false;
  Poisoned<v3::Descriptor> d;
  Fill(*d, event);
  if (event->type == EventType::kColl) {
    d->coll.name = nullptr;
    d->coll.commHash = 0;
  } else if (event->type == EventType::kP2p) {
    d->p2p.name = nullptr;
    d->p2p.commHash = 0;
  }
  As<v3::Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

}  // namespace

const Sender kSenderV3 = {FunctionsOf<v3::Profiler>, InitWithoutInfo<v3::Profiler>, Start, StateBeforeV4<v3::Profiler>};
const Sender kAdapterV3 = {FunctionsOf<v3::Profiler>, InitWithoutInfo<v3::Profiler>, Adapt,
                           AdaptStateBeforeV4<v3::Profiler>};

}  // namespace loopback
