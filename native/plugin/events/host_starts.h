// Starts of events of the application's threads: calls, groups, collectives, launches, the copy engine. Each returns
// the event's handle (events.h).
//
// Some take a function `fields` that reads the descriptor and call it slot by slot, because all fields at once need more
// registers than there are.

#pragma once

#include "plugin/events/events.h"

namespace nccl_trace {

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

struct ApiStart {
  uint64_t count;
  const char *func, *datatype;
  uint64_t stream;
  int32_t root;
  bool graph_captured;
  uint64_t user_tag = 0;
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

template <Path path>
[[gnu::always_inline]] inline uint64_t StartGroup(Producer& producer, Start start) {
  return StartSimple<path>(producer, rank_file::kStartGroup, start, 0);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartGroupApi(Producer& producer, Start start, bool graph_captured,
                                                     int32_t depth) {
  return StartSimple<path>(producer, rank_file::kStartGroupApi, start,
                           uint32_t{graph_captured} | static_cast<uint32_t>(depth) << 1);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartKernelLaunch(Producer& producer, Start start, uint64_t stream) {
  return StartWithWord<path>(producer, rank_file::kStartKernelLaunch, start, 0, stream);
}

/** CollApi and P2pApi. Has a third slot if there is a user tag. */
template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t StartApi(Producer& producer, rank_file::Kind kind, Start start,
                                                const Fields& fields) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  const bool has_tag = fields().user_tag != 0;
  StringRef func, datatype;
  if (path == Path::kFast && Unlikely(has_tag)) return kNotFast;
  if (!Intern<path>(fields().func, func) || !Intern<path>(fields().datatype, datatype)) return kNotFast;
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<path>();
  const uint32_t names = func.id | uint32_t{datatype.id} << 16;
  const uint32_t parts = path == Path::kSlow && has_tag ? 3 : 2;
  const uint64_t position = Prepare<path>(ring, parts);
  Put(ring, kind, position, 0, parts, tick, start.parent, Pack32(CommOf(start.context), names));
  Put(ring, kind, position, 1, parts, fields().count, fields().stream, Word(fields().root, fields().graph_captured));
  if (parts == 3) Put(ring, kind, position, 2, parts, fields().user_tag, 0, 0);
  Commit<path>(ring, position, parts);
  return ring.HandleAt(position);
}

template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t StartColl(Producer& producer, Start start, const Fields& fields) {
  // Constants for every version before v7.
  const bool is_special = fields().kernel_variant != nullptr || fields().is_symmetric;
  StringRef func, datatype, algo, proto, variant;
  if (path == Path::kFast && Unlikely(is_special)) return kNotFast;
  if (!Intern<path>(fields().func, func) || !Intern<path>(fields().datatype, datatype) ||
      !Intern<path>(fields().algo, algo) || !Intern<path>(fields().proto, proto)) {
    return kNotFast;
  }
  const uint64_t names = func.id | uint64_t{datatype.id} << 16 | uint64_t{algo.id} << 32 | uint64_t{proto.id} << 48;
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const uint64_t sequence = fields().sequence;
  // Count first, because ordinals go on while events are muted.
  const Ordinal ordinal =
      communicator != nullptr ? communicator->replays.Next(func.function_row, sequence) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(sequence))) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count<path>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<path>();
  const uint32_t parts = path == Path::kSlow && is_special ? 5 : 4;
  const uint64_t position = Prepare<path>(ring, parts);
  constexpr rank_file::Kind kKind = rank_file::kStartColl;
  Put(ring, kKind, position, 0, parts, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().rank)));
  Put(ring, kKind, position, 1, parts, sequence, fields().count, names);
  Put(ring, kKind, position, 2, parts, fields().parent_group,
      Pack32(static_cast<uint32_t>(fields().root), ordinal.value),
      fields().channels | uint64_t{fields().warps} << 8 | uint64_t{ordinal.flags} << 16);
  Put(ring, kKind, position, 3, parts, fields().send_buffer, fields().receive_buffer, fields().user_tag);
  if (parts == 5) {
    Intern<path>(fields().kernel_variant, variant);
    Put(ring, kKind, position, 4, parts, variant.id | uint64_t{fields().is_symmetric} << 16, 0, 0);
  }
  Commit<path>(ring, position, parts);
  return ring.HandleAt(position);
}

template <Path path, typename Fields>
[[gnu::always_inline]] inline uint64_t StartP2p(Producer& producer, Start start, const Fields& fields) {
  StringRef func, datatype;
  if (!Intern<path>(fields().func, func) || !Intern<path>(fields().datatype, datatype)) return kNotFast;
  const uint64_t names = func.id | uint64_t{datatype.id} << 16;
  const uint32_t comm = CommOf(start.context);
  Communicator* communicator = recorder.FindCommunicator(comm);
  const char* text = fields().func;
  const bool is_receive = text != nullptr && text[0] == 'R';
  const int32_t peer = fields().peer;
  const Ordinal ordinal = communicator != nullptr ? communicator->peers.Next(peer, is_receive) : kNoOrdinal;
  if (IsMuted(start.parent) || Unlikely(recorder.hot.SampledOut(ordinal.value))) return Mute<path>(producer);
  Ring& ring = *producer.rest;
  if (Unlikely(ordinal.flags != 0)) Count<path>(ring, ring.live->ordinals_lost);
  const uint64_t tick = Tick<path>();
  const uint64_t position = Prepare<path>(ring, 3);
  constexpr rank_file::Kind kKind = rank_file::kStartP2p;
  Put(ring, kKind, position, 0, 3, tick, start.parent, Pack32(comm, static_cast<uint32_t>(fields().rank)));
  Put(ring, kKind, position, 1, 3, fields().buffer, fields().count,
      names | uint64_t{fields().channels} << 32 | uint64_t{ordinal.flags} << 48);
  Put(ring, kKind, position, 2, 3, fields().parent_group, Pack32(static_cast<uint32_t>(peer), ordinal.value),
      fields().user_tag);
  Commit<path>(ring, position, 3);
  return ring.HandleAt(position);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartCeColl(Producer& producer, Start start, const CeCollStart& coll) {
  if (IsMuted(start.parent)) return Mute<path>(producer);
  StringRef func, datatype, strategy;
  if (!Intern<path>(coll.func, func) || !Intern<path>(coll.datatype, datatype) ||
      !Intern<path>(coll.sync_strategy, strategy)) {
    return kNotFast;
  }
  Ring& ring = *producer.rest;
  const uint64_t tick = Tick<path>();
  const uint64_t names =
      func.id | uint64_t{datatype.id} << 16 | uint64_t{strategy.id} << 32 | uint64_t{coll.intra_batch_sync} << 48;
  const uint64_t position = Prepare<path>(ring, 4);
  constexpr rank_file::Kind kKind = rank_file::kStartCeColl;
  Put(ring, kKind, position, 0, 4, tick, start.parent, Pack32(CommOf(start.context), static_cast<uint32_t>(coll.rank)));
  Put(ring, kKind, position, 1, 4, coll.sequence, coll.count, names);
  Put(ring, kKind, position, 2, 4, Pack32(static_cast<uint32_t>(coll.root), coll.ce_sequence),
      Pack32(coll.batch_size, coll.batches), coll.stream);
  Put(ring, kKind, position, 3, 4, coll.send_buffer, coll.receive_buffer, coll.user_tag);
  Commit<path>(ring, position, 4);
  return ring.HandleAt(position);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartCeSync(Producer& producer, Start start, bool is_complete, int32_t ranks) {
  return StartWithWord<path>(producer, rank_file::kStartCeSync, start, static_cast<uint32_t>(ranks), is_complete);
}

template <Path path>
[[gnu::always_inline]] inline uint64_t StartCeBatch(Producer& producer, Start start, int32_t operations, uint64_t bytes,
                                                    bool use_intra_sync) {
  return StartWithWord<path>(producer, rank_file::kStartCeBatch, start, static_cast<uint32_t>(operations), bytes,
                             use_intra_sync);
}

}  // namespace nccl_trace
