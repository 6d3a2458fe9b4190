// Decoder of NCCL 2.31 (v7): v6, the user's tags, what kernel a collective runs, and the phases of kernels.

#include "nccl/profiler_v7.h"
#include "plugin/abi_starts.h"

namespace nccl_trace::abi {
namespace {

struct V7 {
  using Descriptor = nccl_abi::v7::Descriptor;

  static uint64_t FillColl(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.coll;
    return StartColl(
        p, start,
        {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.algo, c.proto, Number(c.parentGroup), c.root, c.nChannels,
         c.nWarps, Number(c.sendBuff), Number(c.recvBuff), c.userTag, c.kernelVariant, Flag(c.isSymColl)});
  }

  static uint64_t FillP2p(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.p2p;
    return StartP2p(
        p, start,
        {d.rank, Number(c.buff), c.count, c.func, c.datatype, c.nChannels, Number(c.parentGroup), c.peer, c.userTag});
  }

  static uint64_t FillCollApi(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.collApi;
    return StartApi(p, rank_file::kStartCollApi, start,
                    {c.count, c.func, c.datatype, Number(c.stream), c.root, Flag(c.graphCaptured)}, c.userTag);
  }

  static uint64_t FillP2pApi(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.p2pApi;
    return StartApi(p, rank_file::kStartP2pApi, start,
                    {c.count, c.func, c.datatype, Number(c.stream), -1, Flag(c.graphCaptured)}, c.userTag);
  }

  static uint64_t FillCeColl(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.ceColl;
    return StartCeColl(
        p, start,
        {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.syncStrategy, Flag(c.intraBatchSync), c.root, c.ceSeqNum,
         c.batchSize, c.numBatches, Number(c.stream), Number(c.sendBuff), Number(c.recvBuff), c.userTag});
  }

  static uint64_t FillCeSync(Producer& p, const Start& start, const Descriptor& d) {
    return StartCeSync(p, start, Flag(d.ceCollSync.isComplete), d.ceCollSync.nRanks);
  }

  static uint64_t FillCeBatch(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.ceCollBatch;
    return StartCeBatch(p, start, c.numOps, c.totalBytes, Flag(c.useIntraSync));
  }

  static uint64_t FillKernelPhase(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.kernelPhase;
    return StartKernelPhase(p, start, c.channelId, c.phaseId, c.phaseName, c.pTimer);
  }

  static constexpr Fill<Descriptor> kFill[] = {
      FillGroup,    FillColl,      FillP2p,      FillProxyOp,     FillProxyStep, FillProxyCtrl,
      FillKernelCh, FillNetPlugin, FillGroupApi, FillCollApi,     FillP2pApi,    FillKernelLaunch,
      FillCeColl,   FillCeSync,    FillCeBatch,  FillKernelPhase,
  };
  /** Kernels are watched by a thread of their own, which needs no large rings. */
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents & ~uint64_t{nccl_abi::kKernelCh};
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v7::Descriptor* descriptor) {
  return StartWith<V7>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
