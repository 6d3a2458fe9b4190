// The NCCL profiler plugin interface as facts: names, order, offsets and numbers, taken from the public interface of NCCL
// 2.28 (v5) and 2.29 (v6). Nothing here is NCCL's code. Every offset is asserted.
//
// Only the plugin's decoders (native/plugin/abi/v*.cc) and the loopback, the stand-in for NCCL, include this file. The
// recorder works with records and knows no descriptors.
//
// Shared by v5 and v6: `type` is a 64-bit word, the union starts at byte 24, the table has 48 bytes. v6 only adds the
// copy-engine members, so the members common to both lie at the same offsets and one decoder serves both.
//
// Read with care (all of this was seen):
//   - padding and inactive union bytes are garbage;
//   - `rank` is set for Coll, P2p, ProxyOp, ProxyStep, NetPlugin and Ce* events only;
//   - `parentObj` and `context` of a ProxyOp may belong to another process (PXN): never dereference them;
//   - the const char* fields func, datatype, algo, proto and syncStrategy are literals of libnccl; every other pointer
//     is valid during the call only.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace nccl_abi {

// ncclResult_t. Callbacks return kSuccess and nothing else; see native/plugin/plugin.cc.
enum Result : int32_t { kSuccess = 0 };

// ncclDebugLogger_t, handed to init since v4. The pointer is valid while libnccl is loaded.
enum LogLevel : int32_t { kLogNone = 0, kLogVersion = 1, kLogWarn = 2, kLogInfo = 3, kLogAbort = 4, kLogTrace = 5 };
constexpr unsigned long kLogSubsysInit = 0x1;
constexpr unsigned long kLogSubsysProfile = 0x4000;
using Logger = void (*)(int32_t level, unsigned long subsys, const char* file, int line, const char* format, ...);

// Event types: one bit each, in the mask and in the descriptor.
enum EventType : uint64_t {
  kGroup = 0x1,
  kColl = 0x2,
  kP2p = 0x4,
  kProxyOp = 0x8,
  kProxyStep = 0x10,
  kProxyCtrl = 0x20,
  kKernelCh = 0x40,
  kNetPlugin = 0x80,
  kGroupApi = 0x100,
  kCollApi = 0x200,
  kP2pApi = 0x400,
  kKernelLaunch = 0x800,
  kCeColl = 0x1000,   // v6
  kCeSync = 0x2000,   // v6
  kCeBatch = 0x4000,  // v6
};
constexpr int kMaskV5 = 0xFFF;
constexpr int kMaskV6 = 0x7FFF;

// Event states. 8 to 18 mean the same in every version; 0 to 7 and 19 onwards depend on it.
enum EventState : int32_t {
  kStepSendGpuWait = 8,
  kStepSendWait = 9,
  kStepRecvWait = 10,
  kStepRecvFlushWait = 11,
  kStepRecvGpuWait = 12,
  kCtrlIdle = 13,
  kCtrlActive = 14,
  kCtrlSleep = 15,
  kCtrlWakeup = 16,
  kCtrlAppend = 17,
  kCtrlAppendEnd = 18,
  kOpInProgress = 19,       // v4
  kStepSendPeerWait = 20,   // v4
  kNetPluginUpdate = 21,    // v4
  kKernelChStop = 22,       // v4
  kGroupStartApiStop = 23,  // v5
  kGroupEndApiStart = 24,   // v5
};

// The state arguments of v4 to v6: 8 bytes. May be NULL (GroupApi states always), may be uninitialised where a state
// does not define them.
union StateArgs {
  struct {
    size_t transSize;
  } proxyStep;  // meaningful in states 9 (send) and 11 (receive) only
  struct {
    int32_t appendedProxyOps;
  } proxyCtrl;  // state 18
  struct {
    void* data;
  } netPlugin;  // state 21
  struct {
    uint64_t pTimer;
  } kernelCh;  // state 22
};
static_assert(sizeof(StateArgs) == 8, "ABI");

// The descriptor of v5 and v6.
struct Descriptor {
  uint64_t type;
  void* parentObj;
  int32_t rank;
  union {
    struct {
      uint64_t seqNumber;
      const char* func;
      const void* sendBuff;
      void* recvBuff;
      size_t count;
      int32_t root;
      const char* datatype;
      uint8_t nChannels;
      uint8_t nWarps;
      const char* algo;
      const char* proto;
      void* parentGroup;
    } coll;
    struct {
      const char* func;
      void* buff;
      const char* datatype;
      size_t count;
      int32_t peer;
      uint8_t nChannels;
      void* parentGroup;
    } p2p;
    struct {
      pid_t pid;
      uint8_t channelId;
      int32_t peer;
      int32_t nSteps;
      int32_t chunkSize;
      int32_t isSend;
    } proxyOp;
    struct {
      int32_t step;
    } proxyStep;
    struct {
      uint8_t channelId;
      uint64_t pTimer;
    } kernelCh;
    struct {
      int64_t id;
      void* data;
    } netPlugin;
    struct {
      bool graphCaptured;
      int32_t groupDepth;
    } groupApi;
    struct {
      const char* func;
      size_t count;
      const char* datatype;
      int32_t root;
      void* stream;
      bool graphCaptured;
    } collApi;
    struct {
      const char* func;
      size_t count;
      const char* datatype;
      void* stream;
      bool graphCaptured;
    } p2pApi;
    struct {
      void* stream;
    } kernelLaunch;
    uint8_t bytes[88];  // the size of v6's largest member (ceColl)
  };
};
static_assert(sizeof(Descriptor) == 112, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, bytes) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.seqNumber) == 24 && offsetof(Descriptor, coll.func) == 32, "ABI");
static_assert(offsetof(Descriptor, coll.sendBuff) == 40 && offsetof(Descriptor, coll.recvBuff) == 48, "ABI");
static_assert(offsetof(Descriptor, coll.count) == 56 && offsetof(Descriptor, coll.root) == 64, "ABI");
static_assert(offsetof(Descriptor, coll.datatype) == 72 && offsetof(Descriptor, coll.nChannels) == 80, "ABI");
static_assert(offsetof(Descriptor, coll.nWarps) == 81 && offsetof(Descriptor, coll.algo) == 88, "ABI");
static_assert(offsetof(Descriptor, coll.proto) == 96 && offsetof(Descriptor, coll.parentGroup) == 104, "ABI");
static_assert(offsetof(Descriptor, p2p.func) == 24 && offsetof(Descriptor, p2p.buff) == 32, "ABI");
static_assert(offsetof(Descriptor, p2p.datatype) == 40 && offsetof(Descriptor, p2p.count) == 48, "ABI");
static_assert(offsetof(Descriptor, p2p.peer) == 56 && offsetof(Descriptor, p2p.nChannels) == 60, "ABI");
static_assert(offsetof(Descriptor, p2p.parentGroup) == 64, "ABI");
static_assert(offsetof(Descriptor, proxyOp.pid) == 24 && offsetof(Descriptor, proxyOp.channelId) == 28, "ABI");
static_assert(offsetof(Descriptor, proxyOp.peer) == 32 && offsetof(Descriptor, proxyOp.nSteps) == 36, "ABI");
static_assert(offsetof(Descriptor, proxyOp.chunkSize) == 40 && offsetof(Descriptor, proxyOp.isSend) == 44, "ABI");
static_assert(offsetof(Descriptor, proxyStep.step) == 24, "ABI");
static_assert(offsetof(Descriptor, kernelCh.channelId) == 24 && offsetof(Descriptor, kernelCh.pTimer) == 32, "ABI");
static_assert(offsetof(Descriptor, netPlugin.id) == 24 && offsetof(Descriptor, netPlugin.data) == 32, "ABI");
static_assert(offsetof(Descriptor, groupApi.graphCaptured) == 24 && offsetof(Descriptor, groupApi.groupDepth) == 28,
              "ABI");
static_assert(offsetof(Descriptor, collApi.func) == 24 && offsetof(Descriptor, collApi.count) == 32, "ABI");
static_assert(offsetof(Descriptor, collApi.datatype) == 40 && offsetof(Descriptor, collApi.root) == 48, "ABI");
static_assert(offsetof(Descriptor, collApi.stream) == 56 && offsetof(Descriptor, collApi.graphCaptured) == 64, "ABI");
static_assert(offsetof(Descriptor, p2pApi.func) == 24 && offsetof(Descriptor, p2pApi.count) == 32, "ABI");
static_assert(offsetof(Descriptor, p2pApi.datatype) == 40 && offsetof(Descriptor, p2pApi.stream) == 48, "ABI");
static_assert(offsetof(Descriptor, p2pApi.graphCaptured) == 56 && offsetof(Descriptor, kernelLaunch.stream) == 24,
              "ABI");

// The table a plugin exports as the data symbol ncclProfiler_v5 or ncclProfiler_v6. NCCL takes the highest version it
// knows. v6 uses the plugin's own struct as the live table: it must stay valid and unmodified.
struct Profiler {
  const char* name;
  Result (*init)(void** context, uint64_t commId, int* eActivationMask, const char* commName, int nNodes, int nRanks,
                 int rank, Logger logger);
  Result (*startEvent)(void* context, void** eHandle, Descriptor* descriptor);
  Result (*stopEvent)(void* eHandle);
  Result (*recordEventState)(void* eHandle, EventState state, StateArgs* args);
  Result (*finalize)(void* context);
};
static_assert(sizeof(Profiler) == 48, "ABI");
static_assert(offsetof(Profiler, init) == 8 && offsetof(Profiler, startEvent) == 16, "ABI");
static_assert(offsetof(Profiler, stopEvent) == 24 && offsetof(Profiler, recordEventState) == 32, "ABI");
static_assert(offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi
