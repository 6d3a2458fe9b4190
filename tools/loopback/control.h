// Messages between the launcher and a rank's process, over a socket pair that keeps their boundaries.
//
//   rank ──▶ launcher   kHello (port) · kBarrier · kStuck · kResult (how far it is) · kDumped · kNodeDown
//   launcher ──▶ rank   kPeers (all ports) · kGo (barrier reached) · kDump (write down everything, the end is near) ·
//                       kRecover (a rank has died: go on without it)
//
// A rank that reads end-of-file has lost its launcher and ends itself.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace loopback {

enum class MessageType : uint32_t {
  kHello,
  kPeers,
  kBarrier,
  kGo,
  kStuck,
  kResult,
  kDump,
  kDumped,
  kNodeDown,
  kRecover
};

/** What a rank has done so far. Sent after each iteration, so that the launcher knows it also if the rank dies. */
struct RankResult {
  uint64_t iterations;
  uint64_t collectives;
  uint64_t p2ps;
  uint64_t bytes;      // of user data, all operations
  uint64_t verified;   // operations whose data was checked and right
  uint64_t wrong;      // operations whose data was not
  uint64_t callbacks;  // calls of startEvent, stopEvent and recordEventState
  uint64_t workNs;     // from the first iteration's begin to the last one's end
  uint64_t workCpuNs;  // CPU time of all threads meanwhile
  int32_t pluginVersion;
  char plugin[60];
};

struct Message {
  MessageType type;
  union {
    uint16_t port;      // kHello
    RankResult result;  // kResult
    int32_t rank;       // kRecover: the dead one
  };
};

/** One end. Keeps message boundaries. Only Receive without a time limit blocks. */
class Control {
 public:
  explicit Control(int fd) : fd_(fd) {}
  int fd() const { return fd_; }

  bool Send(const Message& message) const;
  bool Send(MessageType type) const;
  /** Waits up to `timeoutNs` (negative: for ever). Returns nothing if the time is over, or if `closed` is set. */
  std::optional<Message> Receive(int64_t timeoutNs, bool* closed) const;

  /** kPeers is the only message of variable length. */
  bool SendPeers(const std::vector<uint16_t>& ports) const;
  std::vector<uint16_t> ReceivePeers(int ranks) const;

 private:
  int fd_;
};

}  // namespace loopback
