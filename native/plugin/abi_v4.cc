// Decoder of NCCL 2.27 (v4): the first that tells the communicator at init. Nothing of the API, no second parent: the
// parent of collectives and p2ps is their Group.

#include "nccl/profiler_v4.h"
#include "plugin/abi_starts.h"

namespace nccl_trace::abi {
namespace {

struct V4 {
  using Descriptor = nccl_abi::v4::Descriptor;

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
                           0,
                           c.root,
                           c.nChannels,
                           c.nWarps,
                           Number(c.sendBuff),
                           Number(c.recvBuff),
                           0};
        });
  }

  /** nChannels is garbage when a later NCCL speaks v4 for somebody who exports nothing newer; we do. */
  template <Way way>
  [[gnu::always_inline]] static uint64_t FillP2p(Producer& p, Start start, const Descriptor& d) {
    const auto& c = d.p2p;
    return StartP2p<way>(
        p, start, [&]() __attribute__((always_inline)) {
          return P2pStart{d.rank, Number(c.buff), c.count, c.func, c.datatype, c.nChannels, 0, c.peer, 0};
        });
  }

  template <Way way>
  using Starts =
      StartTable<V4, way, FillGroup<way, Descriptor>, FillColl<way>, FillP2p<way>, FillProxyOp<way, Descriptor>,
                 FillProxyStep<way, Descriptor>, FillProxyCtrl<way, Descriptor>, FillKernelCh<way, Descriptor>,
                 FillNetPlugin<way, Descriptor>>;
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v4::Descriptor* descriptor) {
  return StartWith<V4>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
