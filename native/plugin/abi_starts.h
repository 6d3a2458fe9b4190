// How an event's start is read. A version says where its fields lie with a decoder, a struct of
//
//   kFill          one function per event type, by the number of its bit
//   kProxyEvents   the types whose first callback shows the progress thread, which gets the large rings
//
// and gives it to StartWith, which makes one function of it all. Included by abi_v*.cc alone.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_ABI_STARTS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_ABI_STARTS_H_

#include <stddef.h>

#include "nccl/net_events.h"
#include "plugin/abi_callbacks.h"
#include "plugin/events.h"

namespace nccl_trace::abi {

inline uint64_t Number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/** Whatever byte is there: one that is neither 0 nor 1 must not spread into the neighbouring fields. */
inline bool Flag(const bool& flag) { return *reinterpret_cast<const uint8_t*>(&flag) != 0; }

// ---------------------------------------------------------------------------------------------------------------------
// One function per event type: the descriptor's fields, no more. Inactive bytes are garbage and stay unread. Here are
// the types that are alike in all versions, or in those that have them.

template <typename Descriptor>
using Fill = uint64_t (*)(Producer&, const Start&, const Descriptor&);

template <typename Descriptor>
uint64_t FillGroup(Producer& p, const Start& start, const Descriptor&) {
  return StartGroup(p, start);
}

template <typename Descriptor>
uint64_t FillProxyOp(Producer& p, const Start& start, const Descriptor& d) {
  const auto& c = d.proxyOp;
  return StartProxyOp(p, start, {d.rank, c.pid, c.channelId, c.peer, c.nSteps, c.chunkSize, c.isSend != 0});
}

template <typename Descriptor>
uint64_t FillProxyStep(Producer& p, const Start& start, const Descriptor& d) {
  return StartProxyStep(p, start, d.proxyStep.step);
}

template <typename Descriptor>
uint64_t FillProxyCtrl(Producer& p, const Start& start, const Descriptor&) {
  return StartProxyCtrl(p, start);
}

template <typename Descriptor>
uint64_t FillKernelCh(Producer& p, const Start& start, const Descriptor& d) {
  return StartKernelCh(p, start, d.kernelCh.channelId, d.kernelCh.pTimer);
}

template <typename Descriptor>
uint64_t FillGroupApi(Producer& p, const Start& start, const Descriptor& d) {
  return StartGroupApi(p, start, Flag(d.groupApi.graphCaptured), d.groupApi.groupDepth);
}

template <typename Descriptor>
uint64_t FillKernelLaunch(Producer& p, const Start& start, const Descriptor& d) {
  return StartKernelLaunch(p, start, Number(d.kernelLaunch.stream));
}

/** Of a plugin that we do not know, the id alone: what its data points to may be anything. */
template <typename Descriptor>
uint64_t FillNetPlugin(Producer& p, const Start& start, const Descriptor& d) {
  NetStart net = {};
  net.id = static_cast<uint64_t>(d.netPlugin.id);
  const void* data = d.netPlugin.data;
  if (data != nullptr && d.netPlugin.id == nccl_abi::kNetIdIbV1) {
    nccl_abi::NetIbV1 ib;
    __builtin_memcpy(&ib, data, sizeof(ib));
    net.type = ib.type;
    net.length = ib.length;
    net.request = ib.wr_id;
    net.device = ib.device;
    net.opcode = ib.opcode;
    net.queue_pair = ib.qpNum;
  } else if (data != nullptr && d.netPlugin.id == nccl_abi::kNetIdSocketV1) {
    nccl_abi::NetSocketV1 socket;
    __builtin_memcpy(&socket, data, sizeof(socket));
    net.type = socket.type;
    net.length = socket.length;
    net.socket = socket.fd;
    net.direction = socket.op;
  }
  return StartNetPlugin(p, start, net);
}

template <typename Descriptor>
uint64_t FillUnknown(Producer& p, const Start& start, const Descriptor& d) {
  return StartUnknown(p, start, d.rank, d.type);
}

// ---------------------------------------------------------------------------------------------------------------------

template <typename Decoder, typename Descriptor>
[[gnu::always_inline]] inline Fill<Descriptor> FillOf(uint64_t type) {
  constexpr uint32_t kKnownTypes = sizeof(Decoder::kFill) / sizeof(Decoder::kFill[0]);
  const uint32_t bit = static_cast<uint32_t>(__builtin_ctzll(type | uint64_t{1} << 63));
  if (Unlikely(bit >= kKnownTypes || (type & (type - 1)) != 0)) return FillUnknown<Descriptor>;
  return Decoder::kFill[bit];
}

template <typename Decoder, typename Descriptor>
[[gnu::always_inline]] inline nccl_abi::Result StartWith(void* context, void** handle, Descriptor* descriptor) {
  Producer* producer = current_producer;
  if (Unlikely(producer == nullptr)) {
    producer = recorder.Attach((descriptor->type & Decoder::kProxyEvents) != 0);
    if (producer == nullptr) {
      // Never NULL: NCCL's own counters for captured graphs depend on it.
      *handle = reinterpret_cast<void*>(MutedHandle());
      return nccl_abi::kSuccess;
    }
  }
  const Start start = {Number(context), Number(descriptor->parentObj)};
  *handle = reinterpret_cast<void*>(FillOf<Decoder, Descriptor>(descriptor->type)(*producer, start, *descriptor));
  return nccl_abi::kSuccess;
}

/** Before NCCL 2.31 the progress thread watches the kernels, too. */
constexpr uint64_t kProxyEvents =
    nccl_abi::kProxyOp | nccl_abi::kProxyStep | nccl_abi::kProxyCtrl | nccl_abi::kKernelCh;

}  // namespace nccl_trace::abi

#endif  // NCCL_TRACE_NATIVE_PLUGIN_ABI_STARTS_H_
