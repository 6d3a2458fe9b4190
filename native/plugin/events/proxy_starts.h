// Starts of events of the progress threads: operations, steps, the network plugin's work, kernels. Each returns the
// event's handle (events.h). `fields`: as in host_starts.h.

#pragma once

#include "plugin/events/events.h"
#include "plugin/record/folds.h"

namespace nccl_trace {

struct ProxyOpStart {
  int32_t rank, pid;
  uint8_t channel;
  int32_t peer, steps, chunk_size;
  bool is_send;
};

/** All but `id` are 0 if the plugin is not known or reports nothing more. */
struct NetStart {
  uint64_t id, length, request;
  int32_t device, opcode, queue_pair;
  uint8_t type;
  int32_t socket, direction;
};

template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t WriteProxyOp(Ring& ring, Start start, uint32_t comm, Ordinal ordinal,
                                                    const Fields& fields) {
  if (path == Path::kSlow && ordinal.flags != 0) Count<path>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<path>();
  const uint32_t parts = path == Path::kSlow && comm == rank_file::kCommForeign ? 3 : 2;
  const uint64_t position = Prepare<path>(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartProxyOp;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().peer)));
  Put(ring, kKind, position, 1, parts, Pack32(ordinal.value, static_cast<uint32_t>(fields().steps)),
      Word(fields().chunk_size, fields().pid),
      fields().channel | uint64_t{fields().is_send} << 8 | uint64_t{ordinal.flags} << 16 |
          uint64_t{static_cast<uint32_t>(fields().rank)} << 32);
  if (parts == 3) Put(ring, kKind, position, 2, parts, start.context, 0, 0);
  Commit<path>(ring, position, parts);
  return ring.HandleAt(position);
}

/** The fast path needs a communicator of ours and a known connection. */
template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t StartProxyOp(Producer& producer, Start start, const Fields& fields) {
  const uint32_t channel = fields().channel;
  const uint32_t peer = static_cast<uint32_t>(fields().peer);
  ConnectionOrdinals::Entry* connection;
  if constexpr (path == Path::kFast) {
    if (Unlikely(!IsOurContext(start.context))) return kNotFast;
    connection = producer.connections.Find(start.context, channel, peer, fields().is_send);
    if (Unlikely(connection == nullptr)) return kNotFast;
  } else {
    connection = producer.connections.Of(start.context, channel, peer, fields().is_send);
  }
  const uint32_t comm = path == Path::kFast ? NumberOf(start.context) : CommOf(start.context);
  const Ordinal ordinal = connection != nullptr ? Ordinal{connection->next, 0} : kNoOrdinal;
  const uint64_t handle =
      IsMuted(start.parent) ? Mute<path>(producer) : WriteProxyOp<path>(*producer.rest, start, comm, ordinal, fields);
  // Also while muted. Stored last, because a store right after its address was computed costs 4 ns.
  if (connection != nullptr) connection->next = ordinal.value + 1;
  return handle;
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartProxyStep(Producer& producer, Start start, int32_t step) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  Ring& ring = *producer.steps;
  const uint32_t number = static_cast<uint32_t>(step);
  LastStarts::Entry* last = nullptr;
  // Steps without an operation all look alike, so repeats cannot be found.
  if (start.parent != 0) {
    if constexpr (path == Path::kFast) {
      last = producer.last_starts->Find(start.parent);
      if (Unlikely(last == nullptr)) return kNotFast;
    } else if (producer.last_starts != nullptr) {
      last = &producer.last_starts->Of(start.parent);
    }
  }
  const uint64_t tick = Tick<path>();
  if (last != nullptr && Unlikely(last->handle != 0 && last->step == number)) {
    if constexpr (path == Path::kFast) {
      if (!FoldNextRepeat(ring, last->handle, rank_file::kFoldStateStart, tick)) return kNotFast;
    } else {
      FoldKnownRepeat(ring, last->handle, rank_file::kFoldStateStart, tick);
    }
    return last->handle;
  }
  const uint64_t position =
      Append<path>(ring, rank_file::kStartProxyStep, tick, start.parent, Pack32(CommOf(start.context), number));
  const uint64_t handle = ring.HandleAt(position);
  if (last != nullptr) {
    last->step = number;
    last->handle = handle;
  }
  return handle;
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartProxyCtrl(Producer& producer, Start start) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  CtrlEdges& edges = producer.ctrl;
  const uint64_t tick = Tick<path>();
  const uint64_t comm_word = CommOf(start.context);
  if (path == Path::kFast || !producer.shared()) {
    if (edges.given != 0) {
      if constexpr (path == Path::kFast) return kNotFast;
      LeaveOpenStart(edges, ring, tick);
    }
    const uint64_t lent = edges.Lend(tick, recorder.hot.edge_ticks, start.parent, comm_word);
    if (lent != 0) return lent;
    if (edges.newest_anchor != 0) {
      if constexpr (path == Path::kFast) return kNotFast;
      EndBurst(edges, ring, tick);
    }
  }
  return ring.HandleAt(Append<path>(ring, rank_file::kStartProxyCtrl, tick, start.parent, comm_word));
}

template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t StartNetPlugin(Producer& producer, Start start, const Fields& fields) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<path>();
  const uint64_t position = Prepare<path>(ring, 3);
  const NetStart net = fields();
  constexpr rank_file::Kind kKind = rank_file::kStartNetPlugin;
  Put(ring, kKind, position, 0, 3, tick, start.parent, CommOf(start.context));
  Put(ring, kKind, position, 1, 3, net.id, net.length, net.request);
  Put(ring, kKind, position, 2, 3, Word(net.device, net.opcode),
      Pack32(static_cast<uint32_t>(net.queue_pair), net.type), Word(net.socket, net.direction));
  Commit<path>(ring, position, 3);
  return ring.HandleAt(position);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartKernelCh(Producer& producer, Start start, uint8_t channel,
                                                     uint64_t gpu_timer) {
  return StartWithWord<path>(producer, rank_file::kStartKernelCh, start, channel, gpu_timer);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartKernelPhase(Producer& producer, Start start, uint8_t channel, uint8_t phase,
                                                        const char* name, uint64_t gpu_timer) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  StringRef phase_name;
  if (!Intern<path>(name, phase_name)) return kNotFast;
  return StartWithWord<path>(producer, rank_file::kStartKernelPhase, start, channel | uint32_t{phase} << 8, gpu_timer,
                             phase_name.id);
}

}  // namespace nccl_trace
