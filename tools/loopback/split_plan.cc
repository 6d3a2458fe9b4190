#include "loopback/split_plan.h"

#include "loopback/scheduler.h"
#include "loopback/transfer_pairs.h"

namespace loopback {
namespace {

size_t TasksOf(const LaunchPlan& plan) { return plan.colls.size() + plan.p2ps.size(); }

}  // namespace

std::vector<LaunchPlan> SplitPlan(LaunchPlan plan, size_t maxTasks) {
  if (TasksOf(plan) <= maxTasks) return {plan};
  std::vector<LaunchPlan> plans;
  const auto withRoomFor = [&](size_t tasks) -> LaunchPlan& {
    if (plans.empty() || TasksOf(plans.back()) + tasks > maxTasks) plans.push_back(LaunchPlan{plan.comm});
    return plans.back();
  };
  SortCollectives(plan.colls);
  for (Task* task : plan.colls) withRoomFor(1).colls.push_back(task);
  for (const TransferPair& pair : PairTransfers(plan.p2ps, *plan.comm)) {
    LaunchPlan& last = withRoomFor((pair.send != nullptr) + (pair.recv != nullptr));
    for (Task* task : {pair.send, pair.recv}) {
      if (task != nullptr) last.p2ps.push_back(task);
    }
  }
  return plans;
}

}  // namespace loopback
