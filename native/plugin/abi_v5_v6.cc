// Decoder of NCCL 2.28 (v5) and 2.29 (v6): the two agree on every field that both have, and v5 has no copy engine.

#include <stddef.h>

#include "plugin/abi_starts.h"

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

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillColl(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.coll;
    return StartColl<way>(
        p, start, [&]() __attribute__((always_inline)) {
          return CollStart{d.rank,
                           c.seqNumber,
                           c.count,
                           c.func,
                           c.datatype,
                           c.algo,
                           c.proto,
                           Number(c.parentGroup),
                           c.root,
                           c.nChannels,
                           c.nWarps,
                           Number(c.sendBuff),
                           Number(c.recvBuff),
                           0};
        });
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillP2p(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.p2p;
    return StartP2p<way>(
        p, start, [&]() __attribute__((always_inline)) {
          return P2pStart{d.rank,      Number(c.buff),        c.count, c.func, c.datatype,
                          c.nChannels, Number(c.parentGroup), c.peer,  0};
        });
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCollApi(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.collApi;
    return StartApi<way>(
        p, rank_file::kStartCollApi, start, [&]() __attribute__((always_inline)) {
          return ApiStart{c.count, c.func, c.datatype, Number(c.stream), c.root, Flag(c.graphCaptured)};
        });
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillP2pApi(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.p2pApi;
    return StartApi<way>(
        p, rank_file::kStartP2pApi, start, [&]() __attribute__((always_inline)) {
          return ApiStart{c.count, c.func, c.datatype, Number(c.stream), -1, Flag(c.graphCaptured)};
        });
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeColl(Producer& p, Start start, const Descriptor& d) {
    const CeColl c = MemberOf<CeColl>(d);
    return StartCeColl<way>(
        p, start,
        {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.syncStrategy, c.intraBatchSync != 0, c.root, c.ceSeqNum,
         c.batchSize, c.numBatches, Number(c.stream), Number(c.sendBuff), Number(c.recvBuff), 0});
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeSync(Producer& p, Start start, const Descriptor& d) {
    const CeSync c = MemberOf<CeSync>(d);
    return StartCeSync<way>(p, start, c.isComplete != 0, c.nRanks);
  }

  template <Way way>
  [[gnu::always_inline]] static uint64_t FillCeBatch(Producer& p, Start start, const Descriptor& d) {
    const CeBatch c = MemberOf<CeBatch>(d);
    return StartCeBatch<way>(p, start, c.numOps, c.totalBytes, c.useIntraSync != 0);
  }

  template <Way way>
  using Starts =
      StartTable<V5AndV6, way, FillGroup<way, Descriptor>, FillColl<way>, FillP2p<way>, FillProxyOp<way, Descriptor>,
                 FillProxyStep<way, Descriptor>, FillProxyCtrl<way, Descriptor>, FillKernelCh<way, Descriptor>,
                 FillNetPlugin<way, Descriptor>, FillGroupApi<way, Descriptor>, FillCollApi<way>, FillP2pApi<way>,
                 FillKernelLaunch<way, Descriptor>, FillCeColl<way>, FillCeSync<way>, FillCeBatch<way>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::Descriptor* descriptor) {
  return StartWith<V5AndV6>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
