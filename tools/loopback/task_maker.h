// From an operation of the script to the tasks NCCL makes of it: one, or for AlltoAll a send and a receive for each
// rank.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "loopback/options.h"
#include "loopback/task.h"

namespace loopback {

class TaskMaker {
 public:
  using Allocate = std::function<float*(size_t bytes)>;

  TaskMaker(const Options& options, const std::vector<std::unique_ptr<Comm>>& comms, const Windows& windows)
      : options_(options), comms_(comms), windows_(windows) {}

  std::vector<std::unique_ptr<Task>> Make(const ScriptOp& op, int iteration, const Allocate& allocate);

  /** The same task once more, in the graph's replay of that number. */
  std::unique_ptr<Task> Replay(Task* captured, int iteration, uint64_t replay);

 private:
  using Tasks = std::vector<std::unique_ptr<Task>>;

  Comm* CommNamed(const std::string& name) const;
  std::unique_ptr<Task> NewTask(const ScriptOp& op, Func func, int iteration, Comm* comm);
  Tasks AllToAll(const ScriptOp& op, int iteration, Comm* comm, const Allocate& allocate);
  void SetBuffer(Task& task, const ScriptOp& op, const Allocate& allocate) const;
  void SetSalt(Task& task) const;

  const Options& options_;
  const std::vector<std::unique_ptr<Comm>>& comms_;
  const Windows& windows_;
  uint64_t nextTask_ = 0;
  uint64_t calls_ = 0;  // the same on all ranks, whatever communicators they are in
};

}  // namespace loopback
