// The profiler interface of NCCL 2.31 (v7): every field of v6 at its place, user tags, and phases of kernels.

#pragma once

#include "nccl/profiler_common.h"

namespace nccl_abi::v7 {

constexpr int kMask = 0xFFFF;

constexpr uint64_t kKernelPhase = 0x8000;                             // event type
constexpr EventState kKernelPhaseStop = static_cast<EventState>(31);  // args: kernelCh.pTimer

// kernelPhase.phaseId
enum Phase : uint8_t { kInitialSync = 0, kCompute = 1, kFinalSync = 2 };

using StateArgs = nccl_abi::StateArgs;

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
      const char* kernelVariant;
      bool isSymColl;
      uint64_t userTag;
    } coll;
    struct {
      const char* func;
      void* buff;
      const char* datatype;
      size_t count;
      int32_t peer;
      uint8_t nChannels;
      void* parentGroup;
      uint64_t userTag;
    } p2p;
    struct {
      uint8_t channelId;
      uint64_t pTimer;
    } kernelCh;
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
      uint64_t userTag;
    } collApi;
    struct {
      const char* func;
      size_t count;
      const char* datatype;
      void* stream;
      bool graphCaptured;
      uint64_t userTag;
    } p2pApi;
    struct {
      void* stream;
    } kernelLaunch;
    struct {
      uint64_t seqNumber;
      const char* func;
      const void* sendBuff;
      void* recvBuff;
      size_t count;
      int32_t root;
      const char* datatype;
      const char* syncStrategy;
      bool intraBatchSync;
      uint32_t batchSize;
      uint32_t numBatches;
      uint32_t ceSeqNum;
      void* stream;
      uint64_t userTag;
    } ceColl;
    struct {
      bool isComplete;
      int32_t nRanks;
    } ceCollSync;
    struct {
      int32_t numOps;
      size_t totalBytes;
      bool useIntraSync;
    } ceCollBatch;
    struct {
      uint8_t channelId;
      uint8_t phaseId;
      const char* phaseName;
      uint64_t pTimer;
    } kernelPhase;
    ProxyOpMember proxyOp;
    ProxyStepMember proxyStep;
    NetPluginMember netPlugin;
  };
};
static_assert(sizeof(Descriptor) == 136, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, coll.seqNumber) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.func) == 32 && offsetof(Descriptor, coll.sendBuff) == 40, "ABI");
static_assert(offsetof(Descriptor, coll.recvBuff) == 48 && offsetof(Descriptor, coll.count) == 56, "ABI");
static_assert(offsetof(Descriptor, coll.root) == 64 && offsetof(Descriptor, coll.datatype) == 72, "ABI");
static_assert(offsetof(Descriptor, coll.nChannels) == 80 && offsetof(Descriptor, coll.nWarps) == 81, "ABI");
static_assert(offsetof(Descriptor, coll.algo) == 88 && offsetof(Descriptor, coll.proto) == 96, "ABI");
static_assert(offsetof(Descriptor, coll.parentGroup) == 104 && offsetof(Descriptor, coll.kernelVariant) == 112, "ABI");
static_assert(offsetof(Descriptor, coll.isSymColl) == 120 && offsetof(Descriptor, coll.userTag) == 128, "ABI");
static_assert(offsetof(Descriptor, p2p.func) == 24 && offsetof(Descriptor, p2p.buff) == 32, "ABI");
static_assert(offsetof(Descriptor, p2p.datatype) == 40 && offsetof(Descriptor, p2p.count) == 48, "ABI");
static_assert(offsetof(Descriptor, p2p.peer) == 56 && offsetof(Descriptor, p2p.nChannels) == 60, "ABI");
static_assert(offsetof(Descriptor, p2p.parentGroup) == 64 && offsetof(Descriptor, p2p.userTag) == 72, "ABI");
static_assert(offsetof(Descriptor, kernelCh.channelId) == 24 && offsetof(Descriptor, kernelCh.pTimer) == 32, "ABI");
static_assert(offsetof(Descriptor, groupApi.graphCaptured) == 24 && offsetof(Descriptor, groupApi.groupDepth) == 28,
              "ABI");
static_assert(offsetof(Descriptor, collApi.func) == 24 && offsetof(Descriptor, collApi.count) == 32, "ABI");
static_assert(offsetof(Descriptor, collApi.datatype) == 40 && offsetof(Descriptor, collApi.root) == 48, "ABI");
static_assert(offsetof(Descriptor, collApi.stream) == 56 && offsetof(Descriptor, collApi.graphCaptured) == 64, "ABI");
static_assert(offsetof(Descriptor, collApi.userTag) == 72 && offsetof(Descriptor, p2pApi.func) == 24, "ABI");
static_assert(offsetof(Descriptor, p2pApi.count) == 32 && offsetof(Descriptor, p2pApi.datatype) == 40, "ABI");
static_assert(offsetof(Descriptor, p2pApi.stream) == 48 && offsetof(Descriptor, p2pApi.graphCaptured) == 56, "ABI");
static_assert(offsetof(Descriptor, p2pApi.userTag) == 64 && offsetof(Descriptor, kernelLaunch.stream) == 24, "ABI");
static_assert(offsetof(Descriptor, ceColl.seqNumber) == 24 && offsetof(Descriptor, ceColl.func) == 32, "ABI");
static_assert(offsetof(Descriptor, ceColl.sendBuff) == 40 && offsetof(Descriptor, ceColl.recvBuff) == 48, "ABI");
static_assert(offsetof(Descriptor, ceColl.count) == 56 && offsetof(Descriptor, ceColl.root) == 64, "ABI");
static_assert(offsetof(Descriptor, ceColl.datatype) == 72 && offsetof(Descriptor, ceColl.syncStrategy) == 80, "ABI");
static_assert(offsetof(Descriptor, ceColl.intraBatchSync) == 88 && offsetof(Descriptor, ceColl.batchSize) == 92, "ABI");
static_assert(offsetof(Descriptor, ceColl.numBatches) == 96 && offsetof(Descriptor, ceColl.ceSeqNum) == 100, "ABI");
static_assert(offsetof(Descriptor, ceColl.stream) == 104 && offsetof(Descriptor, ceColl.userTag) == 112, "ABI");
static_assert(offsetof(Descriptor, ceCollSync.isComplete) == 24 && offsetof(Descriptor, ceCollSync.nRanks) == 28,
              "ABI");
static_assert(offsetof(Descriptor, ceCollBatch.numOps) == 24 && offsetof(Descriptor, ceCollBatch.totalBytes) == 32,
              "ABI");
static_assert(offsetof(Descriptor, ceCollBatch.useIntraSync) == 40 && offsetof(Descriptor, kernelPhase.channelId) == 24,
              "ABI");
static_assert(offsetof(Descriptor, kernelPhase.phaseId) == 25 && offsetof(Descriptor, kernelPhase.phaseName) == 32,
              "ABI");
static_assert(offsetof(Descriptor, kernelPhase.pTimer) == 40 && offsetof(Descriptor, proxyOp) == 24, "ABI");
static_assert(offsetof(Descriptor, proxyStep) == 24 && offsetof(Descriptor, netPlugin) == 24, "ABI");

using Profiler = Table<InitHashSecond, Descriptor, StateArgs>;
static_assert(sizeof(Profiler) == 48 && offsetof(Profiler, init) == 8, "ABI");
static_assert(offsetof(Profiler, startEvent) == 16 && offsetof(Profiler, stopEvent) == 24, "ABI");
static_assert(offsetof(Profiler, recordEventState) == 32 && offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi::v7
