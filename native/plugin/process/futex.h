// Waits with a time limit, by the bare system call. The C library's condition variables would bind us to a newer version
// of it (see old_libc.h).

#pragma once

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "plugin/process/clock.h"

namespace nccl_trace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a bare word");

inline void WakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

/** Returns when `word` no longer holds `old` (true) or CLOCK_MONOTONIC has passed `deadline_ns` (false). */
inline bool WaitWhile(std::atomic<uint32_t>& word, uint32_t old, uint64_t deadline_ns) {
  for (;;) {
    // Partner: the release store of the thread that changes the word and calls WakeAll.
    if (word.load(std::memory_order_acquire) != old) return true;
    const uint64_t now = ReadClockNs(CLOCK_MONOTONIC);
    if (now >= deadline_ns) return false;
    const uint64_t left = deadline_ns - now;
    timespec timeout;
    timeout.tv_sec = static_cast<time_t>(left / 1'000'000'000u);
    timeout.tv_nsec = static_cast<long>(left % 1'000'000'000u);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, &timeout, nullptr, 0);
  }
}

inline uint64_t DeadlineIn(uint64_t milliseconds) { return ReadClockNs(CLOCK_MONOTONIC) + milliseconds * 1'000'000u; }

}  // namespace nccl_trace
