// The network of a process: the state that all its sockets share, and the threads that move their bytes, if any.

#pragma once

#include <memory>

#include "loopback/net.h"
#include "loopback/options.h"

namespace loopback {

class Network {
 public:
  Network(Profiler* profiler, const Options& options);

  /** `peer`: rank of the world. */
  std::unique_ptr<SendSocket> Sender(int fd, int peer, int channel);
  std::unique_ptr<RecvSocket> Receiver(int fd);

  /** Call it when all sockets are made. */
  void Begin();
  /** Call it when nothing is under way. */
  void Stop();
  void Freeze();
  /** No byte leaves until then (MonotonicNs). */
  void CutSends(int64_t until) {
    rate_.CutUntil(until);
    linkRate_.CutUntil(until);
    channelRate_.CutUntil(until);
  }

  /** Of the progress thread, and of the helper threads. */
  const CallCounts& counts() const { return events_.counts(); }
  const CallCounts& senderCounts() const { return sender_.counts(); }
  const CallCounts& receiverCounts() const { return receiver_.counts(); }

 private:
  const bool credits_;
  const bool threads_;
  const int next_;  // rank of the world
  const bool slowLink_;
  const bool slowChannel_;
  RateLimit rate_;
  RateLimit linkRate_;     // of what goes to the next rank, if that is slow
  RateLimit channelRate_;  // on channel 0
  RateLimit recvRate_;
  NetEvents events_;
  NetHelper sender_;
  NetHelper receiver_;
};

}  // namespace loopback
