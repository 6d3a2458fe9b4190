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

void FillAdapted(v2::Descriptor& d, const Event& event) {
  Fill(d, event);
  ForgetComm(d, event);
  if (event->type == EventType::kColl) d.coll.trafficBytes = 0;
}

constexpr auto kStart = StartKnown<v2::Profiler, v2::Descriptor, Fill, v2::kMask>;
constexpr auto kAdapt = AdaptFilled<v2::Profiler, v2::Descriptor, FillAdapted, v2::kMask>;

}  // namespace

const Sender kSenderV2 = {FunctionsOf<v2::Profiler>, InitWithoutInfo<v2::Profiler>, kStart,
                          StateBeforeV4<v2::Profiler>};
const Sender kAdapterV2 = {FunctionsOf<v2::Profiler>, InitWithoutInfo<v2::Profiler>, kAdapt,
                           AdaptStateBeforeV4<v2::Profiler>};

}  // namespace loopback
