#include "loopback/host_stream.h"

#include <pthread.h>

namespace loopback {

void HostStream::Add(Item item) {
  std::lock_guard<std::mutex> lock(mutex_);
  items_.push_back(std::move(item));
  if (!HasBegun()) Begin([this] { Run(); });
  Wake();
}

bool HostStream::Busy() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !items_.empty();
}

void HostStream::Run() {
  pthread_setname_np(pthread_self(), "loopback cbk");
  std::unique_lock<std::mutex> lock(mutex_);
  while (Await(lock, [this] { return !items_.empty(); })) {
    Item& item = items_.front();  // a deque does not move it when items are added
    lock.unlock();
    Perform(item);
    lock.lock();
    items_.pop_front();
  }
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
