// The event types as users write them in NCCL_TRACE_EVENTS.

#pragma once

#include <stdint.h>

namespace nccl_trace {

/** Name n is of bit n of NCCL's mask. */
constexpr const char* kEventNames[] = {
    "Group",    "Coll",    "P2p",    "ProxyOp",      "ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
    "GroupApi", "CollApi", "P2pApi", "KernelLaunch", "CeColl",    "CeSync",    "CeBatch",  "KernelPhase",
};

constexpr uint64_t kApiEvents = 0xF00;
constexpr uint64_t kCollectiveEvents = kApiEvents | 0x7;  // and Group, Coll, P2p: everything on the host
// Cheap enough to stay on. Left out: KernelCh and KernelPhase (they cost small messages some percent), ProxyCtrl (it can
// fire a million times a second), NetPlugin (at least one more event per transfer) and the copy engine's events.
constexpr uint64_t kFlightEvents = kCollectiveEvents | 0x18;
constexpr uint64_t kAllEvents = 0xFFFF;  // each ABI version keeps the bits that it knows
constexpr uint64_t kKernelChEvent = 0x40;
constexpr uint64_t kKernelPhaseEvent = 0x8000;

/**
 * A preset (all, coll, none), or names separated by commas. The case of names does not matter, but `coll` is the preset:
 * the event alone is `Coll`.
 */
bool ParseEvents(const char* text, uint64_t& mask);

}  // namespace nccl_trace
