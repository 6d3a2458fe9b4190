#include "loopback/side_thread.h"

#include <unistd.h>

namespace loopback {

void SideThread::Stop() {
  if (!HasBegun()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  Wake();
  thread_.join();
}

void SideThread::Freeze() {
  if (!HasBegun()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  freeze_ = true;
  Wake();
  changed_.wait(lock, [this] { return frozen_; });
}

void SideThread::StayFrozen(std::unique_lock<std::mutex>& lock) {
  frozen_ = true;
  Wake();
  lock.unlock();
  while (true) pause();
}

}  // namespace loopback
