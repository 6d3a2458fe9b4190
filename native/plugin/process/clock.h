// The recorder's time: raw ticks. It records samples that relate ticks to the time of day; the reader converts ticks to
// nanoseconds.
//
// Only this header and clock.cc depend on the processor. A tick comes from
//   x86-64    the invariant TSC            } when the kernel itself keeps time by it: it checked that all cores agree
//   aarch64   cntvct_el0                   }
//   else      CLOCK_MONOTONIC, in nanoseconds

#pragma once

#include <stdint.h>
#include <time.h>

#include "format/rank_file.h"

namespace nccl_trace {

#if defined(__x86_64__)
constexpr rank_file::TickSource kCounterSource = rank_file::kTickTsc;
constexpr const char* kKernelNameOfCounter = "tsc";
// Not serialising: instructions around it may run before or after. The error is below the counter's resolution.
inline uint64_t ReadCounter() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
constexpr rank_file::TickSource kCounterSource = rank_file::kTickCntvct;
constexpr const char* kKernelNameOfCounter = "arch_sys_counter";
inline uint64_t ReadCounter() {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
constexpr rank_file::TickSource kCounterSource = rank_file::kTickMonotonic;
constexpr const char* kKernelNameOfCounter = "";
inline uint64_t ReadCounter() { return 0; }  // never chosen
#endif

inline uint64_t ReadClockNs(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t ReadTick(uint32_t source) {
  if (__builtin_expect(source == kCounterSource, 1)) return ReadCounter();
  return ReadClockNs(CLOCK_MONOTONIC);
}

/** One reading of all clocks. Each of the three times was read within half a `bracket` of `tick`. */
struct ClockSample {
  uint64_t tick;       // the middle of the bracket
  uint64_t bracket;    // ticks from before the first to after the last clock read
  uint64_t realtime;   // ns
  uint64_t monotonic;  // ns
  uint64_t boottime;   // ns
};

/** The tightest of `tries` readings. A preemption during a reading makes it wide. */
ClockSample SampleClocks(uint32_t source, int tries);

/** Reads sysfs. If there is no /sys (in a container), the counter is not trusted. */
uint32_t ChooseTickSource();

/** Ticks per second, exact to some ppm. `earlier` should be some milliseconds before `later`. */
uint64_t MeasureTickHz(uint32_t source, const ClockSample& earlier, const ClockSample& later);

}  // namespace nccl_trace
