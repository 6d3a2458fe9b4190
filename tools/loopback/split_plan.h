// Splits a launch plan: a kernel has room for limited work, so one group may need several kernels.

#pragma once

#include <vector>

#include "loopback/host_events.h"

namespace loopback {

/** Plans of at most `maxTasks`: collectives first, in the scheduler's order; a send and its receive stay together. */
std::vector<LaunchPlan> SplitPlan(LaunchPlan plan, size_t maxTasks);

}  // namespace loopback
