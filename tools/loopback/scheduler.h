// Makes a kernel for the GPU and operations for the proxy from the tasks of one communicator, channel by channel.

#pragma once

#include <memory>
#include <vector>

#include "loopback/gpu.h"
#include "loopback/host_events.h"
#include "loopback/proxy_op.h"

namespace loopback {

struct Schedule {
  std::unique_ptr<Kernel> kernel;
  std::vector<ProxyOp> proxyOps;  // in the order in which they are posted
};

/** The largest first: the order in which they are partitioned and reported. */
void SortCollectives(std::vector<Task*>& colls);

/** Also sorts the tasks of the launch plan in the order in which the profiler sees them. */
Schedule MakeSchedule(LaunchPlan& plan, int maxChannels);

}  // namespace loopback
