// The work of one block of a kernel: its part of a collective, or one side of a transfer, slice by slice. All blocks run
// on one thread, so a block never waits. It returns that it cannot go on, and is called again.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loopback/connection.h"
#include "loopback/partition.h"
#include "loopback/task.h"

namespace loopback {

enum class Advance { kBlocked, kProgressed, kDone };

class Work {
 public:
  virtual ~Work() = default;
  /** Does at most one slice. */
  virtual Advance TryAdvance() = 0;
  /** Phase of a symmetric-memory kernel: 0 waits for all ranks, 1 computes, 2 waits again. */
  virtual int Phase() const { return 0; }
};

/** The GPU's sending end of a connection while a work uses it: waits for free steps, fills them. */
class GpuSender {
 public:
  GpuSender(Connection* connection, Proto proto) : connection_(connection), proto_(proto) {}
  void Begin(int chunkSteps) { step_ = RoundUp(connection_->gpuStep, chunkSteps); }
  void End() { connection_->gpuStep = step_; }

  bool HasRoom(int steps) const {
    // Signed, because a shared connection's head begins below zero.
    const int64_t room = connection_->head.load(std::memory_order_acquire) + kSteps - (step_ + steps);
    return room >= 0;
  }
  /** A SIMPLE slice may be written here directly. */
  float* Slot() const { return reinterpret_cast<float*>(connection_->Slot(proto_, step_)); }
  /** Copies the payload into the slot, unless it is there, and offers it to the proxy. */
  void Post(const float* payload, size_t bytes, int steps);
  /** Offers data in the user's memory. */
  void PostRegistered(size_t bytes);
  /** True if the proxy has sent everything that was posted. */
  bool AllTaken() const {
    return connection_->sizes[(step_ - 1) % kSteps].load(std::memory_order_acquire) == Connection::kEmpty;
  }

 private:
  Connection* const connection_;
  const Proto proto_;
  uint64_t step_ = 0;
};

class GpuReceiver {
 public:
  GpuReceiver(Connection* connection, Proto proto) : connection_(connection), proto_(proto) {}
  void Begin(int chunkSteps) {
    step_ = RoundUp(connection_->gpuStep, chunkSteps);
    connection_->head.store(step_, std::memory_order_release);  // the credits of steps rounded over
  }
  /** Also tells the proxy that the user's memory may be written. */
  void BeginRegistered() {
    Begin(1);
    connection_->sizes[step_ % kSteps].store(Connection::kBegun, std::memory_order_release);
  }
  void End() { connection_->gpuStep = step_; }

  bool HasData(int steps) const { return connection_->tail.load(std::memory_order_acquire) >= step_ + steps; }
  /** The payload: in the slot itself, or decoded into `scratch`. */
  const float* Payload(size_t bytes, float* scratch) const;
  /** Frees the slots. */
  void Consume(int steps) {
    step_ += steps;
    connection_->head.store(step_, std::memory_order_release);
  }

 private:
  Connection* const connection_;
  const Proto proto_;
  uint64_t step_ = 0;
};

/** Memory for one slice, shared by all works. GPU thread only. */
float* GpuScratch();

std::unique_ptr<Work> MakeRingWork(const Task& task, const CollPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeTreeWork(const Task& task, const CollPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeP2pWork(const Task& task, const P2pPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeSelfWork(const Task& send, const Task& recv, const ChannelPart& part);

std::unique_ptr<Work> MakeRegisteredWork(const RegisteredSteps* sends, Connection* out, const RegisteredSteps* recvs,
                                         Connection* in);

/** One side of an operation on the user's memory. `part`: its part of the partition. */
const RegisteredSteps* AddRegisteredSteps(Task& task, const ChannelPart& part, bool isSend);

/** With a root the ring is a chain: its first rank receives nothing, its last rank sends nothing. */
bool RingReceives(const Task& task);
bool RingSends(const Task& task);

/** The connections of a collective on one channel, for the proxy's operations, in NCCL's order. */
std::vector<Connection*> CollConnections(const Task& task, Algo algo, int channel);
Connection* RingConnection(const Comm& comm, int channel, bool isSend);
Connection* P2pConnection(const Task& task, int channel);

}  // namespace loopback
