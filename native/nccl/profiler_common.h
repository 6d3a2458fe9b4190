// What v1 to v4 and v7 have in common: the table, and members with the same place in all of them.
//
// As profiler_abi.h: facts, every offset asserted by the header that places the member. Included by profiler_v*.h.

#pragma once

#include "nccl/profiler_abi.h"

namespace nccl_abi {

/** The table of 48 bytes. Versions differ in how init is called and in what the pointers point to. */
template <typename Init, typename Descriptor, typename StateArgs>
struct Table {
  const char* name;
  Init init;
  Result (*startEvent)(void* context, void** eHandle, Descriptor* descriptor);
  Result (*stopEvent)(void* eHandle);
  Result (*recordEventState)(void* eHandle, EventState state, StateArgs* args);
  Result (*finalize)(void* context);
};

/** v1 to v3: init does not describe the communicator. */
using InitWithoutInfo = Result (*)(void** context, int* eActivationMask);

/** v4: the hash comes fourth. */
using InitHashFourth = Result (*)(void** context, int* eActivationMask, const char* commName, uint64_t commHash,
                                  int nNodes, int nRanks, int rank, Logger logger);

/** v5 and later: the hash comes second. */
using InitHashSecond = Result (*)(void** context, uint64_t commId, int* eActivationMask, const char* commName,
                                  int nNodes, int nRanks, int rank, Logger logger);

// Members that start at byte 24 of every version that has them.
struct ProxyOpMember {
  pid_t pid;
  uint8_t channelId;
  int32_t peer;
  int32_t nSteps;
  int32_t chunkSize;
  int32_t isSend;
};
static_assert(sizeof(ProxyOpMember) == 24, "ABI");
static_assert(offsetof(ProxyOpMember, pid) == 0 && offsetof(ProxyOpMember, channelId) == 4, "ABI");
static_assert(offsetof(ProxyOpMember, peer) == 8 && offsetof(ProxyOpMember, nSteps) == 12, "ABI");
static_assert(offsetof(ProxyOpMember, chunkSize) == 16 && offsetof(ProxyOpMember, isSend) == 20, "ABI");

struct ProxyStepMember {
  int32_t step;
};
static_assert(sizeof(ProxyStepMember) == 4, "ABI");

struct NetPluginMember {
  int64_t id;
  void* data;
};
static_assert(sizeof(NetPluginMember) == 16 && offsetof(NetPluginMember, data) == 8, "ABI");

// The event states of operations in v1 to v3 (NCCL 2.23 to 2.26). From v4 on there is only kOpInProgress.
enum EventStateBeforeV4 : int32_t {
  kOpSendPosted = 0,
  kOpSendRemFifoWait = 1,
  kOpSendTransmitted = 2,
  kOpSendDone = 3,
  kOpRecvPosted = 4,
  kOpRecvReceived = 5,
  kOpRecvTransmitted = 6,
  kOpRecvDone = 7,
};

/** The state arguments of v1 to v3: 16 bytes. NULL for the states of steps, so single steps have no sizes. */
union StateArgsBeforeV4 {
  struct {
    size_t transSize;  // states 0 to 7
    int32_t steps;
  } proxyOp;
  struct {
    int32_t appendedProxyOps;  // state 18
  } proxyCtrl;
};
static_assert(sizeof(StateArgsBeforeV4) == 16, "ABI");
static_assert(offsetof(StateArgsBeforeV4, proxyOp.transSize) == 0, "ABI");
static_assert(offsetof(StateArgsBeforeV4, proxyOp.steps) == 8, "ABI");
static_assert(offsetof(StateArgsBeforeV4, proxyCtrl.appendedProxyOps) == 0, "ABI");

}  // namespace nccl_abi
