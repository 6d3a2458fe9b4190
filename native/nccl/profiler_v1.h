// The profiler interface of NCCL 2.23 (v1), the first one. It has codes of one byte for func, datatype, algo and proto.
//
// Each Coll and P2p names the communicator. Through the adapter of NCCL 2.27 and later they do not (name NULL, commHash
// 0).

#pragma once

#include "nccl/profiler_common.h"

namespace nccl_abi::v1 {

constexpr int kMask = 0x3F;

// The codes of one byte.
enum Func : uint8_t {
  kBroadcast = 0,
  kReduce = 1,
  kAllGather = 2,
  kReduceScatter = 3,
  kAllReduce = 4,
  kSendRecv = 5,
  kSend = 6,
  kRecv = 7,
};
enum Algo : uint8_t {
  kTree = 0,
  kRing = 1,
  kCollNetDirect = 2,
  kCollNetChain = 3,
  kNvls = 4,
  kNvlsTree = 5,
  kPat = 6,
};
enum Proto : uint8_t { kLl = 0, kLl128 = 1, kSimple = 2 };
// ncclDataType_t of NCCL 2.23, the public one.
enum DataType : uint8_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
};

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
      uint8_t func;
      const void* sendBuff;
      void* recvBuff;
      size_t count;
      int32_t root;
      uint8_t datatype;
      uint32_t op;
      size_t trafficBytes;
      uint8_t nMaxChannels;
      uint8_t nWarps;
      uint8_t algo;
      uint8_t proto;
      int32_t isCollnet;
      int32_t isNvls;
    } coll;
    struct {
      const char* name;
      uint64_t commHash;
      uint8_t func;
      void* buff;
      uint8_t datatype;
      size_t count;
      int32_t peer;
    } p2p;
    ProxyOpMember proxyOp;
    ProxyStepMember proxyStep;
  };
};
static_assert(sizeof(Descriptor) == 120, "ABI");
static_assert(offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parentObj) == 8, "ABI");
static_assert(offsetof(Descriptor, rank) == 16 && offsetof(Descriptor, coll.name) == 24, "ABI");
static_assert(offsetof(Descriptor, coll.commHash) == 32 && offsetof(Descriptor, coll.seqNumber) == 40, "ABI");
static_assert(offsetof(Descriptor, coll.func) == 48 && offsetof(Descriptor, coll.sendBuff) == 56, "ABI");
static_assert(offsetof(Descriptor, coll.recvBuff) == 64 && offsetof(Descriptor, coll.count) == 72, "ABI");
static_assert(offsetof(Descriptor, coll.root) == 80 && offsetof(Descriptor, coll.datatype) == 84, "ABI");
static_assert(offsetof(Descriptor, coll.op) == 88 && offsetof(Descriptor, coll.trafficBytes) == 96, "ABI");
static_assert(offsetof(Descriptor, coll.nMaxChannels) == 104 && offsetof(Descriptor, coll.nWarps) == 105, "ABI");
static_assert(offsetof(Descriptor, coll.algo) == 106 && offsetof(Descriptor, coll.proto) == 107, "ABI");
static_assert(offsetof(Descriptor, coll.isCollnet) == 108 && offsetof(Descriptor, coll.isNvls) == 112, "ABI");
static_assert(offsetof(Descriptor, p2p.name) == 24 && offsetof(Descriptor, p2p.commHash) == 32, "ABI");
static_assert(offsetof(Descriptor, p2p.func) == 40 && offsetof(Descriptor, p2p.buff) == 48, "ABI");
static_assert(offsetof(Descriptor, p2p.datatype) == 56 && offsetof(Descriptor, p2p.count) == 64, "ABI");
static_assert(offsetof(Descriptor, p2p.peer) == 72 && offsetof(Descriptor, proxyOp) == 24, "ABI");
static_assert(offsetof(Descriptor, proxyStep) == 24, "ABI");

using Profiler = Table<InitWithoutInfo, Descriptor, StateArgs>;
static_assert(sizeof(Profiler) == 48 && offsetof(Profiler, init) == 8, "ABI");
static_assert(offsetof(Profiler, startEvent) == 16 && offsetof(Profiler, stopEvent) == 24, "ABI");
static_assert(offsetof(Profiler, recordEventState) == 32 && offsetof(Profiler, finalize) == 40, "ABI");

}  // namespace nccl_abi::v1
