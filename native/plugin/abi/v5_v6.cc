// Decoder of NCCL 2.28 (v5) and 2.29 (v6): the two agree on every field that both have, and v5 has no copy engine.

#include <stddef.h>

#include "plugin/abi/starts.h"

namespace nccl_trace::abi {
namespace {

// v6's members for the copy engine, as they lie in Descriptor::bytes.

struct CeColl {
  uint64_t seqNumber;
  const char* func;
  const void* sendBuff;
  void* recvBuff;
  size_t count;
  int32_t root;
  const char* datatype;
  const char* syncStrategy;
  uint8_t intraBatchSync;
  uint32_t batchSize;
  uint32_t numBatches;
  uint32_t ceSeqNum;
  void* stream;
};
static_assert(sizeof(CeColl) == sizeof(nccl_abi::Descriptor::bytes), "ABI");
static_assert(offsetof(CeColl, count) == 56 - 24 && offsetof(CeColl, root) == 64 - 24, "ABI");
static_assert(offsetof(CeColl, datatype) == 72 - 24 && offsetof(CeColl, syncStrategy) == 80 - 24, "ABI");
static_assert(offsetof(CeColl, intraBatchSync) == 88 - 24 && offsetof(CeColl, batchSize) == 92 - 24, "ABI");
static_assert(offsetof(CeColl, ceSeqNum) == 100 - 24 && offsetof(CeColl, stream) == 104 - 24, "ABI");

struct CeSync {
  uint8_t isComplete;
  int32_t nRanks;
};
static_assert(offsetof(CeSync, nRanks) == 28 - 24, "ABI");

struct CeBatch {
  int32_t numOps;
  size_t totalBytes;
  uint8_t useIntraSync;
};
static_assert(offsetof(CeBatch, totalBytes) == 32 - 24 && offsetof(CeBatch, useIntraSync) == 40 - 24, "ABI");

template <typename Member>
Member MemberOf(const nccl_abi::Descriptor& d) {
  Member member;
  __builtin_memcpy(&member, d.bytes, sizeof(member));
  return member;
}

struct V5AndV6 {
  using Descriptor = nccl_abi::Descriptor;

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeColl(Producer& p, Start start, const Descriptor& d) {
    const CeColl c = MemberOf<CeColl>(d);
    return StartCeColl<path>(
        p, start,
        {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.syncStrategy, c.intraBatchSync != 0, c.root, c.ceSeqNum,
         c.batchSize, c.numBatches, Number(c.stream), Number(c.sendBuff), Number(c.recvBuff), 0});
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeSync(Producer& p, Start start, const Descriptor& d) {
    const CeSync c = MemberOf<CeSync>(d);
    return StartCeSync<path>(p, start, c.isComplete != 0, c.nRanks);
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillCeBatch(Producer& p, Start start, const Descriptor& d) {
    const CeBatch c = MemberOf<CeBatch>(d);
    return StartCeBatch<path>(p, start, c.numOps, c.totalBytes, c.useIntraSync != 0);
  }

  template <Path path>
  using Starts =
      StartTable<V5AndV6, path, FillGroup<path, Descriptor>, FillColl<V5AndV6, path>, FillP2p<V5AndV6, path>,
                 FillProxyOp<path, Descriptor>, FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>,
                 FillKernelCh<path, Descriptor>, FillNetPlugin<path, Descriptor>, FillGroupApi<path, Descriptor>,
                 FillCollApi<V5AndV6, path>, FillP2pApi<V5AndV6, path>, FillKernelLaunch<path, Descriptor>,
                 FillCeColl<path>, FillCeSync<path>, FillCeBatch<path>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
  static constexpr bool kHasParentGroup = true;
  static constexpr bool kHasUserTags = false;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::Descriptor* descriptor) {
  return StartWith<V5AndV6>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
