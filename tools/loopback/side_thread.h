// A thread that waits for work beside the progress thread: the CUDA driver, NCCL and its network have such threads.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace loopback {

class SideThread {
 public:
  /** Lets the thread end what it has begun, and joins. A class that has its work calls it before it ends itself. */
  void Stop();
  /** Afterwards it makes no callback and moves nothing until the process ends. */
  void Freeze();

 protected:
  ~SideThread() = default;

  void Begin(std::function<void()> run) { thread_ = std::thread(std::move(run)); }
  bool HasBegun() const { return thread_.joinable(); }
  void Wake() { changed_.notify_all(); }
  /** The thread itself waits until `hasWork`, which is asked under `mutex_`. False: it is time to end. */
  template <typename HasWork>
  bool Await(std::unique_lock<std::mutex>& lock, const HasWork& hasWork) {
    changed_.wait(lock, [&] { return hasWork() || stop_ || freeze_; });
    if (freeze_) StayFrozen(lock);
    return hasWork();
  }

  std::mutex mutex_;
  bool stop_ = false;  // under mutex_

 private:
  [[noreturn]] void StayFrozen(std::unique_lock<std::mutex>& lock);

  std::condition_variable changed_;
  bool freeze_ = false;
  bool frozen_ = false;
  std::thread thread_;
};

}  // namespace loopback
