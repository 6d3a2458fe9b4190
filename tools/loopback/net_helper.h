// The helper threads of NCCL's socket network: one that sends and one that receives, for all connections of the
// process. The progress thread then only posts requests and asks whether they are done.

#pragma once

#include <vector>

#include "loopback/clock.h"
#include "loopback/net_events.h"
#include "loopback/side_thread.h"

namespace loopback {

/** A socket with requests to be moved. */
class MovableRequests {
 public:
  virtual ~MovableRequests() = default;
  /** Moves bytes as far as possible now. Returns the number of finished requests. `moved`: any byte was moved. */
  virtual int Move(NetEvents& events, bool* moved) = 0;
};

/** When it is stopped, no request may be under way. */
class NetHelper : public SideThread {
 public:
  NetHelper(const char* threadName, Profiler* profiler, const NetEventOptions& options, bool spin)
      : threadName_(threadName), events_(profiler, options), backoff_(spin) {}
  ~NetHelper() { Stop(); }

  /** Before Begin. */
  void Add(MovableRequests* socket) { sockets_.push_back(socket); }
  void Begin() {
    SideThread::Begin([this] { Run(); });
  }
  /** Call it when one more request waits to be moved. */
  void Posted();

  const CallCounts& counts() const { return events_.counts(); }

 private:
  void Run();

  const char* const threadName_;
  NetEvents events_;
  Backoff backoff_;
  std::vector<MovableRequests*> sockets_;
  int underWay_ = 0;  // under mutex_
};

}  // namespace loopback
