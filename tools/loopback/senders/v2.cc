// v2 (NCCL 2.24 and 2.25): names, and the communicator in every Coll and P2p.

#include "loopback/sender_parts.h"
#include "nccl/profiler_v2.h"

namespace loopback {
namespace {

namespace v2 = nccl_abi::v2;

void Fill(v2::Descriptor& d, const Event& event) {
  CopyOldHead(d, event);
  CopyProxyMembers(d, event);
  if (event->type == EventType::kColl) {
    CopyColl(d.coll, event);
    CopyComm(d.coll, event);
    d.coll.trafficBytes = event.trafficBytes;
    d.coll.nMaxChannels = event->coll.nChannels;
  } else if (event->type == EventType::kP2p) {
    CopyP2p(d.p2p, event);
    CopyComm(d.p2p, event);
  }
}

bool Start(const void* table, void* context, void** handle, const Event& event) {
  if ((event->type & v2::kMask) == 0 && event->type != kUnknownEventType) {
    *handle = nullptr;
    return false;
  }
  Poisoned<v2::Descriptor> d;
  Fill(*d, event);
  As<v2::Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

bool Adapt(const void* table, void* context, void** handle, const Event& event) {
  *handle = nullptr;
  if ((event->type & v2::kMask) == 0) return false;
  Poisoned<v2::Descriptor> d;
  Fill(*d, event);
  if (event->type == EventType::kColl) {
    d->coll.name = nullptr;
    d->coll.commHash = d->coll.trafficBytes = 0;
  } else if (event->type == EventType::kP2p) {
    d->p2p.name = nullptr;
    d->p2p.commHash = 0;
  }
  As<v2::Profiler>(table).startEvent(context, handle, &*d);
  return true;
}

}  // namespace

const Sender kSenderV2 = {FunctionsOf<v2::Profiler>, InitWithoutInfo<v2::Profiler>, Start, StateBeforeV4<v2::Profiler>};
const Sender kAdapterV2 = {FunctionsOf<v2::Profiler>, InitWithoutInfo<v2::Profiler>, Adapt,
                           AdaptStateBeforeV4<v2::Profiler>};

}  // namespace loopback
