#include "loopback/net_helper.h"

#include <sys/prctl.h>

#include "loopback/thread_name.h"

namespace loopback {

void NetHelper::Posted() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    underWay_ += 1;
  }
  Wake();
}

void NetHelper::Run() {
  NameThread(threadName_);
  prctl(PR_SET_TIMERSLACK, 1);
  std::unique_lock<std::mutex> lock(mutex_);
  while (Await(lock, [this] { return underWay_ > 0 && !stop_; })) {
    lock.unlock();
    int finished = 0;
    bool moved = false;
    for (MovableRequests* socket : sockets_) finished += socket->Move(events_, &moved);
    moved ? backoff_.Progressed() : backoff_.Idle();
    lock.lock();
    underWay_ -= finished;
  }
}

}  // namespace loopback
