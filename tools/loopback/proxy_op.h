// The proxy's work. The API thread posts a ProxyOp: one channel, peer and direction of a task (or the watching of one
// kernel block). The progress thread makes it a sub of a ProxyArgs. Send and Recv operations of one kernel on shared
// connections are subs of the same ProxyArgs and end together.
//
// A sub's counters count buffer slots from the operation's beginning:
//
//   send   done ≤ transmitted ≤ posted ≤ nsteps      offered to the GPU, handed to the network, completed
//   recv   done ≤ transmitted ≤ received ≤ posted    asked of the network, arrived, shown to the GPU, used by it

#pragma once

#include <sys/types.h>

#include <array>
#include <vector>

#include "loopback/net_events.h"
#include "loopback/task.h"

namespace loopback {

enum class ProxyKind { kRecv, kSend, kProfiler };

/** The numbers of an operation for the profiler. Under PXN another process has made them. */
struct OpProfile {
  int mask;
  void* context;
  void* parent;
  pid_t pid;
  int rank;
  bool unreported;  // Task::unreported
};

/** The origin of an operation of another process. */
class OpOrigin {
 public:
  virtual ~OpOrigin() = default;
  /** It has ended. */
  virtual void Done(OpTruth* truth) = 0;
};

struct ProxyOp {
  ProxyKind kind;
  Task* task;  // not of another process
  Comm* comm;
  OpProfile profile;       // when it is posted
  OpTruth* truth;          // not for kProfiler
  Connection* connection;  // not for kProfiler
  int channel;
  int rawSteps;
  int chunkSteps;
  int sliceSteps;
  size_t chunkBytes;
  Proto proto;
  uint64_t opCount;                             // operations with the same one may share a ProxyArgs
  uint64_t workCounter;                         // kProfiler: the mark to watch for
  bool symmetric;                               // kProfiler: among those of symmetric-memory kernels
  bool endless = false;                         // not by network: it starts and reports nothing more
  const RegisteredSteps* registered = nullptr;  // instead of slots
  OpOrigin* origin = nullptr;                   // another process, which waits
};

struct ProxySub {
  ProxyOp op;
  uint64_t base;  // the connection's step at which this operation begins
  int posted;
  int received;
  int transmitted;
  int done;
  int refusals;  // left, of the next receive
  // The plugin's handles. NCCL reuses this memory without clearing it.
  void* opHandle = nullptr;
  void* kernelHandle = nullptr;
  std::array<StepHandle, kSteps> stepHandles{};
  size_t transSize = 0;    // of the step that set it last
  size_t transferred = 0;  // by the operation so far
};

enum class ProxyState { kReady, kProgress, kNone };

struct ProxyArgs {
  static constexpr int kMaxSubs = 64;

  ProxyKind kind;
  ProxyState state;
  std::array<ProxySub, kMaxSubs> subs;
  int nSubs;
  int nDone;
  bool idle;
  uint64_t opCount;

  ProxyArgs* next;      // in the active list
  ProxyArgs* nextPeer;  // waits behind this one
  ProxyArgs** append;   // where the last of that queue is remembered
};

}  // namespace loopback
