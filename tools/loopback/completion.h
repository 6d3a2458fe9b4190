// Counts kernels on the GPU and operations of the proxy that are under way. The API thread waits for zero.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace loopback {

class Completion {
 public:
  void Add(int n) {
    std::lock_guard<std::mutex> lock(mutex_);
    underWay_ += n;
  }

  /** The caller must not touch the finished task afterwards. */
  void Done() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--underWay_ == 0) zero_.notify_all();
  }

  /** False: after `timeout` something is still under way. */
  bool WaitFor(std::chrono::milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return zero_.wait_for(lock, timeout, [&] { return underWay_ == 0; });
  }

  /** Wakes the waiter early, because it must look at something else. */
  void Nudge() { zero_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  int underWay_ = 0;
};

}  // namespace loopback
