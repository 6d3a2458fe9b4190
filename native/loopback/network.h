// The network of a process: what all its sockets share, and the threads that move their bytes if there are any.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_NETWORK_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_NETWORK_H_

#include <memory>

#include "loopback/net.h"
#include "loopback/options.h"

namespace loopback {

class Network {
 public:
  Network(Profiler* profiler, const Options& options);

  std::unique_ptr<SendSocket> Sender(int fd);
  std::unique_ptr<RecvSocket> Receiver(int fd);

  /** When all sockets are made. */
  void Begin();
  /** When nothing is under way. */
  void Stop();
  void Freeze();
  /** From now on no byte leaves. */
  void CutSends() { rate_.Cut(); }

  /** Of the progress thread, and of the helper threads. */
  const CallCounts& counts() const { return events_.counts(); }
  const CallCounts& senderCounts() const { return sender_.counts(); }
  const CallCounts& receiverCounts() const { return receiver_.counts(); }

 private:
  const bool credits_;
  const bool threads_;
  RateLimit rate_;
  NetEvents events_;
  NetHelper sender_;
  NetHelper receiver_;
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_NETWORK_H_
