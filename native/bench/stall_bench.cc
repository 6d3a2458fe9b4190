// Tails and stalls of callbacks, with the rings in a file, in memory, and without recording.
//
//   stall_bench <plugin.so> <copy of it> <ring folder> <thousands of calls> [file]
//
// Two copies of the plugin record side by side in this process, one with its rings in NCCL_TRACE_RING_DIR=<ring folder>
// ("none": in the rank file in NCCL_TRACE_DIR), one in anonymous memory. The same loop also calls a function that only
// reads the tick and stores 32 bytes, once into a ring that caches hold and once into one that is as large as that of
// the steps by default. They take turns of 10,000 calls, so all see the same machine; the first of a turn are not
// counted, because the others have evicted their cache lines. With a file, another process writes a checkpoint there
// meanwhile, 64 MB and an fdatasync at a time. One JSON object:
//
//   median, p999  of all calls, ns
//   typical_p999  the median of the 99.9 percentiles of blocks of ten turns. If the machine is disturbed for a moment,
//                 few blocks have it
//   stalls        over 10 us, per million calls

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
#include "plugin/process/clock.h"

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

/** The function of the loop that does not record: reads the tick and stores 32 bytes into a ring of `slots` slots. */
template <uint64_t slots>
nccl_abi::Result Plain(void*, void** handle, Descriptor* descriptor) {
  alignas(64) static uint64_t ring[slots][4];
  static uint64_t position;
  uint64_t* slot = ring[position++ & (slots - 1)];
  slot[0] = nccl_trace::ReadCounter();
  slot[1] = slot[2] = reinterpret_cast<uint64_t>(descriptor->parentObj);
  slot[3] = static_cast<uint64_t>(descriptor->proxyStep.step);
  *handle = slot;
  return nccl_abi::kSuccess;
}
constexpr uint64_t kFewSlots = 1 << 16;   // 2 MiB
constexpr uint64_t kManySlots = 1 << 19;  // 16 MiB
constexpr Profiler kPlain = {"plain", nullptr, Plain<kFewSlots>, nullptr, nullptr, nullptr};
constexpr Profiler kPlainLarge = {"plain", nullptr, Plain<kManySlots>, nullptr, nullptr, nullptr};

[[noreturn]] void WriteCheckpoints(const char* path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char> piece(64 << 20, 'x');
  for (;;) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, piece.data(), piece.size()) < 0 || fdatasync(fd) != 0) _exit(1);
    close(fd);
  }
}

constexpr int kTurnCalls = 10'000;
constexpr int kNotCounted = 500;  // at the beginning of a turn, and
constexpr int kTouchBefore = 300;
constexpr int kBlockTurns = 10;

/** A histogram of ticks per call. A list would evict the caches that are measured. */
class Counts {
 public:
  explicit Counts(size_t most_ticks) : counts(most_ticks) {}

  void Add(uint64_t ticks) { ++counts[std::min<uint64_t>(ticks, counts.size() - 1)]; }
  /** Brings the often used counters into the cache, so that a miss there is not counted as part of the next call. */
  void Touch() const {
    for (size_t i = 0; i < kTouched; i += 16)
      __asm__ volatile("" : : "r"(static_cast<const volatile uint32_t&>(counts[i])));
  }
  void Clear() { std::fill(counts.begin(), counts.end(), 0); }

  /** In ticks. Interpolates between values that occur, because a counter may step by many ticks at once. */
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
  uint64_t From(double ticks) const {
    return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(ticks), counts.end(), uint64_t{0});
  }

 private:
  static constexpr size_t kTouched = 512;

  std::vector<uint32_t> counts;
};

struct Series {
  const char* name;
  Recorder recorder;
  Counts all = Counts(1 << 16);
  Counts block = Counts(1 << 16);
  std::vector<double> p999_of_blocks = {};

  void Add(uint64_t ticks) {
    all.Add(ticks);
    block.Add(ticks);
  }
  void Touch() const {
    all.Touch();
    block.Touch();
  }
  void EndBlock() {
    p999_of_blocks.push_back(block.At(0.999));
    block.Clear();
  }
  double TypicalP999() const {
    std::vector<double> sorted = p999_of_blocks;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? all.At(0.999) : sorted[sorted.size() / 2];
  }
};

void Print(const Series& series, double ns_per_tick, const char* end) {
  printf("{\"name\":\"%s\",\"median\":%.1f,\"p999\":%.1f,\"typical_p999\":%.1f,\"stalls\":%.2f}%s", series.name,
         series.all.At(0.5) * ns_per_tick, series.all.At(0.999) * ns_per_tick, series.TypicalP999() * ns_per_tick,
         static_cast<double>(series.all.From(10'000 / ns_per_tick)) * 1e6 / static_cast<double>(series.all.From(0)),
         end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int calls = atoi(argv[4]) * 1'000;
  setenv("NCCL_TRACE_RING_DIR", argv[3], 1);
  const Recorder in_file = Load(argv[1]);
  setenv("NCCL_TRACE_DIR", "/proc/nccl-trace", 1);  // no file can be made there, so the rings are in memory
  setenv("NCCL_TRACE_RING_DIR", "none", 1);
  const Recorder in_memory = Load(argv[2]);
  const pid_t writer = argc > 5 ? fork() : 0;
  if (argc > 5 && writer == 0) WriteCheckpoints(argv[5]);

  const uint64_t ns0 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t tick0 = nccl_trace::ReadCounter();
  Series series[] = {{"rings as asked", in_file},
                     {"rings in memory", in_memory},
                     {"not recorded", {&kPlain, nullptr, in_file.op}},
                     {"not recorded, 16 MiB", {&kPlainLarge, nullptr, in_file.op}}};
  constexpr size_t kSeries = sizeof(series) / sizeof(series[0]);
  for (Series& s : series) s.p999_of_blocks.reserve(static_cast<size_t>(calls / kTurnCalls / kBlockTurns + 1));
  // Once around all rings, so that all pages are present.
  for (uint64_t i = 0; i < kManySlots; ++i) {
    for (const Series& s : series) Call(s.recorder, static_cast<int>(i));
  }
  rusage before;
  getrusage(RUSAGE_THREAD, &before);
  const int turns = std::max(1, calls / kTurnCalls);
  for (int turn = 0; turn < turns; ++turn) {
    // The order matters to the caches, so each series comes first equally often.
    for (size_t k = 0; k < kSeries; ++k) {
      Series& s = series[(k + static_cast<uint32_t>(turn)) % kSeries];
      for (int i = -kNotCounted; i < kTurnCalls; ++i) {
        if (i == -kTouchBefore) s.Touch();
        const uint64_t begin = nccl_trace::ReadCounter();
        Call(s.recorder, i);
        const uint64_t ticks = nccl_trace::ReadCounter() - begin;
        if (i >= 0) s.Add(ticks);
      }
    }
    if (turn % kBlockTurns != kBlockTurns - 1) continue;
    for (Series& s : series) s.EndBlock();
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
  for (size_t i = 0; i < kSeries; ++i) Print(series[i], ns_per_tick, i + 1 < kSeries ? "," : "]}\n");
  in_file.table->finalize(in_file.context);
  in_memory.table->finalize(in_memory.context);
  return 0;
}
