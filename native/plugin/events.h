// What a callback becomes: one record, as the Kind comments of format/rank_file.h say. Here the recorder speaks of
// starts, states and stops; where their fields lie in NCCL's structures is the decoders' business (abi_*.cc), so each
// ABI version is one more decoder and nothing here changes.
//
// All of it is inline: a decoder compiles into one function per callback, with one load of the thread-local pointer.
// Parents and handles are kept as they were given, all 64 bits, whoever made them.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_EVENTS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_EVENTS_H_

#include "plugin/folds.h"
#include "plugin/recorder.h"

namespace nccl_trace {

/** What all starts have. */
struct Start {
  uint64_t context;
  uint64_t parent;
};

struct CollStart {
  int32_t rank;
  uint64_t sequence, count;
  const char *func, *datatype, *algo, *proto;
  uint64_t parent_group;
  int32_t root;
  uint8_t channels, warps;
  uint64_t send_buffer, receive_buffer, user_tag;
  const char* kernel_variant = nullptr;
  bool is_symmetric = false;
};

struct P2pStart {
  int32_t rank;
  uint64_t buffer, count;
  const char *func, *datatype;
  uint8_t channels;
  uint64_t parent_group;
  int32_t peer;
  uint64_t user_tag;
};

struct ProxyOpStart {
  int32_t rank, pid;
  uint8_t channel;
  int32_t peer, steps, chunk_size;
  bool is_send;
};

struct ApiStart {
  uint64_t count;
  const char *func, *datatype;
  uint64_t stream;
  int32_t root;
  bool graph_captured;
};

/** All but `id` are 0 when it is a plugin's that we do not know, or when it told nothing more. */
struct NetStart {
  uint64_t id, length, request;
  int32_t device, opcode, queue_pair;
  uint8_t type;
  int32_t socket, direction;
};

struct CeCollStart {
  int32_t rank;
  uint64_t sequence, count;
  const char *func, *datatype, *sync_strategy;
  bool intra_batch_sync;
  int32_t root;
  uint32_t ce_sequence, batch_size, batches;
  uint64_t stream, send_buffer, receive_buffer, user_tag;
};

// ---------------------------------------------------------------------------------------------------------------------
// Handles and contexts

/** Sampled out, by this process or (PXN) by one that runs this recorder too. */
[[gnu::always_inline]] inline bool IsMuted(uint64_t handle) {
  constexpr uint64_t kOurs = rank_file::kHandleTagFixedBits | rank_file::kHandleMuted;
  return Unlikely((handle & kOurs) == kOurs);
}

/** Any number will do: nothing is looked up by it. */
inline uint64_t MutedHandle() { return recorder.hot.tag | rank_file::kHandleTagFixedBits | rank_file::kHandleMuted; }

inline uint64_t Mute(Producer& producer) {
  Count(*producer.rest, producer.rest->live->muted);
  return MutedHandle();
}

/** The `comm` field. A context is ours when all but its 32-bit number is as we made it; it is never dereferenced. */
[[gnu::always_inline]] inline uint32_t CommOf(uint64_t context) {
  constexpr uint64_t kNumber = uint64_t{0xFFFFFFFF} << rank_file::kHandlePositionShift;
  if (Unlikely((context & ~kNumber) != recorder.hot.context_prefix)) {
    return context == 0 ? rank_file::kCommNone : rank_file::kCommForeign;
  }
  return static_cast<uint32_t>(context >> rank_file::kHandlePositionShift);
}

inline uint64_t Word(int32_t low, int32_t high) {
  return Pack32(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
}

// ---------------------------------------------------------------------------------------------------------------------
// Starts. Each returns the event's handle.

/** One slot: tick, parent, comm and one more field. */
[[gnu::always_inline]] inline uint64_t StartSimple(Producer& producer, rank_file::Kind kind, const Start& start,
                                                   uint32_t field) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  return ring.HandleAt(Append(ring, kind, recorder.hot.Tick(), start.parent, Pack32(CommOf(start.context), field)));
}

/** The same, and a second slot of one or two words. */
[[gnu::always_inline]] inline uint64_t StartWithWord(Producer& producer, rank_file::Kind kind, const Start& start,
                                                     uint32_t field, uint64_t word, uint64_t next_word = 0) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t position = Prepare(ring, 2);
  Put(ring, kind, position, 0, 2, tick, start.parent, Pack32(CommOf(start.context), field));
  Put(ring, kind, position, 1, 2, word, next_word, 0);
  Commit(ring, position, 2);
  return ring.HandleAt(position);
}

[[gnu::always_inline]] inline uint64_t StartGroup(Producer& producer, const Start& start) {
  return StartSimple(producer, rank_file::kStartGroup, start, 0);
}

[[gnu::always_inline]] inline uint64_t StartGroupApi(Producer& producer, const Start& start, bool graph_captured,
                                                     int32_t depth) {
  return StartSimple(producer, rank_file::kStartGroupApi, start,
                     uint32_t{graph_captured} | static_cast<uint32_t>(depth) << 1);
}

[[gnu::always_inline]] inline uint64_t StartKernelLaunch(Producer& producer, const Start& start, uint64_t stream) {
  return StartWithWord(producer, rank_file::kStartKernelLaunch, start, 0, stream);
}

[[gnu::always_inline]] inline uint64_t StartKernelCh(Producer& producer, const Start& start, uint8_t channel,
                                                     uint64_t gpu_timer) {
  return StartWithWord(producer, rank_file::kStartKernelCh, start, channel, gpu_timer);
}

[[gnu::always_inline]] inline uint64_t StartUnknown(Producer& producer, const Start& start, int32_t rank,
                                                    uint64_t type) {
  return StartWithWord(producer, rank_file::kStartUnknown, start, static_cast<uint32_t>(rank), type);
}

/** CollApi and P2pApi. With a third slot when there is a tag to be told. */
[[gnu::always_inline]] inline uint64_t StartApi(Producer& producer, rank_file::Kind kind, const Start& start,
                                                const ApiStart& api, uint64_t user_tag = 0) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = recorder.hot.Tick();
  const uint32_t names = recorder.Intern(api.func).id | uint32_t{recorder.Intern(api.datatype).id} << 16;
  const uint32_t parts = user_tag != 0 ? 3 : 2;
  const uint64_t position = Prepare(ring, parts);
  Put(ring, kind, position, 0, parts, tick, start.parent, Pack32(CommOf(start.context), names));
  Put(ring, kind, position, 1, parts, api.count, api.stream, Word(api.root, api.graph_captured));
  if (parts == 3) Put(ring, kind, position, 2, parts, user_tag, 0, 0);
  Commit(ring, position, parts);
  return ring.HandleAt(position);
}

[[gnu::always_inline]] inline uint64_t StartColl(Producer& producer, const Start& start, const CollStart& coll) {
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const StringRef func = recorder.Intern(coll.func);
  // Counted first: ordinals go on while events are muted.
  const Ordinal ordinal =
      communicator != nullptr ? communicator->replays.Next(func.function_row, coll.sequence) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(coll.sequence))) return Mute(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count(ring, ring.live->ordinals_lost);
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t names = func.id | uint64_t{recorder.Intern(coll.datatype).id} << 16 |
                         uint64_t{recorder.Intern(coll.algo).id} << 32 | uint64_t{recorder.Intern(coll.proto).id} << 48;
  // Constants to every version before v7: these have four parts.
  const bool is_special = coll.kernel_variant != nullptr || coll.is_symmetric;
  const uint32_t parts = Unlikely(is_special) ? 5 : 4;
  const uint64_t variant = recorder.Intern(coll.kernel_variant).id | uint64_t{coll.is_symmetric} << 16;
  const uint64_t position = Prepare(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartColl;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(coll.rank)));
  Put(ring, kKind, position, 1, parts, coll.sequence, coll.count, names);
  Put(ring, kKind, position, 2, parts, coll.parent_group, Pack32(static_cast<uint32_t>(coll.root), ordinal.value),
      coll.channels | uint64_t{coll.warps} << 8 | uint64_t{ordinal.flags} << 16);
  Put(ring, kKind, position, 3, parts, coll.send_buffer, coll.receive_buffer, coll.user_tag);
  if (Unlikely(is_special)) Put(ring, kKind, position, 4, parts, variant, 0, 0);
  Commit(ring, position, parts);
  return ring.HandleAt(position);
}

[[gnu::always_inline]] inline uint64_t StartP2p(Producer& producer, const Start& start, const P2pStart& p2p) {
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const bool is_receive = p2p.func != nullptr && p2p.func[0] == 'R';
  const Ordinal ordinal = communicator != nullptr ? communicator->peers.Next(p2p.peer, is_receive) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(ordinal.value))) return Mute(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count(ring, ring.live->ordinals_lost);
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t names = recorder.Intern(p2p.func).id | uint64_t{recorder.Intern(p2p.datatype).id} << 16;
  const uint64_t position = Prepare(ring, 3);
  constexpr rank_file::Kind kKind = rank_file::kStartP2p;
  Put(ring, kKind, position, 0, 3, tick, start.parent, Pack32(comm, static_cast<uint32_t>(p2p.rank)));
  Put(ring, kKind, position, 1, 3, p2p.buffer, p2p.count,
      names | uint64_t{p2p.channels} << 32 | uint64_t{ordinal.flags} << 48);
  Put(ring, kKind, position, 2, 3, p2p.parent_group, Pack32(static_cast<uint32_t>(p2p.peer), ordinal.value),
      p2p.user_tag);
  Commit(ring, position, 3);
  return ring.HandleAt(position);
}

[[gnu::always_inline]] inline uint64_t StartProxyOp(Producer& producer, const Start& start, const ProxyOpStart& op) {
  const uint64_t tick = recorder.hot.Tick();
  const Ordinal ordinal =
      producer.connections.Next(start.context, op.channel, static_cast<uint32_t>(op.peer), op.is_send);
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count(ring, ring.live->ordinals_lost);
  const uint32_t comm = CommOf(start.context);
  const uint32_t parts = Unlikely(comm == rank_file::kCommForeign) ? 3 : 2;
  const uint64_t position = Prepare(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartProxyOp;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(op.peer)));
  Put(ring, kKind, position, 1, parts, Pack32(ordinal.value, static_cast<uint32_t>(op.steps)),
      Word(op.chunk_size, op.pid),
      op.channel | uint64_t{op.is_send} << 8 | uint64_t{ordinal.flags} << 16 |
          uint64_t{static_cast<uint32_t>(op.rank)} << 32);
  if (Unlikely(parts == 3)) Put(ring, kKind, position, 2, parts, start.context, 0, 0);
  Commit(ring, position, parts);
  return ring.HandleAt(position);
}

[[gnu::always_inline]] inline uint64_t StartProxyStep(Producer& producer, const Start& start, int32_t step) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.steps;
  const uint64_t tick = recorder.hot.Tick();
  const uint32_t number = static_cast<uint32_t>(step);
  LastStarts::Entry* last = nullptr;
  // Steps without an operation are all alike: nothing tells a repeat.
  if (producer.last_starts != nullptr && start.parent != 0) {
    last = &producer.last_starts->Of(start.parent);
    if (Unlikely(last->handle != 0 && last->step == number)) {
      FoldKnownRepeat(ring, last->handle, rank_file::kFoldStateStart, tick);
      return last->handle;
    }
  }
  const uint64_t position =
      Append(ring, rank_file::kStartProxyStep, tick, start.parent, Pack32(CommOf(start.context), number));
  const uint64_t handle = ring.HandleAt(position);
  if (last != nullptr) {
    last->step = number;
    last->handle = handle;
  }
  return handle;
}

[[gnu::always_inline]] inline uint64_t StartProxyCtrl(Producer& producer, const Start& start) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  CtrlEdges& edges = producer.ctrl;
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t comm_word = CommOf(start.context);
  if (!producer.shared()) {
    if (edges.given != 0) LeaveOpenStart(edges, ring, tick);
    const uint64_t lent = edges.Lend(tick, recorder.hot.edge_ticks, start.parent, comm_word);
    if (lent != 0) return lent;
    EndBurst(edges, ring, tick);
  }
  return ring.HandleAt(Append(ring, rank_file::kStartProxyCtrl, tick, start.parent, comm_word));
}

inline uint64_t StartNetPlugin(Producer& producer, const Start& start, const NetStart& net) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t position = Prepare(ring, 3);
  constexpr rank_file::Kind kKind = rank_file::kStartNetPlugin;
  Put(ring, kKind, position, 0, 3, tick, start.parent, CommOf(start.context));
  Put(ring, kKind, position, 1, 3, net.id, net.length, net.request);
  Put(ring, kKind, position, 2, 3, Word(net.device, net.opcode),
      Pack32(static_cast<uint32_t>(net.queue_pair), net.type), Word(net.socket, net.direction));
  Commit(ring, position, 3);
  return ring.HandleAt(position);
}

inline uint64_t StartCeColl(Producer& producer, const Start& start, const CeCollStart& coll) {
  if (IsMuted(start.parent)) return Mute(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = recorder.hot.Tick();
  const uint64_t names = recorder.Intern(coll.func).id | uint64_t{recorder.Intern(coll.datatype).id} << 16 |
                         uint64_t{recorder.Intern(coll.sync_strategy).id} << 32 | uint64_t{coll.intra_batch_sync} << 48;
  const uint64_t position = Prepare(ring, 4);
  constexpr rank_file::Kind kKind = rank_file::kStartCeColl;
  Put(ring, kKind, position, 0, 4, tick, start.parent, Pack32(CommOf(start.context), static_cast<uint32_t>(coll.rank)));
  Put(ring, kKind, position, 1, 4, coll.sequence, coll.count, names);
  Put(ring, kKind, position, 2, 4, Pack32(static_cast<uint32_t>(coll.root), coll.ce_sequence),
      Pack32(coll.batch_size, coll.batches), coll.stream);
  Put(ring, kKind, position, 3, 4, coll.send_buffer, coll.receive_buffer, coll.user_tag);
  Commit(ring, position, 4);
  return ring.HandleAt(position);
}

inline uint64_t StartCeSync(Producer& producer, const Start& start, bool is_complete, int32_t ranks) {
  return StartWithWord(producer, rank_file::kStartCeSync, start, static_cast<uint32_t>(ranks), is_complete);
}

inline uint64_t StartCeBatch(Producer& producer, const Start& start, int32_t operations, uint64_t bytes,
                             bool use_intra_sync) {
  return StartWithWord(producer, rank_file::kStartCeBatch, start, static_cast<uint32_t>(operations), bytes,
                       use_intra_sync);
}

inline uint64_t StartKernelPhase(Producer& producer, const Start& start, uint8_t channel, uint8_t phase,
                                 const char* name, uint64_t gpu_timer) {
  if (IsMuted(start.parent)) return Mute(producer);
  return StartWithWord(producer, rank_file::kStartKernelPhase, start, channel | uint32_t{phase} << 8, gpu_timer,
                       recorder.Intern(name).id);
}

// ---------------------------------------------------------------------------------------------------------------------
// States and stops. NCCL passes NULL, stops twice, stops elsewhere and goes on after a stop: all of it is recorded as
// it comes, and only the reader judges.

[[gnu::always_inline]] inline void AppendState(Ring& ring, uint64_t tick, uint64_t handle, uint32_t state,
                                               uint64_t value) {
  if (!Unlikely(state > 0xFFFF || value > rank_file::kNoValue)) {
    Append(ring, rank_file::kState, tick, handle, state | value << 16);
    return;
  }
  const uint64_t position = Prepare(ring, 2);
  Put(ring, rank_file::kState, position, 0, 2, tick, handle, state);
  Put(ring, rank_file::kState, position, 1, 2, value, 0, 0);
  Commit(ring, position, 2);
}

/** `value`: kNoValue when NCCL gave none. */
[[gnu::always_inline]] inline void RecordState(Producer& producer, uint64_t handle, uint32_t state, uint64_t value) {
  if (Unlikely(handle == 0)) return Count(*producer.rest, producer.rest->live->null_calls);
  if (IsMuted(handle)) return Count(*producer.rest, producer.rest->live->muted);
  const uint64_t tick = recorder.hot.Tick();
  Ring& ring = producer.RingFor(handle);
  const bool is_edge = Unlikely(state - kFirstEdgeState < kEdgeStates) && !producer.shared();
  if (Unlikely(handle == producer.ctrl.given) && CountEdge(producer.ctrl, ring, handle, state, tick)) return;
  if (FoldState(ring, handle, state, value, tick)) return;
  AppendState(ring, tick, handle, state, value);
  if (is_edge) producer.ctrl.EdgeRecorded(handle, state, tick);
}

/** A step's start lies in our own ring, if it is not overwritten: it says which operation's entry this was. */
inline void ForgetLastStart(Producer& producer, const Ring& ring, uint64_t handle) {
  if (producer.steps != producer.rest && &ring != producer.steps) {
    producer.last_starts->OperationStopped(handle);
    return;
  }
  const rank_file::Slot& slot = ring.slots[rank_file::HandlePosition(handle) & ring.mask];
  if ((Load(slot.words[3]) & 0xFF) == rank_file::kStartProxyStep) {
    producer.last_starts->StepStopped(Load(slot.words[1]), handle);
  } else {
    producer.last_starts->OperationStopped(handle);
  }
}

[[gnu::always_inline]] inline void RecordStop(Producer& producer, uint64_t handle) {
  if (Unlikely(handle == 0)) return Count(*producer.rest, producer.rest->live->null_calls);
  if (IsMuted(handle)) return Count(*producer.rest, producer.rest->live->muted);
  const uint64_t tick = recorder.hot.Tick();
  Ring& ring = producer.RingFor(handle);
  if (Unlikely(handle == producer.ctrl.given) && StopEdge(producer.ctrl, ring, handle, tick)) return;
  FoldStop(ring, handle, tick);
  Append(ring, rank_file::kStop, tick, handle, 0);
  if (producer.last_starts != nullptr) ForgetLastStart(producer, ring, handle);
}

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_EVENTS_H_
