#include "loopback/host_stream.h"

#include <pthread.h>
#include <unistd.h>

namespace loopback {

void HostStream::Add(Item item) {
  std::lock_guard<std::mutex> lock(mutex_);
  items_.push_back(std::move(item));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
}

bool HostStream::Busy() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !items_.empty();
}

void HostStream::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostStream::Freeze() {
  if (!thread_.joinable()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  freeze_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return frozen_; });
}

void HostStream::Run() {
  pthread_setname_np(pthread_self(), "loopback cbk");
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !items_.empty() || stop_ || freeze_; });
    if (freeze_) break;
    if (items_.empty()) return;
    Item& item = items_.front();  // a deque does not move it when items are added
    lock.unlock();
    Perform(item);
    lock.lock();
    items_.pop_front();
  }
  frozen_ = true;
  changed_.notify_all();
  lock.unlock();
  while (true) pause();
}

void HostStream::Perform(Item& item) {
  if (item.announced) {
    item.plan.TakeOldHandles();
    events_.StartTasks(item.plan);
    progress_->Post(std::move(item.schedule.proxyOps));
    events_.StopTasks(item.plan);
    item.plan.LeaveHandles();
  }
  gpu_->Launch(std::move(item.schedule.kernel));
}

}  // namespace loopback
