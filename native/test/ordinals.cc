// Ordinals and sampling: counts go on while events are muted, children of muted events are muted, and uncounted records
// are flagged.
//
//   ordinals <plugin.so> <folder> all         everything is recorded
//   ordinals <plugin.so> <folder> sampled     every fourth collective and transfer

#include "plugin/record/ordinals.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

Record At(const RankFileReader& file, uint64_t handle) {
  Record record;
  CHECK(file.Find(rank_file::HandleRing(handle), rank_file::HandlePosition(handle), record));
  return record;
}

struct Counted {
  uint32_t ordinal;
  uint16_t flags;
};
Counted OfColl(const RankFileReader& file, uint64_t handle) {
  const Record r = At(file, handle);
  CHECK_EQ(r.kind, rank_file::kStartColl);
  return {r.high(2, 1), static_cast<uint16_t>(r.w(2, 2) >> 16)};
}
Counted OfP2p(const RankFileReader& file, uint64_t handle) {
  const Record r = At(file, handle);
  CHECK_EQ(r.kind, rank_file::kStartP2p);
  return {r.high(2, 1), static_cast<uint16_t>(r.w(1, 2) >> 48)};
}
Counted OfOp(const RankFileReader& file, uint64_t handle) {
  const Record r = At(file, handle);
  CHECK_EQ(r.kind, rank_file::kStartProxyOp);
  return {r.low(1, 0), static_cast<uint16_t>(r.w(1, 2) >> 16)};
}
#define CHECK_COUNTED(counted, ordinal_, flags_) \
  do {                                           \
    const Counted c = (counted);                 \
    CHECK_EQ(c.ordinal, ordinal_);               \
    CHECK_EQ(c.flags, flags_);                   \
  } while (false)

bool IsMuted(uint64_t handle) { return (handle & rank_file::kHandleMuted) != 0; }

void Collectives(Nccl& nccl, void* context, const std::string& path) {
  const auto start = [&](void* comm, const char* func, uint64_t sequence) {
    Descriptor d = Coll(0, func, sequence);
    return nccl.Start(comm, d);
  };
  void* other = nccl.Init(2);
  const std::string copy_of_name = "AllReduce";  // another pointer, the same function

  const uint64_t first = start(context, "AllReduce", 5);
  const uint64_t replay1 = start(context, copy_of_name.c_str(), 5);
  const uint64_t replay2 = start(context, "AllReduce", 5);
  const uint64_t other_function = start(context, "AllGather", 5);
  const uint64_t other_comm = start(other, "AllReduce", 5);
  for (uint64_t sequence = 6; sequence < 69; ++sequence) start(context, "AllReduce", sequence);
  const uint64_t still_there = start(context, "AllReduce", 5);
  const uint64_t newest = start(context, "AllReduce", 69);
  const uint64_t evicted = start(context, "AllReduce", 5);
  const uint64_t evicted_again = start(context, "AllReduce", 5);
  const uint64_t garbage = start(reinterpret_cast<void*>(0x1234), "AllReduce", 1);
  nccl.Finalize(other);
  const uint64_t after_end = start(other, "AllReduce", 5);

  const RankFileReader file(path);
  CHECK_COUNTED(OfColl(file, first), 0, 0);
  CHECK_COUNTED(OfColl(file, replay1), 1, 0);
  CHECK_COUNTED(OfColl(file, replay2), 2, 0);
  CHECK_COUNTED(OfColl(file, other_function), 0, 0);
  CHECK_COUNTED(OfColl(file, other_comm), 0, 0);
  CHECK_COUNTED(OfColl(file, still_there), 3, 0);
  CHECK_COUNTED(OfColl(file, newest), 0, 0);
  CHECK_COUNTED(OfColl(file, evicted), 0, rank_file::kOrdinalNotAbsolute);
  CHECK_COUNTED(OfColl(file, evicted_again), 0, rank_file::kOrdinalNotAbsolute);
  CHECK_COUNTED(OfColl(file, garbage), 0, rank_file::kOrdinalNotAbsolute);
  CHECK_EQ(At(file, garbage).low(0, 2), rank_file::kCommForeign);
  CHECK_COUNTED(OfColl(file, after_end), 1, 0);
  CHECK_EQ(file.Live(rank_file::HandleRing(first)).ordinals_lost, 3);
}

void PeerToPeer(Nccl& nccl, void* context, const std::string& path) {
  const auto start = [&](const char* func, int peer) {
    Descriptor d = P2p(0, func, peer);
    return nccl.Start(context, d);
  };
  const uint64_t send0 = start("Send", 3);
  const uint64_t send1 = start("Send", 3);
  const uint64_t receive = start("Recv", 3);
  const uint64_t other_peer = start("Send", 0);
  const uint64_t no_such_peer = start("Send", 99);
  const uint64_t negative = start("Send", -1);
  const RankFileReader file(path);
  CHECK_COUNTED(OfP2p(file, send0), 0, 0);
  CHECK_COUNTED(OfP2p(file, send1), 1, 0);
  CHECK_COUNTED(OfP2p(file, receive), 0, 0);
  CHECK_COUNTED(OfP2p(file, other_peer), 0, 0);
  CHECK_COUNTED(OfP2p(file, no_such_peer), 0, rank_file::kOrdinalNotAbsolute);
  CHECK_COUNTED(OfP2p(file, negative), 0, rank_file::kOrdinalNotAbsolute);
}

void Connections(Nccl& nccl, void* context, const std::string& path) {
  std::thread([&] {
    const auto start = [&](void* comm, int channel, int peer, bool send) {
      Descriptor d = ProxyOp(0, channel, peer, send);
      return nccl.Start(comm, d);
    };
    void* foreign = reinterpret_cast<void*>(0xdead0000);
    std::vector<uint64_t> handles;
    for (int round = 0; round < 3; ++round) {
      for (int channel = 0; channel < 64; ++channel) {
        for (const bool send : {false, true}) {
          handles.push_back(start(context, channel, 1, send));
          handles.push_back(start(foreign, channel, 1, send));
        }
      }
    }
    const RankFileReader file(path);
    for (size_t i = 0; i < handles.size(); ++i) CHECK_COUNTED(OfOp(file, handles[i]), i / 256, 0);
    const uint64_t of_nobody = start(nullptr, 0, 1, true);
    CHECK_COUNTED(OfOp(RankFileReader(path), of_nobody), 0, rank_file::kOrdinalNotAbsolute);

    // More connections than the table holds: the late ones say that they are not counted, the early ones go on.
    for (int peer = 0; peer < 6'000; ++peer) start(context, 0, peer + 10, true);
    const RankFileReader full(path);
    const uint32_t ring = rank_file::HandleRing(handles[0]);
    const uint64_t lost = full.Live(ring).ordinals_lost;
    CHECK(lost > 1'000 && lost < 4'000);
    uint64_t flagged = 0;
    for (const Record& r : full.Records(ring)) {
      flagged += (r.w(1, 2) >> 16 & 0xFFFF) == rank_file::kOrdinalNotAbsolute;
    }
    CHECK_EQ(flagged, lost);
    const uint64_t early = start(context, 0, 1, true);
    CHECK_COUNTED(OfOp(RankFileReader(path), early), 3, 0);
  }).join();
}

/** PXN: the end of another process's communicator is never reported, and an operation of an ended one may come late. */
void Forgotten(Nccl& nccl, const std::string& path) {
  std::thread([&] {
    const auto start = [&](void* comm, int channel, int peer) {
      Descriptor d = ProxyOp(0, channel, peer, true);
      return nccl.Start(comm, d);
    };
    void* foreign = reinterpret_cast<void*>(0xdead0000);
    const uint64_t first = start(foreign, 0, 1);
    for (int channel = 1; channel < 64; ++channel) start(foreign, channel, 1);
    const uint64_t second = start(foreign, 0, 1);
    void* ended = nccl.Init(3);
    for (int peer = 0; peer < 5'000; ++peer) start(ended, 0, peer);
    nccl.Finalize(ended);
    void* next = nccl.Init(4);
    std::vector<uint64_t> of_next;
    for (int peer = 0; peer < 1'000; ++peer) of_next.push_back(start(next, 0, peer));
    // There is room again: a connection that was evicted is not counted from 0 as if it were new.
    const uint64_t of_foreign = start(foreign, 0, 1);
    const uint64_t of_ended = start(ended, 0, 1);
    nccl.Finalize(next);
    const RankFileReader file(path);
    CHECK_COUNTED(OfOp(file, first), 0, 0);
    CHECK_COUNTED(OfOp(file, second), 1, 0);
    for (const uint64_t handle : of_next) CHECK_COUNTED(OfOp(file, handle), 0, 0);
    CHECK_COUNTED(OfOp(file, of_foreign), 0, rank_file::kOrdinalNotAbsolute);
    CHECK_COUNTED(OfOp(file, of_ended), 0, rank_file::kOrdinalNotAbsolute);
  }).join();
}

/** Every ended communicator's connections make room for new ones. */
void ManyCommunicators(Nccl& nccl, const std::string& path) {
  std::thread([&] {
    uint32_t ring = 0;
    uint64_t lost_before = 0;
    for (int i = 0; i < 300; ++i) {
      void* context = nccl.Init(static_cast<uint64_t>(i));
      for (int peer = 0; peer < 100; ++peer) {
        Descriptor d = ProxyOp(0, 0, peer, true);
        ring = rank_file::HandleRing(nccl.Start(context, d));
        if (i == 0 && peer == 0) lost_before = RankFileReader(path).Live(ring).ordinals_lost;
      }
      nccl.Finalize(context);
    }
    CHECK_EQ(RankFileReader(path).Live(ring).ordinals_lost, lost_before);
  }).join();
}

void Sampling(Nccl& nccl, void* context, const std::string& path) {
  std::vector<uint64_t> kept;
  for (uint64_t sequence = 0; sequence < 64; ++sequence) {
    Descriptor d = Coll(0, "AllReduce", sequence);
    const uint64_t coll = nccl.Start(context, d);
    CHECK(coll != 0);
    CHECK_EQ(IsMuted(coll), sequence % 4 != 0);
    const uint64_t op = nccl.Start(context, d = ProxyOp(coll, 0, 1, true));
    const uint64_t step = nccl.Start(context, d = ProxyStep(op, 0));
    const uint64_t kernel = nccl.Start(context, d = Describe(nccl_abi::kKernelCh, coll));
    for (const uint64_t handle : {op, step, kernel}) CHECK_EQ(IsMuted(handle), IsMuted(coll));
    nccl.State(step, 8);
    nccl.Stop(step);
    nccl.Stop(op);
    nccl.Stop(kernel);
    nccl.Stop(coll);
    if (!IsMuted(op)) kept.push_back(op);
  }
  for (int i = 0; i < 16; ++i) {
    Descriptor d = P2p(0, "Send", 2);
    CHECK_EQ(IsMuted(nccl.Start(context, d)), i % 4 != 0);
  }
  // Sampled out by another process (PXN), as its handle says.
  const uint64_t elsewhere = rank_file::kHandleTagFixedBits | uint64_t{0x1234} << 48 | rank_file::kHandleMuted;
  Descriptor d = ProxyOp(elsewhere, 1, 1, true);
  CHECK(IsMuted(nccl.Start(reinterpret_cast<void*>(0xdead0000), d)));

  const RankFileReader file(path);
  CHECK_EQ(kept.size(), 16);
  for (size_t i = 0; i < kept.size(); ++i) CHECK_COUNTED(OfOp(file, kept[i]), i * 4, 0);
  uint64_t muted = 0;
  for (uint32_t ring = 0; ring < file.areas().size() && file.areas()[ring].area_class < 16; ++ring) {
    muted += file.Live(ring).muted;
  }
  CHECK_EQ(muted, 48 * 9 + 12 + 1);
  CHECK_EQ(file.header().sample_every, 4);
}

/** A graph that is replayed for weeks: the count goes on beyond 22 bits and wraps around at 32. */
void ManyReplays(Nccl& nccl, const std::string& path) {
  constexpr uint32_t kMore = (1 << 22) + 10;
  void* context = nccl.Init(5);
  uint64_t last = 0;
  for (uint32_t i = 0; i <= kMore; ++i) {
    Descriptor d = Coll(0, "AllReduce", 7);
    last = nccl.Start(context, d);
  }
  CHECK_COUNTED(OfColl(RankFileReader(path), last), kMore, 0);
  nccl.Finalize(context);

  using nccl_trace::FunctionRow;
  using nccl_trace::ReplayOrdinals;
  alignas(ReplayOrdinals) static uint64_t cells[sizeof(ReplayOrdinals) / sizeof(uint64_t)];  // zero: as after Reset
  auto& replays = *reinterpret_cast<ReplayOrdinals*>(cells);
  const auto next = [&](const char* name, uint64_t sequence) { return replays.Next(FunctionRow(name), sequence); };
  constexpr uint64_t kLate = (uint64_t{1} << 32) - 3;
  CHECK_EQ(next("AllReduce", kLate).value, 0);
  for (uint64_t& cell : cells) {
    if (cell != 0) cell |= 0xFFFFFFFE;
  }
  for (const uint32_t expected : {0xFFFFFFFFu, 0u, 1u}) {
    const nccl_trace::Ordinal ordinal = next("AllReduce", kLate);
    CHECK_EQ(ordinal.value, expected);
    CHECK_EQ(ordinal.flags, 0);
  }
  // The sequence wraps around as well: 61 is newer than 2^32 - 3 and takes its place, so that one is lost.
  CHECK_EQ(next("AllReduce", 61).flags, 0);
  CHECK_EQ(next("AllReduce", 61).value, 1);
  CHECK_EQ(next("AllReduce", kLate).flags, rank_file::kOrdinalNotAbsolute);
  CHECK_EQ(next("AllReduce", kLate).flags, rank_file::kOrdinalNotAbsolute);
  CHECK_EQ(next("AllReduce", 125).flags, 0);
  // All 8 bits of the function distinguish them, by place or in the cell.
  for (uint32_t row = 0; row < 256; ++row) {
    const bool has_own_place = row < 16;
    CHECK_EQ(replays.Next(row, 5).flags, has_own_place ? 0 : rank_file::kOrdinalNotAbsolute);
  }
}

/** NCCL's function names must not share a row, or they would evict each other. */
void Rows() {
  std::set<uint32_t> rows;
  int names = 0;
  for (const char* name : {"AllGather", "AllReduce", "AlltoAll", "Broadcast", "Gather", "Recv", "Reduce",
                           "ReduceScatter", "Scatter", "SendRecv", "Send", "AllGatherV"}) {
    rows.insert(nccl_trace::FunctionRow(name) & 15);
    ++names;
  }
  CHECK_EQ(rows.size(), names);
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[2];
  const bool sampled = std::string(argv[3]) == "sampled";
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "16", 1);
  setenv("RANK", "0", 1);
  if (sampled) setenv("NCCL_TRACE_SAMPLE", "4", 1);
  Nccl nccl(argv[1]);
  void* context = nccl.Init();
  const std::string path = folder + "/rank00000.bin";
  if (sampled) {
    std::thread([&] { Sampling(nccl, context, path); }).join();
  } else {
    Rows();
    Collectives(nccl, context, path);
    PeerToPeer(nccl, context, path);
    Connections(nccl, context, path);
    Forgotten(nccl, path);
    ManyCommunicators(nccl, path);
    ManyReplays(nccl, path);
  }
  nccl.Finalize(context);
  return Passed();
}
