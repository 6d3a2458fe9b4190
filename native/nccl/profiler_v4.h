// The profiler interface of NCCL 2.27 (v4): init describes the communicator, KernelCh has a GPU time, states 19 to 22.
//
// The parent of Coll and P2p is their Group. Through the adapter of NCCL 2.28 and later p2p.nChannels is uninitialised.

#pragma once

#include "nccl/profiler_common.h"

namespace nccl_abi::v4 {

constexpr int kMask = 0xFF;

using StateArgs = nccl_abi::StateArgs;

struct Descriptor {
  uint8_t type;  // bytes 1 to 7 are garbage
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
    } coll;
    struct {
      const char* func;
      void* buff;
      const char* datatype;
      size_t count;
      int32_t peer;
      uint8_t nChannels;
    } p2p;
    struct {
      uint8_t channelId;
      uint64_t pTimer;
    } kernelCh;
    ProxyOpMember proxyOp;
    ProxyStepMember proxyStep;
    NetPluginMember netPlugin;
  };
};
static_assert(sizeof(Descriptor) == 104, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, coll.seqNumber) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.func) == 32 && offsetof(Descriptor, coll.sendBuff) == 40, "ABI");
static_assert(offsetof(Descriptor, coll.recvBuff) == 48 && offsetof(Descriptor, coll.count) == 56, "ABI");
static_assert(offsetof(Descriptor, coll.root) == 64 && offsetof(Descriptor, coll.datatype) == 72, "ABI");
static_assert(offsetof(Descriptor, coll.nChannels) == 80 && offsetof(Descriptor, coll.nWarps) == 81, "ABI");
static_assert(offsetof(Descriptor, coll.algo) == 88 && offsetof(Descriptor, coll.proto) == 96, "ABI");
static_assert(offsetof(Descriptor, p2p.func) == 24 && offsetof(Descriptor, p2p.buff) == 32, "ABI");
static_assert(offsetof(Descriptor, p2p.datatype) == 40 && offsetof(Descriptor, p2p.count) == 48, "ABI");
static_assert(offsetof(Descriptor, p2p.peer) == 56 && offsetof(Descriptor, p2p.nChannels) == 60, "ABI");
static_assert(offsetof(Descriptor, kernelCh.channelId) == 24 && offsetof(Descriptor, kernelCh.pTimer) == 32, "ABI");
static_assert(offsetof(Descriptor, proxyOp) == 24 && offsetof(Descriptor, proxyStep) == 24, "ABI");
static_assert(offsetof(Descriptor, netPlugin) == 24, "ABI");

using Profiler = Table<InitHashFourth, Descriptor, StateArgs>;
static_assert(sizeof(Profiler) == 48 && offsetof(Profiler, init) == 8, "ABI");
static_assert(offsetof(Profiler, startEvent) == 16 && offsetof(Profiler, stopEvent) == 24, "ABI");
static_assert(offsetof(Profiler, recordEventState) == 32 && offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi::v4
