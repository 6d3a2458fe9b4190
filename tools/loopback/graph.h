// A captured CUDA graph: the kernels of its launch plans and their host nodes, with the captured tasks. Each replay makes
// new tasks for the same plans, with the mask and the handles from the time of the capture.

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "loopback/host_events.h"

namespace loopback {

struct Graph {
  struct Node {
    LaunchPlan plan;  // of captured tasks
    bool hasProxyOps;
  };
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<std::unique_ptr<float[]>> buffers;
  uint64_t replays = 0;
  std::deque<Node> nodes;  // their addresses stay: handles are left in them from one replay to the next
};

/** The launch plan with its tasks replaced by their replays, which must be in the order of Graph::tasks. */
LaunchPlan ReplayOf(Graph::Node& node, const Graph& graph, const std::vector<Task*>& replays);

}  // namespace loopback
