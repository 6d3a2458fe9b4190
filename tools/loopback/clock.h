// The host's clock, and two ways to wait.

#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace loopback {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kMillisecond = 1000 * kMicrosecond;
constexpr int64_t kSecond = 1000 * kMillisecond;

/** CLOCK_MONOTONIC. Every time of the truth files is of this clock. */
inline int64_t MonotonicNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

/** CPU time that all threads of this process have used. */
inline int64_t ProcessCpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

inline timespec ToTimespec(int64_t ns) { return timespec{ns / kSecond, ns % kSecond}; }

inline void SleepNs(int64_t ns) {
  timespec t = ToTimespec(ns);
  nanosleep(&t, nullptr);
}

/**
 * The pause of a polling thread between two rounds. NCCL only yields. Here 8 ranks with 2 polling threads each share few
 * cores, so a thread without work sleeps after a while, and longer in a hang. With `spin` it polls as NCCL does.
 */
class Backoff {
 public:
  explicit Backoff(bool spin) : spin_(spin) {}

  void Progressed() { idleRounds_ = 0; }

  void Idle() {
    idleRounds_ += 1;
    if (spin_ || idleRounds_ < kYieldRounds) {
      sched_yield();
    } else {
      SleepNs(idleRounds_ < kNapRounds ? kNapNs : idleRounds_ < kLongNapRounds ? kLongNapNs : kHangNapNs);
    }
  }

 private:
  static constexpr int64_t kYieldRounds = 32;
  static constexpr int64_t kNapRounds = 200;       // some 10 ms
  static constexpr int64_t kLongNapRounds = 1000;  // 0.2 s more
  static constexpr int64_t kNapNs = 20 * kMicrosecond;
  static constexpr int64_t kLongNapNs = 200 * kMicrosecond;
  static constexpr int64_t kHangNapNs = kMillisecond;

  const bool spin_;
  int64_t idleRounds_ = 0;
};

}  // namespace loopback
