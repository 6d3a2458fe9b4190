// PXN: the progress thread of another rank on the same node executes the sends of a rank. The origin's GPU fills buffers
// that both processes see. The operation is copied with context and parent, which are pointers of the origin and mean
// nothing in the executor. Only the pid in it says so.
//
//   origin                                             executor
//   GPU ─▶ slots and counters in shared memory ◀─ progress thread ═══ network ═══▶
//   API thread ── operation ──▶ service thread ─▶ posted, among its own
//   service thread ◀── done ── progress thread
//
// Receives are never handed over, nor are sends to the executor itself.

#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loopback/completion.h"
#include "loopback/options.h"
#include "loopback/proxy_op.h"

namespace loopback {

class ProgressThread;

/** "R:P". Throws UsageError. */
void ParsePxn(const std::string& text, PxnOptions& options);

/** Memory of all connections that are handed over. 0: there is none. */
size_t PxnBytes(const Options& options);

/** One of the origin's operations, in the process that executes it. */
struct ForeignOp {
  uint64_t task;  // the origin's number
  uint64_t commId;
  OpTruth truth;
};

class Pxn : public OpOrigin {
 public:
  /** `memory` has PxnBytes. */
  Pxn(const Options& options, char* memory, Completion* completion);
  ~Pxn();

  bool isOrigin() const { return options_.pxn.origin == options_.rank; }
  bool isExecutor() const { return options_.pxn.executor == options_.rank; }

  /** At the origin: true if the executor sends over this connection. The connection then has shared memory. */
  bool HandsOver(const Comm& comm, const ConnectionKey& key) const;
  /** Both processes must add shared connections in the same order, which decides their memory. */
  Connection* AddSharedConnection(Comm& comm, const ConnectionKey& key);

  /** The origin's communicators in the executor, with the connections that it executes. */
  const std::vector<std::unique_ptr<Comm>>& foreignComms() const { return foreignComms_; }

  /** Takes the link between the two processes and closes it at the end. The executor needs its progress thread before. */
  void UseLink(int fd) { fd_ = fd; }
  void Begin(ProgressThread* progress);

  // Origin.
  void Post(const ProxyOp& op, const ConnectionKey& key);

  // Executor.
  void Done(OpTruth* truth) override;
  /** Those that are done. Each is returned once. */
  std::vector<ForeignOp> TakeFinished();
  /** All that are left. The progress thread must be frozen. */
  std::vector<ForeignOp> TakeAll();

 private:
  struct Message;

  void ReceiveDone();
  void ReceiveOps();
  void Accept(const Message& message);

  const Options& options_;
  char* const memory_;
  Completion* const completion_;
  ProgressThread* progress_ = nullptr;
  size_t nextConnection_ = 0;
  std::vector<std::unique_ptr<Comm>> foreignComms_;
  int fd_ = -1;
  std::thread service_;

  std::mutex mutex_;
  std::deque<std::unique_ptr<ForeignOp>> ops_;  // under mutex_
};

}  // namespace loopback
