// Repeats become counts without loss: records, kFold records and open fold entries add up to the number of callbacks.
//
//   folding <plugin.so> <folder>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

using Key = std::pair<uint64_t, uint32_t>;  // handle, state

struct Fixture {
  Nccl& nccl;
  void* context;
  std::string path;

  RankFileReader Read() const { return RankFileReader(path); }
  uint64_t Op() const {
    static int channel = 0;
    Descriptor d = ProxyOp(0, channel++ & 63, 2, true);
    return nccl.Start(context, d);
  }
  uint64_t Step(uint64_t op, int step) const {
    Descriptor d = ProxyStep(op, step);
    return nccl.Start(context, d);
  }
};

/** The records that name this handle, in order. */
std::vector<Record> Of(const RankFileReader& file, uint64_t handle) {
  std::vector<Record> found;
  for (Record& record : file.Records(rank_file::HandleRing(handle))) {
    const bool is_start = rank_file::HandlePosition(handle) == record.position;
    if (is_start || (record.kind >= rank_file::kState && record.handle() == handle)) found.push_back(record);
  }
  return found;
}

OpenFold OpenFoldOf(const RankFileReader& file, uint64_t handle) {
  for (const OpenFold& fold : file.OpenFolds(rank_file::HandleRing(handle))) {
    if (fold.handle == handle) return fold;
  }
  return {};
}

/** How often each state was reported, by the file. */
std::map<Key, uint64_t> Counted(const RankFileReader& file, uint32_t ring) {
  std::map<Key, uint64_t> counted;
  for (const Record& record : file.Records(ring)) {
    if (record.kind == rank_file::kState) ++counted[{record.handle(), record.w(0, 2) & 0xFFFF}];
    if (record.kind == rank_file::kFold) counted[{record.handle(), record.low(0, 2)}] += record.w(1, 1);
  }
  for (const OpenFold& fold : file.OpenFolds(ring)) counted[{fold.handle, fold.state}] += fold.count;
  return counted;
}

void CheckKinds(const std::vector<Record>& records, std::initializer_list<uint32_t> kinds) {
  CHECK_EQ(records.size(), kinds.size());
  size_t i = 0;
  for (const uint32_t kind : kinds) CHECK_EQ(records[i++].kind, kind);
}

// A peer that does not come for a while:  start 8 20 20 20 ... 9 stop
void ALongWait(const Fixture& f) {
  const uint64_t step = f.Step(f.Op(), 0);
  f.nccl.State(step, 8);
  for (int i = 0; i < 100'000; ++i) f.nccl.State(step, 20, static_cast<uint64_t>(i));  // leftovers in transSize

  const RankFileReader waiting = f.Read();
  CheckKinds(Of(waiting, step), {rank_file::kStartProxyStep, rank_file::kState, rank_file::kState});
  CHECK_EQ(OpenFoldOf(waiting, step).count, 99'999);
  CHECK_EQ(OpenFoldOf(waiting, step).state, 20);
  CHECK(OpenFoldOf(waiting, step).last_tick > Of(waiting, step)[2].tick());
  CHECK_EQ(waiting.Live(rank_file::HandleRing(step)).folded, 99'999);

  f.nccl.State(step, 9, 4096);
  f.nccl.Stop(step);
  const RankFileReader over = f.Read();
  const std::vector<Record> records = Of(over, step);
  CheckKinds(records, {rank_file::kStartProxyStep, rank_file::kState, rank_file::kState, rank_file::kFold,
                       rank_file::kState, rank_file::kStop});
  CHECK_EQ(records[3].low(0, 2), 20);
  CHECK_EQ(records[3].w(1, 0), OpenFoldOf(waiting, step).last_tick);
  CHECK_EQ(records[3].w(1, 1), 99'999);
  CHECK_EQ(OpenFoldOf(over, step).count, 0);
}

// The same state with another size is recorded.
void AnotherValue(const Fixture& f) {
  const uint64_t step = f.Step(f.Op(), 0);
  for (const uint64_t size : {10u, 10u, 11u, 10u}) f.nccl.State(step, 9, size);
  const RankFileReader file = f.Read();
  const std::vector<Record> records = Of(file, step);
  CheckKinds(records,
             {rank_file::kStartProxyStep, rank_file::kState, rank_file::kFold, rank_file::kState, rank_file::kState});
  CHECK_EQ(records[3].w(0, 2) >> 16, 11);
}

// More handles than entries: entries are reused, no count is lost.
void Evictions(const Fixture& f) {
  std::vector<uint64_t> steps;
  for (int i = 0; i < 1'500; ++i) steps.push_back(f.Step(f.Op(), 0));
  std::map<Key, uint64_t> said;
  for (int round = 0; round < 12; ++round) {
    for (const uint64_t step : steps) {
      for (int i = 0; i < 1 + round % 3; ++i, ++said[{step, 20}]) f.nccl.State(step, 20);
    }
  }
  const RankFileReader file = f.Read();
  const uint32_t ring = rank_file::HandleRing(steps[0]);
  std::map<Key, uint64_t> counted = Counted(file, ring);
  for (const auto& [key, count] : said) CHECK_EQ(counted[key], count);
  for (const uint64_t step : steps) f.nccl.Stop(step);
  CHECK(f.Read().OpenFolds(ring).empty());
}

// 64 stuck sends, as many as NCCL polls in one round: the cache must hold all of them, or every poll is a record.
void ManyStuck(const Fixture& f) {
  std::vector<uint64_t> steps;
  for (int i = 0; i < 64; ++i) steps.push_back(f.Step(f.Op(), 0));
  const uint32_t ring = rank_file::HandleRing(steps[0]);
  for (int round = 0; round < 1'000; ++round) {
    for (const uint64_t step : steps) f.nccl.State(step, 20);
  }
  const uint64_t before = f.Read().Live(ring).head;
  for (int round = 0; round < 1'000; ++round) {
    for (const uint64_t step : steps) f.nccl.State(step, 20);
  }
  CHECK_EQ(f.Read().Live(ring).head, before);
  for (const uint64_t step : steps) f.nccl.Stop(step);
}

// Registered buffers: the receive step is started at each poll.
void RepeatedStarts(const Fixture& f) {
  const uint64_t op = f.Op();
  const uint64_t other_op = f.Op();
  const uint64_t first = f.Step(op, 0);
  for (int i = 0; i < 5'000; ++i) {
    CHECK_EQ(f.Step(op, 0), first);
    if (i == 0) CHECK(f.Step(other_op, 0) != first);
  }
  const RankFileReader waiting = f.Read();
  CHECK_EQ(OpenFoldOf(waiting, first).count, 5'000);
  CHECK_EQ(OpenFoldOf(waiting, first).state, rank_file::kFoldStateStart);

  f.nccl.State(first, 10);
  const uint64_t second = f.Step(op, 1);
  CHECK(second != first);
  f.nccl.Stop(first);
  f.nccl.Stop(second);
  CHECK(f.Step(op, 1) != second);  // it was stopped: a new one
  f.nccl.Stop(op);

  const RankFileReader file = f.Read();
  const std::vector<Record> records = Of(file, first);
  CheckKinds(records, {rank_file::kStartProxyStep, rank_file::kFold, rank_file::kState, rank_file::kStop});
  CHECK_EQ(records[1].low(0, 2), rank_file::kFoldOfStart);
  CHECK_EQ(records[1].w(1, 1), 5'000);

  // Without an operation two steps cannot be distinguished.
  CHECK(f.Step(0, 0) != f.Step(0, 0));
}

// 2^32 polls take over an hour, so the test sets the entry just below, in the ring's file.
void TheCounterIsFull(const Fixture& f) {
  const uint64_t step = f.Step(f.Op(), 0);
  f.nccl.State(step, 20);
  f.nccl.State(step, 20);
  const int fd = open(f.path.c_str(), O_RDWR);
  const RankFileReader file = f.Read();
  void* base = mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(base != MAP_FAILED);
  const rank_file::AreaEntry& area = file.areas()[rank_file::HandleRing(step)];
  auto* folds = reinterpret_cast<rank_file::Fold*>(static_cast<char*>(base) + area.folds_offset);
  auto* entry = std::find_if(folds, folds + area.fold_capacity, [&](auto& fold) { return fold.handle == step; });
  CHECK(entry != folds + area.fold_capacity);
  entry->control |= 0xFFFFFFFF;
  f.nccl.State(step, 20);
  munmap(base, file.size());
  close(fd);

  const RankFileReader after = f.Read();
  CheckKinds(Of(after, step), {rank_file::kStartProxyStep, rank_file::kState, rank_file::kFold});
  CHECK_EQ(Of(after, step)[2].w(1, 1), 0xFFFFFFFF);
  CHECK_EQ(OpenFoldOf(after, step).count, 1);
  CHECK_EQ(OpenFoldOf(after, step).state, 20);
}

uint64_t Ctrl(const Fixture& f, std::initializer_list<int> states) {
  Descriptor d = Describe(nccl_abi::kProxyCtrl);
  const uint64_t handle = f.nccl.Start(f.context, d);
  for (const int state : states) f.nccl.State(handle, state);
  f.nccl.Stop(handle);
  return handle;
}

// idle active idle active ... sleep ... : edges are counted, events with a duration are recorded.
void ProxyEdges(const Fixture& f) {
  const uint64_t idle = Ctrl(f, {13});
  const uint32_t ring = rank_file::HandleRing(idle);
  const uint64_t before = f.Read().Records(ring).size();
  for (int i = 0; i < 10'000; ++i) {
    Ctrl(f, {14});
    Ctrl(f, {13});
  }
  Ctrl(f, {15, 16});
  Ctrl(f, {17, 18});
  Ctrl(f, {14});
  usleep(1'000);
  Ctrl(f, {13});

  const RankFileReader file = f.Read();
  std::map<Key, uint64_t> counted = Counted(file, ring);
  std::map<uint32_t, uint64_t> by_state;
  for (const auto& [key, count] : counted) {
    if (key.second >= 13 && key.second <= 18) by_state[key.second] += count;
  }
  CHECK_EQ(by_state[13], 10'002);
  CHECK_EQ(by_state[14], 10'001);
  for (const uint32_t state : {15u, 16u, 17u, 18u}) CHECK_EQ(by_state[state], 1);
  // If the test is preempted, there are new bursts of a few records each. A recorded edge would be three.
  const size_t records = file.Records(ring).size() - before;
  CHECK(records >= 14 && records < 10'000);
  // Every state and stop has its start.
  for (const Record& record : file.Records(ring)) {
    if (record.kind != rank_file::kState && record.kind != rank_file::kStop) continue;
    Record start;
    CHECK(file.Find(ring, rank_file::HandlePosition(record.handle()), start));
    CHECK(start.kind == rank_file::kStartProxyCtrl || start.kind == rank_file::kStartProxyOp);
  }
}

// States of a handle that no ProxyCtrl got are no anchor: the next start gets a handle of its own.
void EdgesOfOthers(const Fixture& f) {
  usleep(1'000);
  for (const uint64_t other : {uint64_t{0x7fff12345678}, f.Op()}) {
    f.nccl.State(other, 13);
    const uint64_t handle = Ctrl(f, {14});
    CHECK(handle != other);
    Record start;
    CHECK(f.Read().Find(rank_file::HandleRing(handle), rank_file::HandlePosition(handle), start));
    CHECK_EQ(start.kind, rank_file::kStartProxyCtrl);
    usleep(1'000);
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[2];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  setenv("RANK", "0", 1);
  Nccl nccl(argv[1]);
  const Fixture f = {nccl, nccl.Init(), folder + "/rank00000.bin"};
  f.Op();  // this thread is a proxy
  ALongWait(f);
  AnotherValue(f);
  Evictions(f);
  ManyStuck(f);
  RepeatedStarts(f);
  TheCounterIsFull(f);
  ProxyEdges(f);
  EdgesOfOthers(f);
  nccl.Finalize(f.context);
  return Passed();
}
