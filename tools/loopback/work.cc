#include "loopback/work.h"

#include <cstring>
#include <vector>

#include "loopback/fatal.h"
#include "loopback/wire.h"

namespace loopback {

void GpuSender::Post(const float* payload, size_t bytes, int steps) {
  char* const slot = connection_->Slot(proto_, step_);
  if (proto_ != Proto::kSimple) {
    EncodeLines(proto_, slot, reinterpret_cast<const char*>(payload), bytes, step_);
  } else if (payload != reinterpret_cast<const float*>(slot)) {
    memcpy(slot, payload, bytes);
  }
  const int32_t wireBytes = WireBytes(proto_, bytes);
  connection_->sizes[step_ % kSteps].store(wireBytes, std::memory_order_release);
  step_ += steps;
  connection_->tail.store(step_, std::memory_order_release);
}

void GpuSender::PostRegistered(size_t bytes) {
  connection_->sizes[step_ % kSteps].store(static_cast<int32_t>(bytes), std::memory_order_release);
  step_ += 1;
  connection_->tail.store(step_, std::memory_order_release);
}

const float* GpuReceiver::Payload(size_t bytes, float* scratch) const {
  const char* const slot = connection_->Slot(proto_, step_);
  if (proto_ == Proto::kSimple) return reinterpret_cast<const float*>(slot);
  if (!DecodeLines(proto_, reinterpret_cast<char*>(scratch), slot, bytes, step_)) {
    Fatal(kExitWrongData, "stale %s line in step %lu from rank %d on channel %d", ProtoName(proto_),
          static_cast<unsigned long>(step_), connection_->peer, connection_->channel);
  }
  return scratch;
}

float* GpuScratch() {
  static std::vector<float> scratch(2 * SlotPayload(Proto::kLl128) / sizeof(float));
  return scratch.data();
}

Connection* RingConnection(const Comm& comm, int channel, bool isSend) {
  return comm.Find({isSend ? comm.ringNext() : comm.ringPrev(), channel, isSend, false});
}

std::vector<Connection*> CollConnections(const Task& task, Algo algo, int channel) {
  const Comm& comm = *task.comm;
  std::vector<Connection*> connections;
  if (algo == Algo::kRing) {
    if (RingReceives(task)) connections.push_back(RingConnection(comm, channel, false));
    if (RingSends(task)) connections.push_back(RingConnection(comm, channel, true));
    return connections;
  }
  const Tree& tree = comm.tree(channel);
  const auto add = [&](int peer, bool isSend) { connections.push_back(comm.Find({peer, channel, isSend, false})); };
  const bool isRoot = tree.up == Tree::kNobody;
  for (int down : tree.down) add(down, false);
  if (!isRoot) add(tree.up, true);
  for (int down : tree.down) add(down, true);
  if (!isRoot) add(tree.up, false);
  return connections;
}

Connection* P2pConnection(const Task& task, int channel) {
  return task.comm->Find({task.peer, channel, task.func == Func::kSend, true});
}

}  // namespace loopback
