// Decoder of NCCL 2.31 (v7): as v6, and user tags, the kernel that a collective runs, and the phases of kernels.

#include "nccl/profiler_v7.h"
#include "plugin/abi/starts.h"

namespace nccl_trace::abi {
namespace {

struct V7 {
  using Descriptor = nccl_abi::v7::Descriptor;

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeColl(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.ceColl;
    return StartCeColl<path>(p, start,
                             {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.syncStrategy, Flag(c.intraBatchSync),
                              c.root, c.ceSeqNum, c.batchSize, c.numBatches, Number(c.stream), Number(c.sendBuff),
                              Number(c.recvBuff), recorder.hot.has_user_tags ? c.userTag : 0});
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeSync(Producer& p, Start start, const Descriptor& d) {
    return StartCeSync<path>(p, start, Flag(d.ceCollSync.isComplete), d.ceCollSync.nRanks);
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeBatch(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.ceCollBatch;
    return StartCeBatch<path>(p, start, c.numOps, c.totalBytes, Flag(c.useIntraSync));
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillKernelPhase(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.kernelPhase;
    return StartKernelPhase<path>(p, start, c.channelId, c.phaseId, c.phaseName, c.pTimer);
  }

  template <Path path>
  using Starts =
      StartTable<V7, path, FillGroup<path, Descriptor>, FillColl<V7, path>, FillP2p<V7, path>,
                 FillProxyOp<path, Descriptor>, FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>,
                 FillKernelCh<path, Descriptor>, FillNetPlugin<path, Descriptor>, FillGroupApi<path, Descriptor>,
                 FillCollApi<V7, path>, FillP2pApi<V7, path>, FillKernelLaunch<path, Descriptor>, FillCeColl<path>,
                 FillCeSync<path>, FillCeBatch<path>, FillKernelPhase<path>>;
  /** A thread of its own watches the kernels. It needs no large rings. */
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents & ~uint64_t{nccl_abi::kKernelCh};
  static constexpr bool kHasParentGroup = true;
  static constexpr bool kHasUserTags = true;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v7::Descriptor* descriptor) {
  return StartWith<V7>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
