#include "plugin/process/clock.h"

#include <string.h>

#include "plugin/process/small_file.h"

namespace nccl_trace {
namespace {

/** For samples: no instruction may move across the reading. */
uint64_t ReadTickInOrder(uint32_t source) {
  if (source != kCounterSource) return ReadClockNs(CLOCK_MONOTONIC);
#if defined(__x86_64__)
  __builtin_ia32_lfence();
  const uint64_t tick = ReadCounter();
  __builtin_ia32_lfence();
  return tick;
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
  const uint64_t tick = ReadCounter();
  __asm__ volatile("isb" ::: "memory");
  return tick;
#else
  return ReadCounter();
#endif
}

/** The frequency that the processor declares, or 0. */
uint64_t DeclaredHz() {
#if defined(__aarch64__)
  uint64_t hz;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
#else
  return 0;
#endif
}

}  // namespace

ClockSample SampleClocks(uint32_t source, int tries) {
  ClockSample best = {};
  best.bracket = ~uint64_t{0};
  for (int i = 0; i < tries; ++i) {
    ClockSample sample;
    const uint64_t before = ReadTickInOrder(source);
    sample.realtime = ReadClockNs(CLOCK_REALTIME);
    sample.monotonic = ReadClockNs(CLOCK_MONOTONIC);
    sample.boottime = ReadClockNs(CLOCK_BOOTTIME);
    const uint64_t after = ReadTickInOrder(source);
    sample.bracket = after - before;
    sample.tick = before + sample.bracket / 2;
    if (sample.bracket < best.bracket) best = sample;
  }
  return best;
}

uint32_t ChooseTickSource() {
  char name[64];
  if (!ReadSmallFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof(name))) {
    return rank_file::kTickMonotonic;
  }
  name[strcspn(name, "\n")] = '\0';
  return strcmp(name, kKernelNameOfCounter) == 0 ? kCounterSource : rank_file::kTickMonotonic;
}

uint64_t MeasureTickHz(uint32_t source, const ClockSample& earlier, const ClockSample& later) {
  if (source == rank_file::kTickMonotonic) return 1'000'000'000u;
  if (const uint64_t declared = DeclaredHz()) return declared;
  const uint64_t ns = later.monotonic - earlier.monotonic;
  if (ns == 0) return 1'000'000'000u;
  const double hz = static_cast<double>(later.tick - earlier.tick) * 1e9 / static_cast<double>(ns);
  return static_cast<uint64_t>(hz + 0.5);
}

}  // namespace nccl_trace
