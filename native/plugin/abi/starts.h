// Reads an event's start. Each version has a decoder that says where its fields lie. A decoder is a struct with
//
//   Starts<path>   one function per event type, by the number of the type's bit
//   kProxyEvents   types whose first callback identifies a progress thread, which gets the large rings
//   kHasParentGroup, kHasUserTags   since v4: what its collectives, p2ps and calls have beyond those of v4
//
// StartWith makes one function of a decoder. Only v*.cc include this file.

#pragma once

#include <stddef.h>

#include "nccl/net_events.h"
#include "plugin/abi/callbacks.h"
#include "plugin/events/host_starts.h"
#include "plugin/events/proxy_starts.h"

namespace nccl_trace::abi {

/** Reads any byte as a flag. A byte that is neither 0 nor 1 must not spread into the neighbouring fields. */
inline bool Flag(const bool& flag) { return *reinterpret_cast<const uint8_t*>(&flag) != 0; }

// ---------------------------------------------------------------------------------------------------------------------
// One function per event type reads the descriptor's fields of that type. All other bytes are garbage and stay unread.
// These types are alike in all versions that have them.

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillGroup(Producer& p, Start start, const Descriptor&) {
  return StartGroup<path>(p, start);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillProxyOp(Producer& p, Start start, const Descriptor& d) {
  return StartProxyOp<path>(
      p, start, [&]() __attribute__((always_inline)) {
        const auto& c = d.proxyOp;
        return ProxyOpStart{d.rank, c.pid, c.channelId, c.peer, c.nSteps, c.chunkSize, c.isSend != 0};
      });
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillProxyStep(Producer& p, Start start, const Descriptor& d) {
  return StartProxyStep<path>(p, start, d.proxyStep.step);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillProxyCtrl(Producer& p, Start start, const Descriptor&) {
  return StartProxyCtrl<path>(p, start);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillKernelCh(Producer& p, Start start, const Descriptor& d) {
  return StartKernelCh<path>(p, start, d.kernelCh.channelId, d.kernelCh.pTimer);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillGroupApi(Producer& p, Start start, const Descriptor& d) {
  return StartGroupApi<path>(p, start, Flag(d.groupApi.graphCaptured), d.groupApi.groupDepth);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillKernelLaunch(Producer& p, Start start, const Descriptor& d) {
  return StartKernelLaunch<path>(p, start, Number(d.kernelLaunch.stream));
}

/** One member of the struct at `data`, which may be unaligned. A copy of the whole struct would go through memory. */
template <typename Struct, typename Member>
[[gnu::always_inline]] inline Member MemberAt(const void* data, Member Struct::*member) {
  Member value;
  __builtin_memcpy(&value, &(static_cast<const Struct*>(data)->*member), sizeof(value));
  return value;
}

/** Reads only the id if the plugin is not known, because its data may point to anything. */
[[gnu::always_inline]] inline NetStart NetFields(int64_t id, const void* data) {
  NetStart net = {};
  net.id = static_cast<uint64_t>(id);
  if (data != nullptr && id == nccl_abi::kNetIdIbV1) {
    using Ib = nccl_abi::NetIbV1;
    net.type = MemberAt(data, &Ib::type);
    net.length = MemberAt(data, &Ib::length);
    net.request = MemberAt(data, &Ib::wr_id);
    net.device = MemberAt(data, &Ib::device);
    net.opcode = MemberAt(data, &Ib::opcode);
    net.queue_pair = MemberAt(data, &Ib::qpNum);
  } else if (data != nullptr && id == nccl_abi::kNetIdSocketV1) {
    using Socket = nccl_abi::NetSocketV1;
    net.type = MemberAt(data, &Socket::type);
    net.length = MemberAt(data, &Socket::length);
    net.socket = MemberAt(data, &Socket::fd);
    net.direction = MemberAt(data, &Socket::op);
  }
  return net;
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillNetPlugin(Producer& p, Start start, const Descriptor& d) {
  return StartNetPlugin<path>(
      p, start, [&]() __attribute__((always_inline)) { return NetFields(d.netPlugin.id, d.netPlugin.data); });
}

// Collectives, p2ps and calls since v4. If a version lacks an argument, the compiler sees a constant.

template <typename Decoder, Path path>
[[gnu::always_inline]] inline uint64_t FillColl(Producer& p, Start start, const typename Decoder::Descriptor& d) {
  return StartColl<path>(
      p, start, [&]() __attribute__((always_inline)) {
        const auto& c = d.coll;
        CollStart coll = {d.rank,
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
        if constexpr (Decoder::kHasParentGroup) coll.parent_group = Number(c.parentGroup);
        if constexpr (Decoder::kHasUserTags) {
          if (recorder.hot.has_user_tags) coll.user_tag = c.userTag;
          coll.kernel_variant = c.kernelVariant;
          coll.is_symmetric = Flag(c.isSymColl);
        }
        return coll;
      });
}

/** nChannels is garbage if a later NCCL speaks v4 to a plugin that exports nothing newer. We export all versions. */
template <typename Decoder, Path path>
[[gnu::always_inline]] inline uint64_t FillP2p(Producer& p, Start start, const typename Decoder::Descriptor& d) {
  return StartP2p<path>(
      p, start, [&]() __attribute__((always_inline)) {
        const auto& c = d.p2p;
        P2pStart p2p = {d.rank, Number(c.buff), c.count, c.func, c.datatype, c.nChannels, 0, c.peer, 0};
        if constexpr (Decoder::kHasParentGroup) p2p.parent_group = Number(c.parentGroup);
        if constexpr (Decoder::kHasUserTags) {
          if (recorder.hot.has_user_tags) p2p.user_tag = c.userTag;
        }
        return p2p;
      });
}

/** A CollApi or P2pApi. `root` by reference: it is read when its slot is written. */
template <typename Decoder, Path path, typename Call>
[[gnu::always_inline]] inline uint64_t FillApi(Producer& p, rank_file::Kind kind, Start start, const Call& c,
                                               const int32_t& root) {
  return StartApi<path>(
      p, kind, start, [&]() __attribute__((always_inline)) {
        ApiStart api = {c.count, c.func, c.datatype, Number(c.stream), root, Flag(c.graphCaptured)};
        if constexpr (Decoder::kHasUserTags) {
          if (recorder.hot.has_user_tags) api.user_tag = c.userTag;
        }
        return api;
      });
}

template <typename Decoder, Path path>
[[gnu::always_inline]] inline uint64_t FillCollApi(Producer& p, Start start, const typename Decoder::Descriptor& d) {
  return FillApi<Decoder, path>(p, rank_file::kStartCollApi, start, d.collApi, d.collApi.root);
}

template <typename Decoder, Path path>
[[gnu::always_inline]] inline uint64_t FillP2pApi(Producer& p, Start start, const typename Decoder::Descriptor& d) {
  return FillApi<Decoder, path>(p, rank_file::kStartP2pApi, start, d.p2pApi, -1);
}

template <Path path, typename Descriptor>
[[gnu::always_inline]] inline uint64_t FillUnknown(Producer& p, Start start, const Descriptor& d) {
  return StartUnknown<path>(p, start, d.rank, d.type);
}

// ---------------------------------------------------------------------------------------------------------------------

template <typename Decoder>
[[gnu::noinline]] nccl_abi::Result StartSlowly(void* context, void** handle, typename Decoder::Descriptor* descriptor);

/** Takes its arguments in the registers in which StartWith has them, so that StartWith can jump here. */
template <typename Descriptor>
using StartFunction = nccl_abi::Result (*)(Producer&, Start, Descriptor&, void** handle);

template <typename Decoder, Path path, auto fill>
nccl_abi::Result StartBy(Producer& producer, Start start, typename Decoder::Descriptor& descriptor, void** handle) {
  const uint64_t made = fill(producer, start, descriptor);
  if (path == Path::kFast && Unlikely(made == kNotFast)) {
    return StartSlowly<Decoder>(reinterpret_cast<void*>(start.context), handle, &descriptor);
  }
  *handle = reinterpret_cast<void*>(made);
  return nccl_abi::kSuccess;
}

/** `fills`: one function per type, by the number of the type's bit. */
template <typename Decoder, Path path, auto... fills>
struct StartTable {
  using Descriptor = typename Decoder::Descriptor;
  static constexpr uint32_t kKnownTypes = sizeof...(fills);
  static constexpr StartFunction<Descriptor> kFunctions[] = {StartBy<Decoder, path, fills>...};
  static constexpr StartFunction<Descriptor> kUnknown = StartBy<Decoder, path, FillUnknown<path, Descriptor>>;
};

template <typename Table>
[[gnu::always_inline]] inline auto StartFunctionOf(uint64_t type) {
  const uint32_t bit = static_cast<uint32_t>(__builtin_ctzll(type | uint64_t{1} << 63));
  if (Unlikely(bit >= Table::kKnownTypes || (type & (type - 1)) != 0)) return Table::kUnknown;
  return Table::kFunctions[bit];
}

template <typename Decoder, Path path>
[[gnu::always_inline]] inline nccl_abi::Result StartWith(Producer& producer, void* context, void** handle,
                                                         typename Decoder::Descriptor& descriptor) {
  const auto start = StartFunctionOf<typename Decoder::template Starts<path>>(descriptor.type);
  return start(producer, {Number(context), Number(descriptor.parentObj)}, descriptor, handle);
}

template <typename Decoder>
nccl_abi::Result StartSlowly(void* context, void** handle, typename Decoder::Descriptor* descriptor) {
  Producer* producer = recorder.ProducerOfThread((descriptor->type & Decoder::kProxyEvents) != 0);
  if (producer == nullptr) {
    // Not NULL, because NCCL's own counters for captured graphs depend on it.
    *handle = reinterpret_cast<void*>(MutedHandle());
    return nccl_abi::kSuccess;
  }
  return StartWith<Decoder, Path::kSlow>(*producer, context, handle, *descriptor);
}

template <typename Decoder>
[[gnu::always_inline]] inline nccl_abi::Result StartWith(void* context, void** handle,
                                                         typename Decoder::Descriptor* descriptor) {
  Producer* producer = current_producer.fast();
  if (Unlikely(producer == nullptr)) return StartSlowly<Decoder>(context, handle, descriptor);
  return StartWith<Decoder, Path::kFast>(*producer, context, handle, *descriptor);
}

/** Until NCCL 2.30 the progress thread also watches the kernels. */
constexpr uint64_t kProxyEvents =
    nccl_abi::kProxyOp | nccl_abi::kProxyStep | nccl_abi::kProxyCtrl | nccl_abi::kKernelCh;

}  // namespace nccl_trace::abi
