// How even callbacks are: tails and stalls, with the rings in a file, in memory, and without recording.
//
//   stall_bench <plugin.so> <copy of it> <ring folder> <thousands of calls> [file]
//
// Two copies of the plugin record side by side in this process, one with its rings in NCCL_TRACE_RING_DIR=<ring folder>
// ("none": in the rank file in NCCL_TRACE_DIR), one in anonymous memory; and the same loop calls something that only reads
// the tick and stores 32 bytes. They take turns, so all three see the same machine. With a file, another process writes a checkpoint there meanwhile, 64 MB
// and an fdatasync at a time. One JSON object: medians, 99.9 percentiles and stalls over 10 us per million calls.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "nccl/profiler_abi.h"
#include "plugin/clock.h"

namespace {

using nccl_abi::Descriptor;
using nccl_abi::Profiler;

struct Recorder {
  const Profiler* table;
  void* context;
  void* op;
};

Recorder Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  Recorder recorder = {static_cast<const Profiler*>(dlsym(library, "ncclProfiler_v6")), nullptr, nullptr};
  int mask = 0;
  recorder.table->init(&recorder.context, 1, &mask, "bench", 1, 2, 0, nullptr);
  if (recorder.context == nullptr) exit(1);
  Descriptor d;
  memset(static_cast<void*>(&d), 0, sizeof(d));
  d.type = nccl_abi::kProxyOp;
  recorder.table->startEvent(recorder.context, &recorder.op, &d);
  return recorder;
}

void Call(const Recorder& recorder, int step) {
  Descriptor d;
  memset(static_cast<void*>(&d), 0, sizeof(d));
  d.type = nccl_abi::kProxyStep;
  d.parentObj = recorder.op;
  d.proxyStep.step = step;
  void* handle;
  recorder.table->startEvent(recorder.context, &handle, &d);
}

/** What the loop calls that does not record: reads the tick and stores 32 bytes. */
alignas(64) uint64_t plain_ring[1 << 16][4];
uint64_t plain_position;
nccl_abi::Result Plain(void*, void** handle, Descriptor* descriptor) {
  uint64_t* slot = plain_ring[plain_position++ & 0xFFFF];
  slot[0] = nccl_trace::ReadCounter();
  slot[1] = slot[2] = reinterpret_cast<uint64_t>(descriptor->parentObj);
  slot[3] = static_cast<uint64_t>(descriptor->proxyStep.step);
  *handle = slot;
  return nccl_abi::kSuccess;
}
constexpr Profiler kPlain = {"plain", nullptr, Plain, nullptr, nullptr, nullptr};

[[noreturn]] void WriteCheckpoints(const char* path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char> piece(64 << 20, 'x');
  for (;;) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, piece.data(), piece.size()) < 0 || fdatasync(fd) != 0) _exit(1);
    close(fd);
  }
}

/** How many calls took how many ticks. Counted, not listed: a list would evict what is measured. */
struct Series {
  const char* name;
  Recorder recorder;
  std::vector<uint32_t> counts = std::vector<uint32_t>(1 << 16);

  void Add(uint64_t ticks) { ++counts[std::min<uint64_t>(ticks, counts.size() - 1)]; }

  /** In ticks. A counter may step by many of its ticks at once: between two that occur, in proportion. */
  double At(double share) const {
    const double wanted = share * static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
    double below = 0;
    size_t last = 0;
    for (size_t ticks = 0; ticks < counts.size(); ++ticks) {
      if (counts[ticks] == 0) continue;
      const double count = counts[ticks];
      if (below + count >= wanted) {
        return static_cast<double>(last) + static_cast<double>(ticks - last) * (wanted - below) / count;
      }
      below += count;
      last = ticks;
    }
    return static_cast<double>(last);
  }
};

void Print(const Series& series, double ns_per_tick, double calls, const char* end) {
  const auto first_stall = series.counts.begin() + static_cast<std::ptrdiff_t>(10'000 / ns_per_tick);
  const double stalls = static_cast<double>(std::accumulate(first_stall, series.counts.end(), uint64_t{0}));
  printf("{\"name\":\"%s\",\"median\":%.1f,\"p999\":%.1f,\"stalls\":%.2f}%s", series.name, series.At(0.5) * ns_per_tick,
         series.At(0.999) * ns_per_tick, stalls * 1e6 / calls, end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int calls = atoi(argv[4]) * 1'000;
  setenv("NCCL_TRACE_RING_DIR", argv[3], 1);
  const Recorder in_file = Load(argv[1]);
  setenv("NCCL_TRACE_DIR", "/proc/nccl-trace", 1);  // where no file can be: memory
  setenv("NCCL_TRACE_RING_DIR", "none", 1);
  const Recorder in_memory = Load(argv[2]);
  const pid_t writer = argc > 5 ? fork() : 0;
  if (argc > 5 && writer == 0) WriteCheckpoints(argv[5]);

  const uint64_t ns0 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t tick0 = nccl_trace::ReadCounter();
  Series series[] = {
      {"rings as asked", in_file}, {"rings in memory", in_memory}, {"not recorded", {&kPlain, nullptr, in_file.op}}};
  // Who comes after whom matters to the caches: each comes first, second and third.
  constexpr size_t kOrders[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
  const int warm_up = std::max(calls / 10, 1 << 16);
  memset(plain_ring, 1, sizeof(plain_ring));
  rusage before = {};
  for (int i = -warm_up; i < calls; ++i) {
    if (i == 0) {
      getrusage(RUSAGE_THREAD, &before);
      for (Series& s : series) std::fill(s.counts.begin(), s.counts.end(), 0);
    }
    for (const size_t which : kOrders[static_cast<uint32_t>(i) % 3]) {
      Series& s = series[which];
      const uint64_t begin = nccl_trace::ReadCounter();
      Call(s.recorder, i);
      s.Add(nccl_trace::ReadCounter() - begin);
    }
  }
  rusage after;
  getrusage(RUSAGE_THREAD, &after);
  const double ns_per_tick = static_cast<double>(nccl_trace::ReadClockNs(CLOCK_MONOTONIC) - ns0) /
                             static_cast<double>(nccl_trace::ReadCounter() - tick0);
  if (writer > 0) {
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
  }
  printf("{\"calls\":%d,\"faults\":%ld,\"series\":[", calls,
         after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
  Print(series[0], ns_per_tick, calls, ",");
  Print(series[1], ns_per_tick, calls, ",");
  Print(series[2], ns_per_tick, calls, "]}\n");
  in_file.table->finalize(in_file.context);
  in_memory.table->finalize(in_memory.context);
  return 0;
}
