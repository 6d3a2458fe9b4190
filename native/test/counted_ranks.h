// Ranks that count their calls in shared memory, and their saved rings.

#pragma once

#include <sys/mman.h>

#include <atomic>

#include "test/rank_processes.h"

namespace nccl_trace_test {

constexpr uint64_t kCalls = 1'000;

/** Memory shared with the ranks. */
struct Shared {
  std::atomic<uint64_t> calls[8];
  std::atomic<uint32_t> stage;
};
inline Shared* shared;

/** Call it before the first rank starts. */
inline void ShareCounts() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  shared = static_cast<Shared*>(memory);
}

[[noreturn]] inline void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

[[noreturn]] inline void Forever() {
  for (;;) pause();
}

inline void CallMany(Nccl& nccl, void* context, int rank, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    Descriptor d = Coll(0, "AllReduce", i);
    nccl.Start(context, d);
    shared->calls[rank].fetch_add(1, std::memory_order_release);
  }
}

/** Rank 1, which has a rank file and lives until it is killed. */
inline pid_t SpawnVictim() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 1, kCalls);
    Forever();
  });
  Await("calls", [] { return shared->calls[1] == kCalls; });
  Await("the rank file", [] { return CopiedTick(1) != 0; });
  return victim;
}

inline uint64_t CollsIn(const RankFileReader& file) {
  uint64_t starts = 0;
  for (const uint32_t ring : file.AreasOf(rank_file::kRingHost)) {
    for (const Record& record : file.Records(ring)) starts += record.kind == rank_file::kStartColl;
  }
  return starts;
}

/** A recorder without CPU time at its end leaves its ring file. The next recorder must remove it. */
inline void ExpectNothingLeft() {
  for (int tries = 0; tries < 20 && !NamesIn(base).empty(); ++tries) {
    AwaitExit(Spawn(8 + tries, [](Nccl& nccl, void* context) {
      Await("the others' are saved", [] { return NamesIn(rings).size() <= 1; });
      nccl.Finalize(context);
    }));
  }
  CHECK_EQ(NamesIn(base).size(), 0);
}

/** Checks the rings of a rank that neither finalized nor ran its exit hooks. */
inline void ExpectSaved(int rank, uint64_t calls) {
  const RankFileReader saved(SavedPath(rank));
  CHECK_EQ(CollsIn(saved), calls);
  CHECK_EQ(saved.header().life, rank_file::kRecording);
  CHECK_EQ(saved.header().placement, rank_file::kInFile);
  const RankFileReader file(RankPath(rank));
  CHECK_EQ(file.header().tag, saved.header().tag);
  CHECK_EQ(saved.size(), saved.header().chunks_offset);
  struct stat made;
  CHECK_EQ(stat(SavedPath(rank).c_str(), &made), 0);
  CHECK_EQ(made.st_mode & 0777, 0600);
}

}  // namespace nccl_trace_test
