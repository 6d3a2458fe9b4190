// The network: messages over one TCP connection, sender to receiver, with the calls of NCCL's net interface (isend,
// irecv, test). Nothing blocks, and nothing moves but inside these calls.
//
//            header {bytes, step} payload  header payload …
//   sender  ────────────────────────────────────────────────▶  receiver
//           ◀────────────────────────────────────────────────
//                 one byte per posted receive: a credit
//
// With credits a send is refused until the receiver has posted, as on InfiniBand. NCCL then asks again and again, and
// reports "waiting for the peer" to the profiler each time. Without credits, as on NCCL's own sockets, a send is always
// accepted. If a peer dies, nothing completes any more, and the job hangs.
//
// The thread that tests a request moves its bytes, or a helper thread does (net_helper.h) and test only asks.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "loopback/net_helper.h"
#include "loopback/sizes.h"

namespace loopback {

/**
 * Limits the bytes per second that a process sends or receives while it has something to move. Idle time is not saved up,
 * as on a real line, so small messages take their time, too. Only the thread that moves bytes uses it. Any thread may cut
 * it.
 */
class RateLimit {
 public:
  /** `bytesPerSecond` 0: no limit. */
  explicit RateLimit(int64_t bytesPerSecond) : rate_(bytesPerSecond) {}
  bool isLimited() const { return rate_ != 0; }
  /** How many of the `wanted` bytes, which wait since `since`, may be moved now. */
  size_t Allow(size_t wanted, int64_t since);
  void Used(size_t bytes) { budget_ -= bytes; }
  /** Allows nothing until then (MonotonicNs). Any thread may call it. */
  void CutUntil(int64_t ns) { cutUntil_.store(ns, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> cutUntil_{0};
  const int64_t rate_;
  double budget_ = 0;
  int64_t filledAt_ = 0;
};

/** Comes before every message. Both sides count steps themselves, so a difference shows a bug at once. */
struct MessageHeader {
  uint32_t bytes;
  uint32_t step;
};

/** Counts of requests: posted by the progress thread, moved by it or a helper, done when the progress thread knows. */
struct RequestCounts {
  std::atomic<uint64_t> posted{0};
  std::atomic<uint64_t> moved{0};
  uint64_t done = 0;
};

/** One end of a connection. */
class Socket : public MovableRequests {
 public:
  int Move(NetEvents& events, bool* moved) override;

 protected:
  /** Without `helper` the caller of TestOldest moves the bytes, and `events` makes that thread's calls. */
  Socket(int fd, RateLimit* rate, NetEvents* events, NetHelper* helper)
      : fd_(fd), rate_(rate), events_(events), helper_(helper) {}

  bool TestOldest();
  /** True: it is complete. */
  virtual bool MoveOldest(NetEvents& events, bool* moved) = 0;
  const NetParent& ParentOf(const NetParent& parent);
  /** One more request. */
  void Posted();

  const int fd_;
  RateLimit* const rate_;
  NetEvents* const events_;
  NetHelper* const helper_;
  RequestCounts counts_;

 private:
  NetParent first_{};  // of the connection's first request
};

class SendSocket : public Socket {
 public:
  SendSocket(int fd, bool needsCredits, RateLimit* rate, NetEvents* events, NetHelper* helper)
      : Socket(fd, rate, events, helper), needsCredits_(needsCredits) {}

  /** isend. False: not accepted now, ask again. The data must stay until the send is done. */
  bool Post(const char* data, size_t bytes, uint64_t step, const NetParent& parent);
  /** test, for the oldest send. True once, when the kernel has all its bytes. */
  using Socket::TestOldest;

 private:
  struct Request {
    MessageHeader header;
    const char* data;
    size_t sent;       // of header and data together
    int64_t postedAt;  // ns; 0: there is no limit
    RequestEvents events;
  };

  bool TakeCredit();
  bool MoveOldest(NetEvents& events, bool* moved) override;
  size_t SendSome(Request& request, size_t most);

  const bool needsCredits_;
  int64_t credits_ = 0;
  std::array<Request, kSteps> requests_;
};

class RecvSocket : public Socket {
 public:
  RecvSocket(int fd, bool grantsCredits, RateLimit* rate, NetEvents* events, NetHelper* helper)
      : Socket(fd, rate, events, helper), grantsCredits_(grantsCredits) {}

  /** irecv. False: not accepted now. */
  bool Post(char* data, size_t capacity, uint64_t step, const NetParent& parent);
  /** test, for the oldest receive. True once, when its message is complete. It has `*bytes`. */
  bool TestOldest(size_t* bytes);

 private:
  struct Request {
    char* data;
    size_t capacity;
    uint64_t step;
    size_t bytes;  // known when it has been moved
    RequestEvents events;
  };

  bool MoveOldest(NetEvents& events, bool* moved) override;
  bool ReadInto(char* to, size_t size, size_t from);
  void CheckHeader(const Request& request) const;

  const bool grantsCredits_;
  std::array<Request, kSteps> requests_;
  MessageHeader header_;
  size_t got_ = 0;         // of the oldest message, header included
  int64_t arrivedAt_ = 0;  // ns: its header
};

}  // namespace loopback
