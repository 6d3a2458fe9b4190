// The data of NCCL's own network plugins in a NetPlugin event: an id that names plugin and version, and a structure that
// is valid during the call only. As in profiler_abi.h, every offset is asserted.
//
// NCCL's own plugins make these events only in a build with NET_PROFILER=1. An external network plugin may make events of
// its own in any build.

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace nccl_abi {

/** The plugin in the upper half of 32 bits, the version of its data in the lower half. */
constexpr int64_t kNetIdIb = 1 << 16;
constexpr int64_t kNetIdSocket = 2 << 16;
constexpr int64_t kNetIdIbV1 = kNetIdIb | 1;
constexpr int64_t kNetIdSocketV1 = kNetIdSocket | 1;

/** A request on one queue pair. For a receive, opcode and length are old values. */
struct NetIbV1 {
  uint8_t type;               // 1
  alignas(8) int32_t device;  // which one, of a merged device
  uint64_t wr_id;
  int32_t opcode;  // ibv_wr_opcode: 0 RDMA_WRITE, 1 RDMA_WRITE_WITH_IMM
  int32_t qpNum;
  size_t length;
};
static_assert(sizeof(NetIbV1) == 40 && offsetof(NetIbV1, device) == 8 && offsetof(NetIbV1, wr_id) == 16, "ABI");
static_assert(offsetof(NetIbV1, opcode) == 24 && offsetof(NetIbV1, qpNum) == 28, "ABI");
static_assert(offsetof(NetIbV1, length) == 32, "ABI");

struct NetSocketV1 {
  uint8_t type;  // 1
  alignas(8) int32_t fd;
  int32_t op;  // 0 send, 1 receive
  size_t length;
};
static_assert(sizeof(NetSocketV1) == 24 && offsetof(NetSocketV1, fd) == 8, "ABI");
static_assert(offsetof(NetSocketV1, op) == 12 && offsetof(NetSocketV1, length) == 16, "ABI");

}  // namespace nccl_abi
