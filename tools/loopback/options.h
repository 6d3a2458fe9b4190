// The command line. The launcher and every rank parse the same one, so the launcher passes on nothing else.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "loopback/clock.h"
#include "loopback/comm_spec.h"
#include "loopback/fault.h"
#include "loopback/net_events.h"
#include "loopback/nodes.h"
#include "loopback/script.h"
#include "loopback/slowdown.h"

namespace loopback {

constexpr int kNever = -1;

/**
 * How a rank ends: after ncclCommDestroy, by exit() without it, or by _exit(). ncclCommDestroy may come too early: while
 * the last iteration is under way, or for the world while communicators that were split from it go on.
 */
enum class ExitStyle { kClean, kLeave, kAbrupt, kHasty, kParentFirst, kAbort };

/** A hang on request ends with ncclCommAbort on every rank, without a signal. */
constexpr int kAbortComms = 0;

/** What the others do when a rank has died: end, or go on without it in new communicators. */
enum class Recovery {
  kNone,
  kAbort,   // after ncclCommAbort of the old ones
  kShrink,  // the old ones stay as they are
};

/** `executor` executes the sends of `origin`. Both are ranks of the world. */
struct PxnOptions {
  int origin = kNever;
  int executor = kNever;
};

/** How data moves without the proxy. All but kNet start operations as receives and report nothing more. */
enum class Transport {
  kNet,
  kCollNet,  // collectives: switches reduce
  kMemcpy,   // P2P or SHM by copies
};

struct Options {
  int ranks = 2;
  int channels = 2;
  int iterations = 3;
  int settleMs = 0;
  Script script;
  ProtoChoice proto;
  AlgoChoice algo;
  std::vector<GroupSpec> groups;
  bool commNames = true;

  int abi = 6;        // the newest profiler version this NCCL knows
  int pluginAbi = 7;  // the newest table of the plugin that it looks for
  uint64_t userTag = 0;
  bool nonBlocking = false;
  int planTasks = 1 << 30;
  ExitStyle exit = ExitStyle::kClean;
  bool oneStream = false;     // all communicators of a rank launch into one stream
  bool connectAtUse = false;  // the first call that needs a connection waits for the ranks at its ends
  int peerChannels = 1;       // most channels of a send or receive
  int64_t jitterNs = 0;       // each rank calls late by any time up to this
  Nodes nodes;
  int podSize = 0;  // processes that have the same RANK; 0: each has its own

  bool credits = true;      // a receiver grants each send, as InfiniBand does; false: as sockets
  bool registered = false;  // AllGather, Send, Recv: the network uses the users' buffers
  int irecvBusy = 0;        // how often the network refuses each receive at first
  int64_t rateLimit = 0;    // bytes/s a rank may send; 0: no limit
  int64_t gpuTickNs = 32;
  uint64_t seed = 0;
  bool spin = false;

  NetEventOptions netEvents;
  Transport transport = Transport::kNet;
  bool abuse = false;
  PxnOptions pxn;
  bool copyEngine = false;
  bool symmetric = false;

  std::vector<Slowdown> slowdowns;
  std::vector<Fault> faults;
  int64_t timeoutNs = 60 * kSecond;
  int64_t hangNs = 2 * kSecond;
  int hangSignal = 9;
  Recovery recovery = Recovery::kNone;
  int64_t recoveryNs = 0;  // after the death

  std::string truthDir;
  bool quiet = false;
  bool json = false;
  bool help = false;

  // Set by the launcher for the processes it starts.
  int rank = kNever;
  int controlFd = kNever;
  int memoryFd = kNever;  // memory that all ranks share
  uint64_t runId = 0;
  std::set<int> gone;  // ranks without which the job went on
};

/** Throws UsageError. */
Options ParseOptions(int argc, char** argv);

extern const char kHelp[];

}  // namespace loopback
