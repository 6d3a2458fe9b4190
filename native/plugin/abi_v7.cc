// Decoder of NCCL 2.31 (v7): v6, the user's tags, what kernel a collective runs, and the phases of kernels.

#include "nccl/profiler_v7.h"
#include "plugin/abi_starts.h"

namespace nccl_trace::abi {
namespace {

struct V7 {
  using Descriptor = nccl_abi::v7::Descriptor;

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeColl(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.ceColl;
    return StartCeColl<way>(
        p, start,
        {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.syncStrategy, Flag(c.intraBatchSync), c.root, c.ceSeqNum,
         c.batchSize, c.numBatches, Number(c.stream), Number(c.sendBuff), Number(c.recvBuff), c.userTag});
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeSync(Producer& p, Start start, const Descriptor& d) {
    return StartCeSync<way>(p, start, Flag(d.ceCollSync.isComplete), d.ceCollSync.nRanks);
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeBatch(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.ceCollBatch;
    return StartCeBatch<way>(p, start, c.numOps, c.totalBytes, Flag(c.useIntraSync));
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillKernelPhase(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.kernelPhase;
    return StartKernelPhase<way>(p, start, c.channelId, c.phaseId, c.phaseName, c.pTimer);
  }

  template <Way way>
  using Starts =
      StartTable<V7, way, FillGroup<way, Descriptor>, FillColl<V7, way>, FillP2p<V7, way>, FillProxyOp<way, Descriptor>,
                 FillProxyStep<way, Descriptor>, FillProxyCtrl<way, Descriptor>, FillKernelCh<way, Descriptor>,
                 FillNetPlugin<way, Descriptor>, FillGroupApi<way, Descriptor>, FillCollApi<V7, way>,
                 FillP2pApi<V7, way>, FillKernelLaunch<way, Descriptor>, FillCeColl<way>, FillCeSync<way>,
                 FillCeBatch<way>, FillKernelPhase<way>>;
  /** Kernels are watched by a thread of their own, which needs no large rings. */
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
