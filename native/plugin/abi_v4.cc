// Decoder of NCCL 2.27 (v4): the first that tells the communicator at init. Nothing of the API, no second parent: the
// parent of collectives and p2ps is their Group.

#include "nccl/profiler_v4.h"
#include "plugin/abi_starts.h"

namespace nccl_trace::abi {
namespace {

struct V4 {
  using Descriptor = nccl_abi::v4::Descriptor;

  static uint64_t FillColl(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.coll;
    return StartColl(p, start,
                     {d.rank, c.seqNumber, c.count, c.func, c.datatype, c.algo, c.proto, 0, c.root, c.nChannels,
                      c.nWarps, Number(c.sendBuff), Number(c.recvBuff), 0});
  }

  /** nChannels is garbage when a later NCCL speaks v4 for somebody who exports nothing newer; we do. */
  static uint64_t FillP2p(Producer& p, const Start& start, const Descriptor& d) {
    const auto& c = d.p2p;
    return StartP2p(p, start, {d.rank, Number(c.buff), c.count, c.func, c.datatype, c.nChannels, 0, c.peer, 0});
  }

  static constexpr Fill<Descriptor> kFill[] = {
      FillGroup, FillColl, FillP2p, FillProxyOp, FillProxyStep, FillProxyCtrl, FillKernelCh, FillNetPlugin,
  };
  static constexpr uint64_t kProxyEvents = abi::kProxyEvents;
};

}  // namespace

template <>
nccl_abi::Result StartEvent(void* context, void** handle, nccl_abi::v4::Descriptor* descriptor) {
  return StartWith<V4>(context, handle, descriptor);
}

}  // namespace nccl_trace::abi
