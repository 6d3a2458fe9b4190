// The profiler interface of NCCL 2.24 and 2.25 (v2): v1 with texts instead of codes.

#pragma once

#include "nccl/profiler_common.h"

namespace nccl_abi::v2 {

constexpr int kMask = 0x3F;

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
      size_t trafficBytes;
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
    ProxyOpMember proxyOp;
    ProxyStepMember proxyStep;
  };
};
static_assert(sizeof(Descriptor) == 128, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, coll.name) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.commHash) == 32 && offsetof(Descriptor, coll.seqNumber) == 40, "ABI");
static_assert(offsetof(Descriptor, coll.func) == 48 && offsetof(Descriptor, coll.sendBuff) == 56, "ABI");
static_assert(offsetof(Descriptor, coll.recvBuff) == 64 && offsetof(Descriptor, coll.count) == 72, "ABI");
static_assert(offsetof(Descriptor, coll.root) == 80 && offsetof(Descriptor, coll.datatype) == 88, "ABI");
static_assert(offsetof(Descriptor, coll.trafficBytes) == 96 && offsetof(Descriptor, coll.nMaxChannels) == 104, "ABI");
static_assert(offsetof(Descriptor, coll.nWarps) == 105 && offsetof(Descriptor, coll.algo) == 112, "ABI");
static_assert(offsetof(Descriptor, coll.proto) == 120 && offsetof(Descriptor, p2p.name) == 24, "ABI");
static_assert(offsetof(Descriptor, p2p.commHash) == 32 && offsetof(Descriptor, p2p.func) == 40, "ABI");
static_assert(offsetof(Descriptor, p2p.buff) == 48 && offsetof(Descriptor, p2p.datatype) == 56, "ABI");
static_assert(offsetof(Descriptor, p2p.count) == 64 && offsetof(Descriptor, p2p.peer) == 72, "ABI");
static_assert(offsetof(Descriptor, proxyOp) == 24 && offsetof(Descriptor, proxyStep) == 24, "ABI");

using Profiler = Table<InitWithoutInfo, Descriptor, StateArgs>;
static_assert(sizeof(Profiler) == 48 && offsetof(Profiler, init) == 8, "ABI");
static_assert(offsetof(Profiler, startEvent) == 16 && offsetof(Profiler, stopEvent) == 24, "ABI");
static_assert(offsetof(Profiler, recordEventState) == 32 && offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi::v2
