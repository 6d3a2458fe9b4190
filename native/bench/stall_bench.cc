// How even callbacks are: tails and stalls, with the rings in a file, in memory, and without recording.
//
//   stall_bench <plugin.so> <copy of it> <ring folder> <thousands of calls> [file]
//
// Two copies of the plugin record side by side in this process, one with its rings in NCCL_TRACE_RING_DIR=<ring folder>
// ("none": in the rank file in NCCL_TRACE_DIR), one in anonymous memory; and a loop that only stores 32 bytes. Calls
// take turns, so all three see the same machine. With a file, another process writes a checkpoint there meanwhile, 64 MB
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

alignas(64) uint64_t plain_ring[1 << 16][4];
void Plain(int step) {
  uint64_t* slot = plain_ring[step & 0xFFFF];
  slot[0] = nccl_trace::ReadCounter();
  slot[1] = slot[2] = slot[3] = static_cast<uint64_t>(step);
  __asm__ volatile("" : : "r"(slot) : "memory");
}

[[noreturn]] void WriteCheckpoints(const char* path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char> piece(64 << 20, 'x');
  for (;;) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, piece.data(), piece.size()) < 0 || fdatasync(fd) != 0) _exit(1);
    close(fd);
  }
}

struct Series {
  const char* name;
  std::vector<uint32_t> ticks = {};
};

void Print(Series& series, double ns_per_tick, const char* end) {
  std::sort(series.ticks.begin(), series.ticks.end());
  const auto at = [&](double share) {
    return series.ticks[static_cast<size_t>(share * static_cast<double>(series.ticks.size() - 1))] * ns_per_tick;
  };
  const auto stalls = static_cast<double>(
      series.ticks.end() - std::lower_bound(series.ticks.begin(), series.ticks.end(), 10'000 / ns_per_tick));
  printf("{\"name\":\"%s\",\"median\":%.1f,\"p999\":%.1f,\"stalls\":%.2f}%s", series.name, at(0.5), at(0.999),
         stalls * 1e6 / static_cast<double>(series.ticks.size()), end);
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
  Series series[] = {{"rings as asked"}, {"rings in memory"}, {"not recorded"}};
  for (Series& s : series) s.ticks.assign(static_cast<size_t>(calls), 0);
  const int warm_up = std::max(calls / 10, 1 << 16);
  memset(plain_ring, 1, sizeof(plain_ring));
  rusage before = {};
  for (int i = -warm_up; i < calls; ++i) {
    if (i == 0) getrusage(RUSAGE_THREAD, &before);
    const uint64_t a = nccl_trace::ReadCounter();
    Call(in_file, i);
    const uint64_t b = nccl_trace::ReadCounter();
    Call(in_memory, i);
    const uint64_t c = nccl_trace::ReadCounter();
    Plain(i);
    const uint64_t d = nccl_trace::ReadCounter();
    if (i < 0) continue;
    const auto n = static_cast<size_t>(i);
    series[0].ticks[n] = static_cast<uint32_t>(std::min<uint64_t>(b - a, UINT32_MAX));
    series[1].ticks[n] = static_cast<uint32_t>(std::min<uint64_t>(c - b, UINT32_MAX));
    series[2].ticks[n] = static_cast<uint32_t>(std::min<uint64_t>(d - c, UINT32_MAX));
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
  Print(series[0], ns_per_tick, ",");
  Print(series[1], ns_per_tick, ",");
  Print(series[2], ns_per_tick, "]}\n");
  in_file.table->finalize(in_file.context);
  in_memory.table->finalize(in_memory.context);
  return 0;
}
