// Decoder of NCCL 2.27 (v4), the first version whose init describes the communicator. It has no API events and no second
// parent: the parent of collectives and p2ps is their Group.

#include "nccl/profiler_v4.h"
#include "plugin/abi/starts.h"

namespace nccl_trace::abi {
namespace {

struct V4 {
  using Descriptor = nccl_abi::v4::Descriptor;

  template <Path path>
  using Starts =
      StartTable<V4, path, FillGroup<path, Descriptor>, FillColl<V4, path>, FillP2p<V4, path>,
                 FillProxyOp<path, Descriptor>, FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>,
                 FillKernelCh<path, Descriptor>, FillNetPlugin<path, Descriptor>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
  static constexpr bool kHasParentGroup = false;
  static constexpr bool kHasUserTags = false;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v4::Descriptor* descriptor) {
  return StartWith<V4>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
