#include "loopback/pxn.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "loopback/fatal.h"
#include "loopback/parse.h"
#include "loopback/progress.h"
#include "loopback/thread_name.h"

namespace loopback {
namespace {

std::vector<std::unique_ptr<Comm>> CommsOfOrigin(const Options& options) {
  std::vector<std::unique_ptr<Comm>> comms;
  const int origin = options.pxn.origin;
  for (const CommSpec& spec : CommsOf(origin, options.ranks, options.groups, options.runId)) {
    comms.push_back(
        std::make_unique<Comm>(spec, origin, options.nodes, ChannelLimits{options.channels, options.peerChannels}));
  }
  return comms;
}

/** All of it or nothing. */
bool ReceiveAll(int fd, void* to, size_t size) { return recv(fd, to, size, MSG_WAITALL) == static_cast<ssize_t>(size); }

/** Ignores errors: if the other process is gone, it does not wait for this. */
void SendAll(int fd, const void* from, size_t size) {
  if (send(fd, from, size, MSG_NOSIGNAL) < 0) return;
}

}  // namespace

/** An operation as the origin posts it. Its pointers are valid only there. */
struct Pxn::Message {
  ProxyOp op;
  ConnectionKey key;
  ForeignOp foreign;
};

void ParsePxn(const std::string& text, PxnOptions& options) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.size() != 2) throw UsageError("--pxn wants R:P, not '" + text + "'");
  options.origin = ParseInt(parts[0], 0, INT32_MAX, "--pxn");
  options.executor = ParseInt(parts[1], 0, INT32_MAX, "--pxn");
  if (options.origin == options.executor) throw UsageError("--pxn: a rank executes its own sends anyway");
}

size_t PxnBytes(const Options& options) {
  if (options.pxn.origin == kNever) return 0;
  size_t connections = 0;
  for (const auto& comm : CommsOfOrigin(options)) {
    connections += comm->NeededConnections(options.script, options.proto, options.algo).size();
  }
  return connections * Connection::kSharedBytes;
}

Pxn::Pxn(const Options& options, char* memory, Completion* completion)
    : options_(options), memory_(memory), completion_(completion) {
  if (isExecutor()) foreignComms_ = CommsOfOrigin(options);
}

Pxn::~Pxn() {
  if (!service_.joinable()) return;
  shutdown(fd_, SHUT_RDWR);
  service_.join();
  close(fd_);
}

bool Pxn::HandsOver(const Comm& comm, const ConnectionKey& key) const {
  return key.isSend && comm.spec.worldRanks[key.peer] != options_.pxn.executor;
}

Connection* Pxn::AddSharedConnection(Comm& comm, const ConnectionKey& key) {
  return comm.AddConnection(key, memory_ + nextConnection_++ * Connection::kSharedBytes);
}

void Pxn::Begin(ProgressThread* progress) {
  progress_ = progress;
  if (isOrigin()) service_ = std::thread([this] { ReceiveDone(); });
  if (isExecutor()) service_ = std::thread([this] { ReceiveOps(); });
}

void Pxn::Post(const ProxyOp& op, const ConnectionKey& key) {
  op.truth->executor = options_.pxn.executor;
  const Message message{op, key, {op.task->index, op.comm->spec.id, *op.truth}};
  SendAll(fd_, &message, sizeof message);
}

void Pxn::ReceiveDone() {
  NameThread("NCCL Service 0");
  char done;
  while (ReceiveAll(fd_, &done, sizeof done)) completion_->Done();
}

void Pxn::ReceiveOps() {
  NameThread("NCCL Service 0");
  Message message;
  while (ReceiveAll(fd_, &message, sizeof message)) Accept(message);
}

void Pxn::Accept(const Message& message) {
  ProxyOp op = message.op;
  auto comm = std::find_if(foreignComms_.begin(), foreignComms_.end(),
                           [&](const auto& c) { return c->spec.id == message.foreign.commId; });
  op.task = nullptr;
  op.comm = comm->get();
  op.connection = op.comm->Find(message.key);
  op.origin = this;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ops_.push_back(std::make_unique<ForeignOp>(message.foreign));
    op.truth = &ops_.back()->truth;
  }
  progress_->Post({op});
}

/** Runs on the progress thread. */
void Pxn::Done(OpTruth* truth) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    truth->completed = true;
  }
  const char done = 1;
  SendAll(fd_, &done, sizeof done);
}

std::vector<ForeignOp> Pxn::TakeFinished() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ForeignOp> finished;
  while (!ops_.empty() && ops_.front()->truth.completed) {
    finished.push_back(*ops_.front());
    ops_.pop_front();
  }
  return finished;
}

std::vector<ForeignOp> Pxn::TakeAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ForeignOp> all;
  for (const auto& op : ops_) all.push_back(*op);
  ops_.clear();
  return all;
}

}  // namespace loopback
