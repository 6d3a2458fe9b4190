// The helper threads of NCCL's socket network: one that sends and one that receives, for all connections of the
// process. The progress thread then only posts requests and asks whether they are done.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "loopback/clock.h"
#include "loopback/net_events.h"

namespace loopback {

/** A socket with requests to be moved. */
class MovableRequests {
 public:
  virtual ~MovableRequests() = default;
  /** Moves bytes as far as possible now. Returns the number of finished requests. `moved`: any byte was moved. */
  virtual int Move(NetEvents& events, bool* moved) = 0;
};

class NetHelper {
 public:
  NetHelper(const char* threadName, Profiler* profiler, const NetEventOptions& options, bool spin)
      : threadName_(threadName), events_(profiler, options), backoff_(spin) {}
  ~NetHelper() { Stop(); }

  /** Before Begin. */
  void Add(MovableRequests* socket) { sockets_.push_back(socket); }
  void Begin() {
    thread_ = std::thread([this] { Run(); });
  }
  /** Call it when one more request waits to be moved. */
  void Posted();
  /** No request may be under way. */
  void Stop();
  /** Afterwards it makes no call and moves nothing until the process ends. */
  void Freeze();

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();
  bool WaitForWork();

  const char* const threadName_;
  NetEvents events_;
  Backoff backoff_;
  std::vector<MovableRequests*> sockets_;

  std::mutex mutex_;
  std::condition_variable wake_;
  int underWay_ = 0;  // under mutex_
  bool stop_ = false;
  bool freeze_ = false;
  std::atomic<bool> frozen_{false};
  std::thread thread_;
};

}  // namespace loopback
