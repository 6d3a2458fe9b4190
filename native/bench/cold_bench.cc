// The cost of a callback with cold caches: a progress thread moves data between two callbacks, which evicts what they
// need.
//
//   cold_bench <plugin.so> [rounds]      NCCL_TRACE_DIR and the other settings come from the environment
//
// Before each measured call bytes go through a socket of this process, there and back: none, 16 KiB, 256 KiB. The calls
// are those of a step's life, in their order, and in the same turns the references: two reads of the tick with nothing
// between (which is subtracted from the others), a tick with a plain store, a start of a pool with counted references.
// Printed: one JSON object; per size and call the mean of the middle half, in nanoseconds.

#include <dlfcn.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/references.h"
#include "nccl/profiler_abi.h"

namespace {

using nccl_abi::Descriptor;
using nccl_abi::Profiler;
using namespace nccl_trace_bench;

constexpr size_t kMostBytes = 256 << 10;

/** Data that goes through the kernel, as a progress thread's does. */
class Work {
 public:
  Work() {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) exit(1);
  }
  void Do(size_t bytes) {
    constexpr size_t kPiece = 16 << 10;  // what the socket takes without a reader
    for (size_t at = 0; at < bytes; at += kPiece) {
      if (write(ends_[0], &from_[at], kPiece) != kPiece || recv(ends_[1], &to_[at], kPiece, MSG_WAITALL) != kPiece)
        exit(1);
    }
  }

 private:
  int ends_[2];
  std::vector<char> from_ = std::vector<char>(kMostBytes, 'x');
  std::vector<char> to_ = std::vector<char>(kMostBytes);
};

struct Row {
  std::vector<double> ticks = {};
};

constexpr size_t kSizes[] = {0, 16 << 10, kMostBytes};
enum Rows { kNothing, kTickAndStore, kPool, kStart, kFirstState, kNextState, kStop, kRows };
constexpr const char* kNames[] = {"nothing",         "tick and store", "pool and references, start",
                                  "ProxyStep start", "first state",    "next state",
                                  "step stop"};

template <typename Call>
void Measure(Row& row, Work& work, size_t bytes, bool keep, const Call& call) {
  work.Do(bytes);
  const uint64_t before = nccl_trace::ReadCounter();
  call();
  const uint64_t ticks = nccl_trace::ReadCounter() - before;
  if (keep) row.ticks.push_back(static_cast<double>(ticks));
}

/** Between values of a counter that steps: the mean of the middle half. */
double MiddleMean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  const size_t from = values.size() / 4;
  const size_t to = values.size() - from;
  for (size_t i = from; i < to; ++i) sum += values[i];
  return sum / static_cast<double>(to - from);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rounds = argc > 2 ? atoi(argv[2]) : 20'000;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const Profiler* table = static_cast<const Profiler*>(dlsym(library, "ncclProfiler_v6"));
  void* context = nullptr;
  int mask = 0;
  table->init(&context, 1, &mask, "bench", 1, 2, 0, nullptr);
  if (context == nullptr) return 1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof(one), &one);

  Descriptor d;
  memset(static_cast<void*>(&d), 0, sizeof(d));
  d.type = nccl_abi::kProxyOp;
  void* op = nullptr;
  table->startEvent(context, &op, &d);
  const uint64_t ns0 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t tick0 = nccl_trace::ReadCounter();
  Work work;
  std::vector<std::vector<Row>> all;
  int step = 0;
  for (const size_t bytes : kSizes) {
    std::vector<Row> rows(kRows);
    for (int round = -100; round < rounds; ++round) {
      const bool keep = round >= 0;
      void* handle = nullptr;
      const auto measure = [&](Rows row, const auto& call) { Measure(rows[row], work, bytes, keep, call); };
      measure(kNothing, [] {});
      measure(kTickAndStore, [&] { TickAndStore(handle); });
      measure(kPool, [&] { PoolStart(handle); });
      PoolStop(handle);
      d.type = nccl_abi::kProxyStep;
      d.parentObj = op;
      d.proxyStep.step = step++;
      measure(kStart, [&] { table->startEvent(context, &handle, &d); });
      measure(kFirstState, [&] { table->recordEventState(handle, nccl_abi::kStepSendGpuWait, nullptr); });
      measure(kNextState, [&] { table->recordEventState(handle, nccl_abi::kStepSendPeerWait, nullptr); });
      measure(kStop, [&] { table->stopEvent(handle); });
    }
    all.push_back(rows);
  }
  const double ns_per_tick = static_cast<double>(nccl_trace::ReadClockNs(CLOCK_MONOTONIC) - ns0) /
                             static_cast<double>(nccl_trace::ReadCounter() - tick0);
  printf("{\"sizes\":[");
  for (size_t s = 0; s < all.size(); ++s) {
    printf("%s{\"kib\":%zu,\"calls\":[", s == 0 ? "" : ",", kSizes[s] >> 10);
    const double nothing = MiddleMean(all[s][kNothing].ticks);
    for (size_t row = kNothing + 1; row < kRows; ++row) {
      const double ns = (MiddleMean(all[s][row].ticks) - nothing) * ns_per_tick;
      printf("%s{\"name\":\"%s\",\"ns\":%.1f}", row == kNothing + 1 ? "" : ",", kNames[row], ns);
    }
    printf("]}");
  }
  puts("]}");
  table->finalize(context);
  return 0;
}
