// The mask bits for which NCCL emits an event: any of them is enough. There are several because an event is also emitted
// as the parent of other events.

#pragma once

#include "nccl/profiler_v7.h"

namespace loopback {

/** The events whose rule differs between releases. Zero: the release has no such event. */
struct EventMasks {
  int proxyStep;
  int proxyOp;
  int p2p;
  int coll;
  int group;
  int p2pApi = 0;
  int collApi = 0;
  int kernelLaunch = 0;
  int groupApi = 0;
};

namespace masks {

using namespace nccl_abi;

constexpr int kForKernelCh = kKernelCh;
constexpr int kForProxyCtrl = kProxyCtrl;
constexpr int kForNetPlugin = kNetPlugin;
constexpr int kForCeColl = kCeColl | kCeSync | kCeBatch;
constexpr int kForKernelPhase = v7::kKernelPhase;

constexpr int kForProxyStep = kProxyStep | kNetPlugin;
constexpr int kForProxyOp = kProxyOp | kForProxyStep;
constexpr int kForTaskChildren = kForProxyOp | kForKernelCh;
constexpr int kForColl = kColl | kForTaskChildren;
constexpr int kForP2p = kP2p | kForTaskChildren;
constexpr int kForGroup = kGroup | kForColl | kForP2p;
constexpr int kForP2pApi = kP2pApi | kForP2p;
constexpr int kForCollApi = kCollApi | kForColl | kForCeColl;
constexpr int kForGroupApi = kMaskV6 & ~kProxyCtrl;

constexpr EventMasks kSince228 = {kForProxyStep, kForProxyOp, kForP2p,       kForColl,    kForGroup,
                                  kForP2pApi,    kForCollApi, kKernelLaunch, kForGroupApi};
constexpr EventMasks kUntil227 = {kForProxyStep, kForProxyOp, kForP2p, kForColl, kForGroup};
/** Group and P2p have no bits of their own here. */
constexpr EventMasks kUntil225 = {kProxyStep, kProxyStep | kProxyOp, kProxyStep | kProxyOp | kColl,
                                  kProxyStep | kProxyOp | kColl, kProxyStep | kProxyOp | kColl | kP2p};

}  // namespace masks
}  // namespace loopback
