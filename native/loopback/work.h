// What one block of a kernel does: its part of a collective, or one side of a transfer, slice by slice. All blocks run
// on one thread, so a block never waits: it says that it cannot go on, and is asked again.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_WORK_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_WORK_H_

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
  /** At most one slice. */
  virtual Advance TryAdvance() = 0;
  /** Of a symmetric-memory kernel: 0 waits for all ranks, 1 computes, 2 waits again. */
  virtual int Phase() const { return 0; }
};

/** The GPU's end of a connection while one work uses it: waits for steps, hands them over. */
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
  /** Where a SIMPLE slice may be written in place. */
  float* Slot() const { return reinterpret_cast<float*>(connection_->Slot(proto_, step_)); }
  /** Puts the payload into the slot, unless it lies there, and offers it to the proxy. */
  void Post(const float* payload, size_t bytes, int steps);
  /** Offers what lies in the user's memory. */
  void PostRegistered(size_t bytes);
  /** The proxy has sent all that was posted. */
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
  /** Gives the slots back. */
  void Consume(int steps) {
    step_ += steps;
    connection_->head.store(step_, std::memory_order_release);
  }

 private:
  Connection* const connection_;
  const Proto proto_;
  uint64_t step_ = 0;
};

/** A slice's worth of memory for whichever work is running. GPU thread only. */
float* GpuScratch();

std::unique_ptr<Work> MakeRingWork(const Task& task, const CollPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeTreeWork(const Task& task, const CollPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeP2pWork(const Task& task, const P2pPartition& partition, const ChannelPart& part);
std::unique_ptr<Work> MakeSelfWork(const Task& send, const Task& recv, const ChannelPart& part);

std::unique_ptr<Work> MakeRegisteredWork(const RegisteredSteps* sends, Connection* out, const RegisteredSteps* recvs,
                                         Connection* in);

/** One side of an operation on the user's memory; `part` as partitioned for it. */
const RegisteredSteps* AddRegisteredSteps(Task& task, const ChannelPart& part, bool isSend);

/** A broadcast ends, and a reduction begins, where there is nothing to pass on. */
bool RingReceives(const Task& task);
bool RingSends(const Task& task);

/** The connections they use, for the proxy's side of the same operation, in NCCL's order. */
std::vector<Connection*> CollConnections(const Task& task, Algo algo, int channel);
Connection* RingConnection(const Comm& comm, int channel, bool isSend);
Connection* P2pConnection(const Task& task, int channel);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_WORK_H_
