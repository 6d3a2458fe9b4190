// The GPU's own clock, as %globaltimer: set from the host's wall clock some time ago, then running freely.

#pragma once

#include <cstdint>

#include "loopback/clock.h"
#include "loopback/comm_spec.h"

namespace loopback {

/** globaltimer = (atOrigin + (monotonic - origin) · (1 + drift)), in whole ticks. */
class GpuClock {
 public:
  /** Differs from the wall clock by up to ±5 ms, depending on `seed`. */
  GpuClock(double driftPpm, int64_t tickNs, uint64_t seed) : driftPpm_(driftPpm), tickNs_(tickNs) {
    timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    originNs_ = MonotonicNs();
    const int64_t error = static_cast<int64_t>(Mix(seed, 0) % (10 * kMillisecond)) - 5 * kMillisecond;
    atOriginNs_ = wall.tv_sec * kSecond + wall.tv_nsec + error;
  }

  uint64_t Now() const {
    const int64_t elapsed = MonotonicNs() - originNs_;
    const int64_t time = atOriginNs_ + elapsed + static_cast<int64_t>(elapsed * driftPpm_ * 1e-6);
    return time / tickNs_ * tickNs_;
  }

  int64_t originNs() const { return originNs_; }
  int64_t atOriginNs() const { return atOriginNs_; }
  double driftPpm() const { return driftPpm_; }
  int64_t tickNs() const { return tickNs_; }

 private:
  const double driftPpm_;
  const int64_t tickNs_;
  int64_t originNs_;
  int64_t atOriginNs_;
};

}  // namespace loopback
