// What the versions of NCCL's profiler interface differ in, for handing events on: which events NCCL reports for a mask, and
// what a table that is older than the running NCCL gets, as NCCL's own adapters give it.
//
// From v4 on the descriptors begin alike, up to the fields that a later version added. So a plugin of v4 to v7 reads NCCL's
// own, and only v1 to v3 need descriptors made for them.

#pragma once

#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"

namespace nccl_trace::chain {

constexpr int kNewest = 7;
/** Event types of each version. */
constexpr uint32_t kTypes[kNewest + 1] = {0,
                                          nccl_abi::v1::kMask,
                                          nccl_abi::v2::kMask,
                                          nccl_abi::v3::kMask,
                                          nccl_abi::v4::kMask,
                                          nccl_abi::kMaskV5,
                                          nccl_abi::kMaskV6,
                                          nccl_abi::v7::kMask};

/** Number of a type's bit. kUnknownBit: no type that we know. */
constexpr uint32_t kUnknownBit = 16;
inline uint32_t BitOf(uint64_t type) {
  const uint32_t bit = static_cast<uint32_t>(__builtin_ctzll(type | uint64_t{1} << kUnknownBit));
  return (type & (type - 1)) == 0 ? bit : kUnknownBit;
}

/** Mask bits that make NCCL report a type, by the type's bit: its own and those of its children. */
constexpr uint32_t kStepBits = nccl_abi::kProxyStep | nccl_abi::kNetPlugin;
constexpr uint32_t kOpBits = nccl_abi::kProxyOp | kStepBits;
constexpr uint32_t kCollBits = nccl_abi::kColl | kOpBits | nccl_abi::kKernelCh;
constexpr uint32_t kP2pBits = nccl_abi::kP2p | kOpBits | nccl_abi::kKernelCh;
constexpr uint32_t kCeBits = nccl_abi::kCeColl | nccl_abi::kCeSync | nccl_abi::kCeBatch;
constexpr uint32_t kAllBits = 0xFFFF;
constexpr uint32_t kReportedFor[kUnknownBit + 1] = {nccl_abi::kGroup | kCollBits | kP2pBits,
                                                    kCollBits,
                                                    kP2pBits,
                                                    kOpBits,
                                                    kStepBits,
                                                    nccl_abi::kProxyCtrl,
                                                    nccl_abi::kKernelCh,
                                                    nccl_abi::kNetPlugin,
                                                    kAllBits & ~static_cast<uint32_t>(nccl_abi::kProxyCtrl),
                                                    nccl_abi::kCollApi | kCollBits | kCeBits,
                                                    nccl_abi::kP2pApi | kP2pBits,
                                                    nccl_abi::kKernelLaunch,
                                                    kCeBits,
                                                    nccl_abi::kCeSync,
                                                    nccl_abi::kCeBatch,
                                                    nccl_abi::v7::kKernelPhase,
                                                    kAllBits};
/** Until NCCL 2.25. Group and P2p are reported only because of others. */
constexpr uint32_t kEarlyCollBits = nccl_abi::kColl | nccl_abi::kProxyOp | nccl_abi::kProxyStep;
constexpr uint32_t kReportedForEarly[6] = {
    kEarlyCollBits | nccl_abi::kP2p,           kEarlyCollBits,       kEarlyCollBits,
    nccl_abi::kProxyOp | nccl_abi::kProxyStep, nccl_abi::kProxyStep, nccl_abi::kProxyCtrl};

inline bool IsReported(int running, uint32_t bit, uint32_t mask) {
  if (running <= 2 && bit < 6) return (kReportedForEarly[bit] & mask) != 0;
  // Phases are parts of kernels.
  if (running >= 7 && (mask & nccl_abi::v7::kKernelPhase) != 0) mask |= nccl_abi::kKernelCh;
  return (kReportedFor[bit] & mask) != 0;
}

/** Events that NCCL reports only below a parent that the plugin took. */
inline bool NeedsParent(int running, uint64_t type) {
  using namespace nccl_abi;
  if ((type & (kCeSync | kCeBatch)) != 0) return true;
  if (type == kProxyStep) return running <= 4;
  return running <= 2 && (type == kColl || type == kP2p);
}

/** The beginning of all descriptors. `type` has 8 bytes from v5 on, one before. */
struct Head {
  union {
    uint64_t type;
    uint8_t early_type;
  };
  void* parent;
  int32_t rank;
};

/** The second parent that Coll and P2p have from v5 on, else null. */
inline void** GroupOf(int version, uint64_t type, void* descriptor) {
  if (version < 5) return nullptr;
  auto& d = *static_cast<nccl_abi::Descriptor*>(descriptor);
  if (type == nccl_abi::kColl) return &d.coll.parentGroup;
  return type == nccl_abi::kP2p ? &d.p2p.parentGroup : nullptr;
}

/** Room for a descriptor of an old version. */
struct OldDescriptors {
  nccl_abi::v3::Descriptor v3;
  nccl_abi::v2::Descriptor v2;
  nccl_abi::v1::Descriptor v1;
};

/** The descriptor for a table of `version`, not newer than `running`: NCCL's own, or one made in `room`. */
void* DescriptorFor(int version, int running, uint64_t type, void* descriptor, OldDescriptors& room);

/** Arguments of a state for a table of `version`. False: the version has no such state. */
union AnyStateArgs {
  nccl_abi::StateArgs args;
  nccl_abi::StateArgsBeforeV4 old;
};
bool StateFor(int version, int running, nccl_abi::EventState state, void*& args, AnyStateArgs& room);

}  // namespace nccl_trace::chain
