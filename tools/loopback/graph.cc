#include "loopback/graph.h"

#include <map>

namespace loopback {

LaunchPlan ReplayOf(Graph::Node& node, const Graph& graph, const std::vector<Task*>& replays) {
  std::map<const Task*, Task*> replayOf;
  for (size_t i = 0; i < replays.size(); i++) replayOf[graph.tasks[i].get()] = replays[i];
  // Without the group's handle, which another thread stores and takes.
  LaunchPlan plan{node.plan.comm, node.plan.colls, node.plan.p2ps, node.plan.windowed, node.plan.kernelLaunchHandle};
  plan.persistent = node.plan.persistent;
  plan.captured = &node.plan;
  for (std::vector<Task*>* tasks : {&plan.colls, &plan.p2ps, &plan.windowed}) {
    for (Task*& task : *tasks) task = replayOf.at(task);
  }
  return plan;
}

}  // namespace loopback
