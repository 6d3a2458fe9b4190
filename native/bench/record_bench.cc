// The cost of one callback, through the tables that NCCL calls, on one pinned thread.
//
//   record_bench <plugin.so> [rounds [version]]      NCCL_TRACE_DIR and the other settings come from the environment
//
// Every round runs one batch of 1000 calls of each case, of every version of the interface, so that all cases see the
// same machine. After each fifty calls the same loop runs with functions that do nothing. Printed: one JSON object; per
// case the medians over all rounds in nanoseconds per call, of the call without its loop and of the loop; where the
// kernel lets us count them, also instructions and mispredicted branches per call, without the loop's.

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "bench/callbacks.h"
#include "bench/event_counters.h"
#include "bench/references.h"

namespace {

using nccl_trace_bench::Callbacks;
using nccl_trace_bench::Case;
using nccl_trace_bench::EventCounters;
using nccl_trace_bench::EventCounts;
using nccl_trace_bench::kHandles;

constexpr int kPiecesPerBatch = 20;
constexpr double kCallsPerBatch = kHandles * kPiecesPerBatch;

uint64_t TicksOf(const std::function<void()>& run) {
  const uint64_t before = nccl_trace::ReadCounter();
  run();
  return nccl_trace::ReadCounter() - before;
}

void Batch(Case& c, double ns_per_tick, bool keep) {
  uint64_t ticks = 0;
  uint64_t loop_ticks = 0;
  for (int piece = 0; piece < kPiecesPerBatch; ++piece) {
    c.prepare();
    ticks += TicksOf(c.run);
    c.clean();
    c.record(false);
    loop_ticks += TicksOf(c.run);
    c.record(true);
  }
  if (!keep) return;
  c.ns.push_back(static_cast<double>(ticks) * ns_per_tick / kCallsPerBatch);
  c.loop_ns.push_back(static_cast<double>(loop_ticks) * ns_per_tick / kCallsPerBatch);
}

void CountEvents(Case& c, EventCounters& counters) {
  const auto count = [&](double sign) {
    counters.Begin();
    c.run();
    const EventCounts counts = counters.End();
    c.instructions += sign * static_cast<double>(counts.instructions) / kCallsPerBatch;
    c.branch_misses += sign * static_cast<double>(counts.branch_misses) / kCallsPerBatch;
  };
  for (int piece = 0; piece < kPiecesPerBatch; ++piece) {
    c.prepare();
    count(1);
    c.clean();
    c.record(false);
    count(-1);
    c.record(true);
  }
}

double MeasureNsPerTick() {
  const uint64_t ns0 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t tick0 = nccl_trace::ReadCounter();
  while (nccl_trace::ReadClockNs(CLOCK_MONOTONIC) - ns0 < 50'000'000) {
  }
  const uint64_t ns1 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  return static_cast<double>(ns1 - ns0) / static_cast<double>(nccl_trace::ReadCounter() - tick0);
}

/** All versions of the interface, or only one: other plugins see the communicators of one NCCL. */
template <int... versions>
class Interfaces {
 public:
  Interfaces(void* library, int only) { (Make<versions>(library, only), ...); }
  void AddCases(std::vector<Case>& cases) { (Add<versions>(cases), ...); }

 private:
  template <int version>
  auto& Of() {
    return std::get<std::unique_ptr<Callbacks<version>>>(all_);
  }
  template <int version>
  void Make(void* library, int only) {
    if (only == 0 || only == version) Of<version>() = std::make_unique<Callbacks<version>>(library);
  }
  template <int version>
  void Add(std::vector<Case>& cases) {
    if (Of<version>() == nullptr) return;
    Of<version>()->StartOperations();
    Of<version>()->AddCases(cases);
  }

  std::tuple<std::unique_ptr<Callbacks<versions>>...> all_;
};

void PinToThisCpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof(one), &one);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void Print(const Case& c, bool counted) {
  const double loop = Median(c.loop_ns);
  printf("{\"name\":\"%s\",\"version\":%d,\"ns\":%.2f,\"loop\":%.2f", c.name, c.version, Median(c.ns) - loop, loop);
  if (counted) printf(",\"instructions\":%.1f,\"branchMisses\":%.3f", c.instructions, c.branch_misses);
  printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: record_bench <plugin.so> [rounds]\n");
    return 2;
  }
  const int rounds = argc > 2 ? atoi(argv[2]) : 300;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const int only = argc > 3 ? atoi(argv[3]) : 0;
  Interfaces<1, 2, 3, 4, 5, 6, 7> interfaces(library, only);
  // After init, so that the recorder's thread keeps the other cores.
  PinToThisCpu();

  const double ns_per_tick = MeasureNsPerTick();
  std::vector<Case> cases;
  nccl_trace_bench::AddReferences(cases);
  interfaces.AddCases(cases);
  for (int round = -2; round < rounds; ++round) {
    for (Case& c : cases) Batch(c, ns_per_tick, round >= 0);
  }
  EventCounters counters;
  if (counters.work()) {
    for (Case& c : cases) CountEvents(c, counters);
  }

  printf("{\"rounds\":%d,\"cases\":[", rounds);
  for (size_t i = 0; i < cases.size(); ++i) {
    if (i != 0) printf(",\n");
    Print(cases[i], counters.work());
  }
  puts("]}");
  return 0;
}
