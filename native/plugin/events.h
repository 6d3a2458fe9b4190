// What a callback becomes: one record, as the Kind comments of format/rank_file.h say. Here the recorder speaks of
// starts, states and stops; where their fields lie in NCCL's structures is the decoders' business (abi_*.cc), so each
// ABI version is one more decoder and nothing here changes.
//
// All of it is inline: a decoder compiles into one function per callback, with one load of the thread-local pointer,
// and one more for the general way (Way in ring.h). What the usual way leaves to the general one it finds out before it
// changes anything; a start answers kNotUsual then, a state or stop false.
//
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
  uint64_t user_tag = 0;
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

template <Way way>
[[gnu::always_inline]] inline uint64_t Tick() {
  return way == Way::kUsual ? ReadCounter() : recorder.hot.Tick();
}

/** False, in the usual way alone: the text has no number yet, or is long. */
template <Way way>
[[gnu::always_inline]] inline bool Intern(const char* text, StringRef& ref) {
  if constexpr (way == Way::kUsual) return recorder.FindString(text, ref);
  ref = recorder.Intern(text);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles and contexts

constexpr uint64_t kNotUsual = 0;  // no handle is

/** Sampled out, by this process or (PXN) by one that runs this recorder too. */
[[gnu::always_inline]] inline bool IsMuted(uint64_t handle) {
  constexpr uint64_t kOurs = rank_file::kHandleTagFixedBits | rank_file::kHandleMuted;
  return Unlikely((handle & kOurs) == kOurs);
}

/** Any number will do: nothing is looked up by it. */
inline uint64_t MutedHandle() { return recorder.hot.tag | rank_file::kHandleTagFixedBits | rank_file::kHandleMuted; }

template <Way way>
[[gnu::always_inline]] inline uint64_t Mute(Producer& producer) {
  Count<way>(*producer.rest, producer.rest->live->muted);
  return MutedHandle();
}

/** When all but its 32-bit number is as we made it; it is never dereferenced. */
[[gnu::always_inline]] inline bool IsOurContext(uint64_t context) {
  constexpr uint64_t kNumber = uint64_t{0xFFFFFFFF} << rank_file::kHandlePositionShift;
  return (context & ~kNumber) == recorder.hot.context_prefix;
}

inline uint32_t NumberOf(uint64_t context) { return static_cast<uint32_t>(context >> rank_file::kHandlePositionShift); }

/** The `comm` field. */
[[gnu::always_inline]] inline uint32_t CommOf(uint64_t context) {
  if (Unlikely(!IsOurContext(context))) return context == 0 ? rank_file::kCommNone : rank_file::kCommForeign;
  return NumberOf(context);
}

inline uint64_t Word(int32_t low, int32_t high) {
  return Pack32(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
}

// ---------------------------------------------------------------------------------------------------------------------
// Starts. Each returns the event's handle.

/** One slot: tick, parent, comm and one more field. */
template <Way way>
[[gnu::always_inline]] inline uint64_t StartSimple(Producer& producer, rank_file::Kind kind, Start start,
                                                   uint32_t field) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  return ring.HandleAt(Append<way>(ring, kind, Tick<way>(), start.parent, Pack32(CommOf(start.context), field)));
}

/** The same, and a second slot of one or two words. */
template <Way way>
[[gnu::always_inline]] inline uint64_t StartWithWord(Producer& producer, rank_file::Kind kind, Start start,
                                                     uint32_t field, uint64_t word, uint64_t next_word = 0) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<way>();
  const uint64_t position = Prepare<way>(ring, 2);
  Put(ring, kind, position, 0, 2, tick, start.parent, Pack32(CommOf(start.context), field));
  Put(ring, kind, position, 1, 2, word, next_word, 0);
  Commit<way>(ring, position, 2);
  return ring.HandleAt(position);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartGroup(Producer& producer, Start start) {
  return StartSimple<way>(producer, rank_file::kStartGroup, start, 0);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartGroupApi(Producer& producer, Start start, bool graph_captured,
                                                     int32_t depth) {
  return StartSimple<way>(producer, rank_file::kStartGroupApi, start,
                          uint32_t{graph_captured} | static_cast<uint32_t>(depth) << 1);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartKernelLaunch(Producer& producer, Start start, uint64_t stream) {
  return StartWithWord<way>(producer, rank_file::kStartKernelLaunch, start, 0, stream);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartKernelCh(Producer& producer, Start start, uint8_t channel,
                                                     uint64_t gpu_timer) {
  return StartWithWord<way>(producer, rank_file::kStartKernelCh, start, channel, gpu_timer);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartUnknown(Producer& producer, Start start, int32_t rank, uint64_t type) {
  return StartWithWord<way>(producer, rank_file::kStartUnknown, start, static_cast<uint32_t>(rank), type);
}

// What follows takes a function `fields` that reads the descriptor, and calls it slot by slot: all of them at once are more
// than there are registers.

/** CollApi and P2pApi. With a third slot when there is a tag to be told. */
template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t StartApi(Producer& producer, rank_file::Kind kind, Start start,
                                                const Fields& fields) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  const bool has_tag = fields().user_tag != 0;
  StringRef func, datatype;
  if (way == Way::kUsual && Unlikely(has_tag)) return kNotUsual;
  if (!Intern<way>(fields().func, func) || !Intern<way>(fields().datatype, datatype)) return kNotUsual;
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<way>();
  const uint32_t names = func.id | uint32_t{datatype.id} << 16;
  const uint32_t parts = way == Way::kGeneral && has_tag ? 3 : 2;
  const uint64_t position = Prepare<way>(ring, parts);
  Put(ring, kind, position, 0, parts, tick, start.parent, Pack32(CommOf(start.context), names));
  Put(ring, kind, position, 1, parts, fields().count, fields().stream, Word(fields().root, fields().graph_captured));
  if (parts == 3) Put(ring, kind, position, 2, parts, fields().user_tag, 0, 0);
  Commit<way>(ring, position, parts);
  return ring.HandleAt(position);
}

template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t StartColl(Producer& producer, Start start, const Fields& fields) {
  // Constants to every version before v7.
  const bool is_special = fields().kernel_variant != nullptr || fields().is_symmetric;
  StringRef func, datatype, algo, proto, variant;
  if (way == Way::kUsual && Unlikely(is_special)) return kNotUsual;
  if (!Intern<way>(fields().func, func) || !Intern<way>(fields().datatype, datatype) ||
      !Intern<way>(fields().algo, algo) || !Intern<way>(fields().proto, proto)) {
    return kNotUsual;
  }
  const uint64_t names = func.id | uint64_t{datatype.id} << 16 | uint64_t{algo.id} << 32 | uint64_t{proto.id} << 48;
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const uint64_t sequence = fields().sequence;
  // Counted first: ordinals go on while events are muted.
  const Ordinal ordinal =
      communicator != nullptr ? communicator->replays.Next(func.function_row, sequence) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(sequence))) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count<way>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<way>();
  const uint32_t parts = way == Way::kGeneral && is_special ? 5 : 4;
  const uint64_t position = Prepare<way>(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartColl;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().rank)));
  Put(ring, kKind, position, 1, parts, sequence, fields().count, names);
  Put(ring, kKind, position, 2, parts, fields().parent_group,
      Pack32(static_cast<uint32_t>(fields().root), ordinal.value),
      fields().channels | uint64_t{fields().warps} << 8 | uint64_t{ordinal.flags} << 16);
  Put(ring, kKind, position, 3, parts, fields().send_buffer, fields().receive_buffer, fields().user_tag);
  if (parts == 5) {
    Intern<way>(fields().kernel_variant, variant);
    Put(ring, kKind, position, 4, parts, variant.id | uint64_t{fields().is_symmetric} << 16, 0, 0);
  }
  Commit<way>(ring, position, parts);
  return ring.HandleAt(position);
}

template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t StartP2p(Producer& producer, Start start, const Fields& fields) {
  StringRef func, datatype;
  if (!Intern<way>(fields().func, func) || !Intern<way>(fields().datatype, datatype)) return kNotUsual;
  const uint64_t names = func.id | uint64_t{datatype.id} << 16;
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const char* text = fields().func;
  const bool is_receive = text != nullptr && text[0] == 'R';
  const int32_t peer = fields().peer;
  const Ordinal ordinal = communicator != nullptr ? communicator->peers.Next(peer, is_receive) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(ordinal.value))) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count<way>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<way>();
  const uint64_t position = Prepare<way>(ring, 3);
  constexpr rank_file::Kind kKind = rank_file::kStartP2p;
  Put(ring, kKind, position, 0, 3, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().rank)));
  Put(ring, kKind, position, 1, 3, fields().buffer, fields().count,
      names | uint64_t{fields().channels} << 32 | uint64_t{ordinal.flags} << 48);
  Put(ring, kKind, position, 2, 3, fields().parent_group, Pack32(static_cast<uint32_t>(peer), ordinal.value),
      fields().user_tag);
  Commit<way>(ring, position, 3);
  return ring.HandleAt(position);
}

template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t WriteProxyOp(Ring& ring, Start start, uint32_t comm, Ordinal ordinal,
                                                    const Fields& fields) {
  if (way == Way::kGeneral && ordinal.flags != 0) Count<way>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<way>();
  const uint32_t parts = way == Way::kGeneral && comm == rank_file::kCommForeign ? 3 : 2;
  const uint64_t position = Prepare<way>(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartProxyOp;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().peer)));
  Put(ring, kKind, position, 1, parts, Pack32(ordinal.value, static_cast<uint32_t>(fields().steps)),
      Word(fields().chunk_size, fields().pid),
      fields().channel | uint64_t{fields().is_send} << 8 | uint64_t{ordinal.flags} << 16 |
          uint64_t{static_cast<uint32_t>(fields().rank)} << 32);
  if (parts == 3) Put(ring, kKind, position, 2, parts, start.context, 0, 0);
  Commit<way>(ring, position, parts);
  return ring.HandleAt(position);
}

/** The usual way: in a communicator of ours, on a connection that is known. */
template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t StartProxyOp(Producer& producer, Start start, const Fields& fields) {
  const uint32_t channel = fields().channel;
  const uint32_t peer = static_cast<uint32_t>(fields().peer);
  ConnectionOrdinals::Entry* connection;
  if constexpr (way == Way::kUsual) {
    if (Unlikely(!IsOurContext(start.context))) return kNotUsual;
    connection = producer.connections.Find(start.context, channel, peer, fields().is_send);
    if (Unlikely(connection == nullptr)) return kNotUsual;
  } else {
    connection = producer.connections.Of(start.context, channel, peer, fields().is_send);
  }
  const uint32_t comm = way == Way::kUsual ? NumberOf(start.context) : CommOf(start.context);
  const Ordinal ordinal = connection != nullptr ? Ordinal{connection->next, 0} : kNoOrdinal;
  const uint64_t handle =
      IsMuted(start.parent) ? Mute<way>(producer) : WriteProxyOp<way>(*producer.rest, start, comm, ordinal, fields);
  // Also while muted. Last: a store right after its address was found holds up what follows, by 4 ns.
  if (connection != nullptr) connection->next = ordinal.value + 1;
  return handle;
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartProxyStep(Producer& producer, Start start, int32_t step) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  Ring& ring = *producer.steps;
  const uint32_t number = static_cast<uint32_t>(step);
  LastStarts::Entry* last = nullptr;
  // Steps without an operation are all alike: nothing tells a repeat.
  if (start.parent != 0) {
    if constexpr (way == Way::kUsual) {
      last = producer.last_starts->Find(start.parent);
      if (Unlikely(last == nullptr)) return kNotUsual;
    } else if (producer.last_starts != nullptr) {
      last = &producer.last_starts->Of(start.parent);
    }
  }
  const uint64_t tick = Tick<way>();
  if (last != nullptr && Unlikely(last->handle != 0 && last->step == number)) {
    if constexpr (way == Way::kUsual) {
      if (!FoldNextRepeat(ring, last->handle, rank_file::kFoldStateStart, tick)) return kNotUsual;
    } else {
      FoldKnownRepeat(ring, last->handle, rank_file::kFoldStateStart, tick);
    }
    return last->handle;
  }
  const uint64_t position =
      Append<way>(ring, rank_file::kStartProxyStep, tick, start.parent, Pack32(CommOf(start.context), number));
  const uint64_t handle = ring.HandleAt(position);
  if (last != nullptr) {
    last->step = number;
    last->handle = handle;
  }
  return handle;
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartProxyCtrl(Producer& producer, Start start) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  CtrlEdges& edges = producer.ctrl;
  const uint64_t tick = Tick<way>();
  const uint64_t comm_word = CommOf(start.context);
  if (way == Way::kUsual || !producer.shared()) {
    if (edges.given != 0) {
      if constexpr (way == Way::kUsual) return kNotUsual;
      LeaveOpenStart(edges, ring, tick);
    }
    const uint64_t lent = edges.Lend(tick, recorder.hot.edge_ticks, start.parent, comm_word);
    if (lent != 0) return lent;
    if (edges.newest_anchor != 0) {
      if constexpr (way == Way::kUsual) return kNotUsual;
      EndBurst(edges, ring, tick);
    }
  }
  return ring.HandleAt(Append<way>(ring, rank_file::kStartProxyCtrl, tick, start.parent, comm_word));
}

template <Way way, typename Fields>
[[gnu::always_inline]] inline uint64_t StartNetPlugin(Producer& producer, Start start, const Fields& fields) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<way>();
  const uint64_t position = Prepare<way>(ring, 3);
  const NetStart net = fields();
  constexpr rank_file::Kind kKind = rank_file::kStartNetPlugin;
  Put(ring, kKind, position, 0, 3, tick, start.parent, CommOf(start.context));
  Put(ring, kKind, position, 1, 3, net.id, net.length, net.request);
  Put(ring, kKind, position, 2, 3, Word(net.device, net.opcode),
      Pack32(static_cast<uint32_t>(net.queue_pair), net.type), Word(net.socket, net.direction));
  Commit<way>(ring, position, 3);
  return ring.HandleAt(position);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartCeColl(Producer& producer, Start start, const CeCollStart& coll) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  StringRef func, datatype, strategy;
  if (!Intern<way>(coll.func, func) || !Intern<way>(coll.datatype, datatype) ||
      !Intern<way>(coll.sync_strategy, strategy)) {
    return kNotUsual;
  }
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<way>();
  const uint64_t names =
      func.id | uint64_t{datatype.id} << 16 | uint64_t{strategy.id} << 32 | uint64_t{coll.intra_batch_sync} << 48;
  const uint64_t position = Prepare<way>(ring, 4);
  constexpr rank_file::Kind kKind = rank_file::kStartCeColl;
  Put(ring, kKind, position, 0, 4, tick, start.parent, Pack32(CommOf(start.context), static_cast<uint32_t>(coll.rank)));
  Put(ring, kKind, position, 1, 4, coll.sequence, coll.count, names);
  Put(ring, kKind, position, 2, 4, Pack32(static_cast<uint32_t>(coll.root), coll.ce_sequence),
      Pack32(coll.batch_size, coll.batches), coll.stream);
  Put(ring, kKind, position, 3, 4, coll.send_buffer, coll.receive_buffer, coll.user_tag);
  Commit<way>(ring, position, 4);
  return ring.HandleAt(position);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartCeSync(Producer& producer, Start start, bool is_complete, int32_t ranks) {
  return StartWithWord<way>(producer, rank_file::kStartCeSync, start, static_cast<uint32_t>(ranks), is_complete);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartCeBatch(Producer& producer, Start start, int32_t operations, uint64_t bytes,
                                                    bool use_intra_sync) {
  return StartWithWord<way>(producer, rank_file::kStartCeBatch, start, static_cast<uint32_t>(operations), bytes,
                            use_intra_sync);
}

template <Way way>
[[gnu::always_inline]] inline uint64_t StartKernelPhase(Producer& producer, Start start, uint8_t channel, uint8_t phase,
                                                        const char* name, uint64_t gpu_timer) {
  if (IsMuted(start.parent)) return Mute<way>(producer);
  StringRef phase_name;
  if (!Intern<way>(name, phase_name)) return kNotUsual;
  return StartWithWord<way>(producer, rank_file::kStartKernelPhase, start, channel | uint32_t{phase} << 8, gpu_timer,
                            phase_name.id);
}

// ---------------------------------------------------------------------------------------------------------------------
// States and stops. NCCL passes NULL, stops twice, stops elsewhere and goes on after a stop: all of it is recorded as
// it comes, and only the reader judges.

template <Way way>
[[gnu::always_inline]] inline void AppendState(Ring& ring, uint64_t tick, uint64_t handle, uint32_t state,
                                               uint64_t value) {
  if (!Unlikely(state > 0xFFFF || value > rank_file::kNoValue)) {
    Append<way>(ring, rank_file::kState, tick, handle, state | value << 16);
    return;
  }
  const uint64_t position = Prepare<way>(ring, 2);
  Put(ring, rank_file::kState, position, 0, 2, tick, handle, state);
  Put(ring, rank_file::kState, position, 1, 2, value, 0, 0);
  Commit<way>(ring, position, 2);
}

/** NULL, or muted: nothing but a count. */
template <Way way>
[[gnu::always_inline]] inline bool IsCountedOnly(const Producer& producer, uint64_t handle) {
  if (!IsMuted(handle) && !Unlikely(handle == 0)) return false;
  rank_file::AreaLive& live = *producer.rest->live;
  Count<way>(*producer.rest, handle == 0 ? live.null_calls : live.muted);
  return true;
}

/** `value`: kNoValue when NCCL gave none. */
template <Way way>
[[gnu::always_inline]] inline bool RecordState(Producer& producer, uint64_t handle, uint32_t state, uint64_t value) {
  if (IsCountedOnly<way>(producer, handle)) return true;
  const bool is_edge = Unlikely(state - kFirstEdgeState < kEdgeStates);
  const bool is_lent = Unlikely(handle == producer.ctrl.given);
  if (way == Way::kUsual && (is_edge || is_lent)) return false;
  Ring& ring = producer.RingFor(handle);
  const uint64_t tick = Tick<way>();
  if (is_lent && CountEdge(producer.ctrl, ring, handle, state, tick)) return true;
  const Fate fate = FoldState<way>(ring, handle, state, value, tick);
  if (fate != Fate::kRecord) return fate == Fate::kRepeat;
  AppendState<way>(ring, tick, handle, state, value);
  if (is_edge && !producer.shared()) producer.ctrl.EdgeRecorded(handle, state, tick);
  return true;
}

/** A step's start lies in our own ring, if it is not overwritten: it says which operation's entry this was. */
[[gnu::always_inline]] inline void ForgetLastStart(Producer& producer, const Ring& ring, uint64_t handle) {
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

template <Way way>
[[gnu::always_inline]] inline bool RecordStop(Producer& producer, uint64_t handle) {
  if (IsCountedOnly<way>(producer, handle)) return true;
  const bool is_lent = Unlikely(handle == producer.ctrl.given);
  if (way == Way::kUsual && is_lent) return false;
  Ring& ring = producer.RingFor(handle);
  const uint64_t tick = Tick<way>();
  if (is_lent && StopEdge(producer.ctrl, ring, handle, tick)) return true;
  if (!FoldStop<way>(ring, handle, tick)) return false;
  Append<way>(ring, rank_file::kStop, tick, handle, 0);
  if (way == Way::kUsual || producer.last_starts != nullptr) ForgetLastStart(producer, ring, handle);
  return true;
}

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_EVENTS_H_
