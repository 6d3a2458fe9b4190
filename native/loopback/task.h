// One collective, or one Send or Recv, from the call to its end. The API thread owns it; GPU and progress thread write
// only what is marked as theirs, and the API thread reads that when both are done (Completion) or stopped (Freeze).

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_TASK_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_TASK_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "loopback/comm.h"
#include "loopback/plan.h"

namespace loopback {

/** What one ProxyOp did: one channel, one peer, one direction. Filled by the progress thread. */
struct OpTruth {
  int channel;
  int peer;
  bool isSend;
  int nSteps;
  uint32_t ordinal = 0;  // how many came before it with this communicator, channel, peer and direction
  int stepsDone = 0;
  uint64_t bytes = 0;  // on the wire, without our headers
  bool started = false;
  bool completed = false;
};

struct Task {
  // The call.
  uint64_t index;
  int iteration;
  Comm* comm;
  Func func;
  size_t bytes;  // of the buffer
  size_t count;  // elements, as given in the call
  int peer;      // Send, Recv; else the root, 0
  ProtoChoice protoChoice;
  float* buffer;
  int64_t startNs;

  // Sampled when called; rules this task for the rest of its life.
  int mask = 0;
  void* groupApiHandle = nullptr;
  void* apiHandle = nullptr;

  // Set when it is launched.
  Proto proto{};
  int nChannels = 0;
  uint64_t seqNumber = 0;
  void* eventHandle = nullptr;
  std::vector<OpTruth> ops;

  std::atomic<int64_t> endNs{0};  // the GPU thread's; 0: not done
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_TASK_H_
