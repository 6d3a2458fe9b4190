// One collective, Send or Recv, from the call to its end. The API thread owns it. GPU and progress thread write only the
// fields marked as theirs, and the API thread reads those when both are done (Completion) or frozen (Freeze).

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "loopback/comm.h"
#include "loopback/partition.h"
#include "loopback/windows.h"

namespace loopback {

/** What one ProxyOp did: one channel, one peer, one direction. The progress thread writes it. */
struct OpTruth {
  int channel;
  int peer;
  bool isSend;
  int nSteps;
  uint32_t ordinal = 0;  // number of earlier ones with this communicator, channel, peer and direction
  int stepsDone = 0;
  uint64_t bytes = 0;  // on the wire, without our headers
  bool started = false;
  bool completed = false;
  bool unreported = false;  // the profiler gets no events of it from the proxy
  int executor = -1;        // under PXN: the rank of the world that does it
};

/** A transfer from or into the user's memory. */
struct RegisteredStep {
  char* data;
  size_t bytes;
};
using RegisteredSteps = std::vector<RegisteredStep>;

/** A wrong element of a result. */
struct Mismatch {
  size_t index;
  float found;
  float expected;
};

/** Whether the task is in a CUDA graph. */
enum class GraphRole { kNone, kCaptured, kReplay };

/** A call and its partition. A graph's replay repeats it. */
struct Call {
  Comm* comm;
  Func func;
  size_t bytes;  // of the buffer
  size_t count;  // elements, as given in the call
  int peer;      // Send, Recv; else the root, or 0
  bool ofAllToAll;
  ProtoChoice protoChoice;
  AlgoChoice algoChoice;
  const char* datatype = "ncclFloat32";  // as reported to the profiler
  float* buffer;
  uint64_t salt;  // of the data: the same on all ranks that take part
  Engine engine = Engine::kKernel;
  bool collNet = false;
  bool registered = false;      // the network knows the buffer
  std::vector<Window> windows;  // unless a kernel does it: of all ranks of the communicator

  // Sampled when called; rules this task for the rest of its life.
  int mask = 0;
  void* groupApiHandle = nullptr;
  void* apiHandle = nullptr;

  /** NCCL reports only the call of it to the profiler, whatever the mask says. */
  bool unreported = false;
};

struct Task : Call {
  uint64_t index;
  int iteration;
  int64_t startNs;

  // Set when it is launched.
  bool announced = false;  // by Coll or P2p, if the mask has it
  Algo algo{};
  Proto proto{};
  int nChannels = 0;
  uint64_t seqNumber = 0;
  void* eventHandle = nullptr;
  std::vector<OpTruth> ops;
  std::deque<RegisteredSteps> registeredSteps;  // of each operation, whose address stays

  GraphRole graphRole = GraphRole::kNone;
  Task* captured = nullptr;          // of a replay
  uint64_t replay = 0;               // which one, from 0
  std::optional<Mismatch> mismatch;  // of a replay: found by the GPU thread

  // The GPU thread's: when its kernel began, and ended. 0: not yet.
  std::atomic<int64_t> begunNs{0};
  std::atomic<int64_t> endNs{0};
};

}  // namespace loopback
