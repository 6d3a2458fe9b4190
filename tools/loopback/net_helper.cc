#include "loopback/net_helper.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "loopback/thread_name.h"

namespace loopback {

void NetHelper::Posted() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    underWay_ += 1;
  }
  wake_.notify_one();
}

void NetHelper::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void NetHelper::Freeze() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    freeze_ = true;
  }
  wake_.notify_one();
  while (!frozen_.load(std::memory_order_acquire)) SleepNs(100 * kMicrosecond);
}

void NetHelper::Run() {
  NameThread(threadName_);
  prctl(PR_SET_TIMERSLACK, 1);
  while (WaitForWork()) {
    int finished = 0;
    bool moved = false;
    for (MovableRequests* socket : sockets_) finished += socket->Move(events_, &moved);
    if (finished > 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      underWay_ -= finished;
    }
    moved ? backoff_.Progressed() : backoff_.Idle();
  }
}

/** False: time to end. */
bool NetHelper::WaitForWork() {
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait(lock, [&] { return underWay_ > 0 || stop_ || freeze_; });
  if (freeze_) {
    lock.unlock();
    frozen_.store(true, std::memory_order_release);  // with acquire in Freeze(): all we wrote is older
    while (true) pause();
  }
  return !stop_;
}

}  // namespace loopback
