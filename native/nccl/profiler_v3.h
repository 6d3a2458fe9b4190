// The profiler interface of NCCL 2.26 (v3): v2 without trafficBytes, with KernelCh (no GPU time yet) and NetPlugin.

#pragma once

#include "nccl/profiler_common.h"

namespace nccl_abi::v3 {

constexpr int kMask = 0xFF;

using StateArgs = StateArgsBeforeV4;

struct Descriptor {
  uint8_t type;  // bytes 1 to 7 are garbage
  void* parentObj;
  int32_t rank;
  union {
    struct {
      const char* name;
      uint64_t commHash;
      uint64_t seqNumber;
      const char* func;
      const void* sendBuff;
      void* recvBuff;
      size_t count;
      int32_t root;
      const char* datatype;
      uint8_t nMaxChannels;
      uint8_t nWarps;
      const char* algo;
      const char* proto;
    } coll;
    struct {
      const char* name;
      uint64_t commHash;
      const char* func;
      void* buff;
      const char* datatype;
      size_t count;
      int32_t peer;
    } p2p;
    struct {
      uint8_t channelId;
    } kernelCh;
    ProxyOpMember proxyOp;
    ProxyStepMember proxyStep;
    NetPluginMember netPlugin;
  };
};
static_assert(sizeof(Descriptor) == 120, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, coll.name) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.commHash) == 32 && offsetof(Descriptor, coll.seqNumber) == 40, "ABI");
static_assert(offsetof(Descriptor, coll.func) == 48 && offsetof(Descriptor, coll.sendBuff) == 56, "ABI");
static_assert(offsetof(Descriptor, coll.recvBuff) == 64 && offsetof(Descriptor, coll.count) == 72, "ABI");
static_assert(offsetof(Descriptor, coll.root) == 80 && offsetof(Descriptor, coll.datatype) == 88, "ABI");
static_assert(offsetof(Descriptor, coll.nMaxChannels) == 96 && offsetof(Descriptor, coll.nWarps) == 97, "ABI");
static_assert(offsetof(Descriptor, coll.algo) == 104 && offsetof(Descriptor, coll.proto) == 112, "ABI");
static_assert(offsetof(Descriptor, p2p.name) == 24 && offsetof(Descriptor, p2p.commHash) == 32, "ABI");
static_assert(offsetof(Descriptor, p2p.func) == 40 && offsetof(Descriptor, p2p.buff) == 48, "ABI");
static_assert(offsetof(Descriptor, p2p.datatype) == 56 && offsetof(Descriptor, p2p.count) == 64, "ABI");
static_assert(offsetof(Descriptor, p2p.peer) == 72 && offsetof(Descriptor, kernelCh.channelId) == 24, "ABI");
static_assert(offsetof(Descriptor, proxyOp) == 24 && offsetof(Descriptor, proxyStep) == 24, "ABI");
static_assert(offsetof(Descriptor, netPlugin) == 24, "ABI");

using Profiler = Table<InitWithoutInfo, Descriptor, StateArgs>;
static_assert(sizeof(Profiler) == 48 && offsetof(Profiler, init) == 8, "ABI");
static_assert(offsetof(Profiler, startEvent) == 16 && offsetof(Profiler, stopEvent) == 24, "ABI");
static_assert(offsetof(Profiler, recordEventState) == 32 && offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi::v3
