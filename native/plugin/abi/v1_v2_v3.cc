// Decoders of NCCL 2.23 (v1), 2.24 and 2.25 (v2), and 2.26 (v3).
//
// Their init has no arguments: a communicator is opened as unknown, and its first collective or p2p has its hash, name
// and our rank. Its size is not known.
//
// Operations go through states 0 to 7, once per transfer. The size, one of their two arguments, is recorded.

#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "plugin/abi/starts.h"

namespace nccl_trace::abi {
namespace {

/** The texts for v1's codes. Later versions have texts themselves. */
template <uint32_t known>
const char* NameOf(const char* const (&names)[known], uint8_t code) {
  return code < known ? names[code] : "Unknown";
}

// Indexed by nccl_abi::v1::Func and so on. Entries after kRecv and kBfloat16 are newer than v1 and should not occur.
constexpr const char* kFuncNames[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv",
                                      "Send",      "Recv",   "AlltoAll",  "Scatter",       "Gather",    "AllGatherV"};
constexpr const char* kAlgoNames[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtoNames[] = {"LL", "LL128", "SIMPLE"};
constexpr const char* kDatatypeNames[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                          "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                          "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

/** Names the communicator by its first event. False, on the fast path only: it has no name yet. */
template <Path path, typename Event>
[[gnu::always_inline]] inline bool Introduce(Start start, int32_t rank, const Event& event) {
  const uint32_t number = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(number);
  if (Unlikely(communicator != nullptr && communicator->without_info.load(std::memory_order_relaxed))) {
    if constexpr (path == Path::kFast) return false;
    recorder.IntroduceCommunicator(number, event.commHash, event.name, rank);
  }
  return true;
}

template <Path path, typename Event>
[[gnu::always_inline]] inline uint64_t FillCollOf(Producer& p, Start start, int32_t rank, const Event& c,
                                                  const char* func, const char* datatype, const char* algo,
                                                  const char* proto) {
  if (!Introduce<path>(start, rank, c)) return kNotFast;
  return StartColl<path>(
      p, start, [&]() __attribute__((always_inline)) {
        return CollStart{rank,
                         c.seqNumber,
                         c.count,
                         func,
                         datatype,
                         algo,
                         proto,
                         0,
                         c.root,
                         c.nMaxChannels,
                         c.nWarps,
                         Number(c.sendBuff),
                         Number(c.recvBuff),
                         0};
      });
}

template <Path path, typename Event>
[[gnu::always_inline]] inline uint64_t FillP2pOf(Producer& p, Start start, int32_t rank, const Event& c,
                                                 const char* func, const char* datatype) {
  if (!Introduce<path>(start, rank, c)) return kNotFast;
  return StartP2p<path>(
      p, start, [&]() __attribute__((always_inline)) {
        return P2pStart{rank, Number(c.buff), c.count, func, datatype, 0, 0, c.peer, 0};
      });
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillNamedColl(Producer& p, Start start, const Descriptor& d) {
  const auto& c = d.coll;
  return FillCollOf<path>(p, start, d.rank, c, c.func, c.datatype, c.algo, c.proto);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillNamedP2p(Producer& p, Start start, const Descriptor& d) {
  return FillP2pOf<path>(p, start, d.rank, d.p2p, d.p2p.func, d.p2p.datatype);
}

struct V1 {
  using Descriptor = nccl_abi::v1::Descriptor;

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillColl(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.coll;
    return FillCollOf<path>(p, start, d.rank, c, NameOf(kFuncNames, c.func), NameOf(kDatatypeNames, c.datatype),
                            NameOf(kAlgoNames, c.algo), NameOf(kProtoNames, c.proto));
  }

  template <Path path>
  [[gnu::always_inline]] static uint64_t FillP2p(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.p2p;
    return FillP2pOf<path>(p, start, d.rank, c, NameOf(kFuncNames, c.func), NameOf(kDatatypeNames, c.datatype));
  }

  template <Path path>
  using Starts =
      StartTable<V1, path, FillGroup<path, Descriptor>, FillColl<path>, FillP2p<path>, FillProxyOp<path, Descriptor>,
                 FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

struct V2 {
  using Descriptor = nccl_abi::v2::Descriptor;

  template <Path path>
  using Starts =
      StartTable<V2, path, FillGroup<path, Descriptor>, FillNamedColl<path, Descriptor>, FillNamedP2p<path, Descriptor>,
                 FillProxyOp<path, Descriptor>, FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

struct V3 {
  using Descriptor = nccl_abi::v3::Descriptor;

  /** These versions have no GPU time: 0. */
  template <Path path>
  [[gnu::always_inline]] static uint64_t FillKernelCh(Producer& p, Start start, const Descriptor& d) {
    return StartKernelCh<path>(p, start, d.kernelCh.channelId, 0);
  }

  template <Path path>
  using Starts =
      StartTable<V3, path, FillGroup<path, Descriptor>, FillNamedColl<path, Descriptor>, FillNamedP2p<path, Descriptor>,
                 FillProxyOp<path, Descriptor>, FillProxyStep<path, Descriptor>, FillProxyCtrl<path, Descriptor>,
                 FillKernelCh<path>, FillNetPlugin<path, Descriptor>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v1::Descriptor* descriptor) {
  return StartWith<V1>(context, handle, descriptor);
}

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v2::Descriptor* descriptor) {
  return StartWith<V2>(context, handle, descriptor);
}

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v3::Descriptor* descriptor) {
  return StartWith<V3>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
