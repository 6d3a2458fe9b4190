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

void FillAdapted(v3::Descriptor& d, const Event& event) {
  Fill(d, event);
  ForgetComm(d, event);
}

constexpr auto kStart = StartFilled<v3::Profiler, v3::Descriptor, Fill>;
constexpr auto kAdapt = AdaptFilled<v3::Profiler, v3::Descriptor, FillAdapted, v3::kMask>;

}  // namespace

const Sender kSenderV3 = {FunctionsOf<v3::Profiler>, InitWithoutInfo<v3::Profiler>, kStart,
                          StateBeforeV4<v3::Profiler>};
const Sender kAdapterV3 = {FunctionsOf<v3::Profiler>, InitWithoutInfo<v3::Profiler>, kAdapt,
                           AdaptStateBeforeV4<v3::Profiler>};

}  // namespace loopback
