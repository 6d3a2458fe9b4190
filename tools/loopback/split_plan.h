// Splits a launch plan: a kernel has room for limited work, so one group may need several kernels.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_SPLIT_PLAN_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_SPLIT_PLAN_H_

#include <vector>

#include "loopback/host_events.h"

namespace loopback {

/** Plans of at most `maxTasks`: collectives first, in the scheduler's order; a send and its receive stay together. */
std::vector<LaunchPlan> SplitPlan(LaunchPlan plan, size_t maxTasks);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_SPLIT_PLAN_H_
