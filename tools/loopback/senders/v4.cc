// v4 (NCCL 2.27): init describes the communicator, KernelCh has the GPU's time.

#include "loopback/sender_parts.h"
#include "nccl/profiler_v4.h"

namespace loopback {
namespace {

namespace v4 = nccl_abi::v4;

Result Init(const void* table, void** context, int* mask, const CommInfo& comm) {
  return As<v4::Profiler>(table).init(context, mask, comm.name, comm.id, comm.nNodes, comm.nRanks, comm.rank, NcclLog);
}

void Fill(v4::Descriptor& d, const Event& event) {
  CopyOldHead(d, event);
  CopyProxyMembers(d, event);
  CopyNetMember(d, event);
  if (event->type == EventType::kKernelCh) {
    d.kernelCh.channelId = event->kernelCh.channelId;
    d.kernelCh.pTimer = event->kernelCh.pTimer;
  } else if (event->type == EventType::kColl) {
    CopyColl(d.coll, event);
    d.coll.nChannels = event->coll.nChannels;
  } else if (event->type == EventType::kP2p) {
    CopyP2p(d.p2p, event);
  }
}

void FillWithChannels(v4::Descriptor& d, const Event& event) {
  Fill(d, event);
  if (event->type == EventType::kP2p) d.p2p.nChannels = event->p2p.nChannels;
}

constexpr auto kStart = StartFilled<v4::Profiler, v4::Descriptor, FillWithChannels>;

/** Drops the channels of a P2p. Does not change the handle of an event that it does not know. */
bool Adapt(const void* table, void* context, void** handle, const Event& event) {
  return (event->type & v4::kMask) != 0 &&
         StartFilled<v4::Profiler, v4::Descriptor, Fill>(table, context, handle, event);
}

}  // namespace

const Sender kSenderV4 = {FunctionsOf<v4::Profiler>, Init, kStart, State<v4::Profiler>};
const Sender kAdapterV4 = {FunctionsOf<v4::Profiler>, Init, Adapt, AdaptState<v4::Profiler, nccl_abi::kKernelChStop>};

}  // namespace loopback
