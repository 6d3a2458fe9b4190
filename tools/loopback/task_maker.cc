#include "loopback/task_maker.h"

#include <algorithm>

namespace loopback {

TaskMaker::Tasks TaskMaker::Make(const ScriptOp& op, int iteration, const Allocate& allocate) {
  calls_ += 1;
  Comm* const comm = CommNamed(op.comm);
  if (op.func == Func::kAllToAll) return AllToAll(op, iteration, comm, allocate);
  const int n = comm->nRanks;
  std::unique_ptr<Task> task = NewTask(op, op.func, iteration, comm);
  task->count = BlockBytes(op.bytes, InBlocks(op.func) ? n : 1) / kElementBytes;
  task->bytes = task->count * (InBlocks(op.func) ? n : 1) * kElementBytes;
  task->peer = IsP2p(op.func) ? ((comm->rank + op.peer) % n + n) % n : op.peer;
  SetBuffer(*task, op, allocate);
  SetSalt(*task);
  Tasks tasks;
  tasks.push_back(std::move(task));
  return tasks;
}

/** Rank by rank, each a send and a receive: NCCL's order. One rank's blocks may be larger (AlltoAllv). */
TaskMaker::Tasks TaskMaker::AllToAll(const ScriptOp& op, int iteration, Comm* comm, const Allocate& allocate) {
  const size_t blockBytes = BlockBytes(op.bytes, comm->nRanks);
  const auto blockOf = [&](int sender) { return blockBytes * (sender == op.peer ? kLargeBlock : 1); };
  float* out = allocate(blockOf(comm->rank) * comm->nRanks);
  float* in = allocate(blockBytes * (comm->nRanks + kLargeBlock));
  Tasks tasks;
  for (int peer = 0; peer < comm->nRanks; peer++) {
    for (Func func : {Func::kSend, Func::kRecv}) {
      std::unique_ptr<Task> task = NewTask(op, func, iteration, comm);
      task->bytes = blockOf(func == Func::kSend ? comm->rank : peer);
      task->count = task->bytes / kElementBytes;
      task->peer = peer;
      task->ofAllToAll = true;
      float*& buffer = func == Func::kSend ? out : in;
      task->buffer = buffer;
      buffer += task->count;
      SetSalt(*task);
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

Comm* TaskMaker::CommNamed(const std::string& name) const {
  return std::find_if(comms_.begin(), comms_.end(), [&](const auto& c) { return c->spec.name == name; })->get();
}

std::unique_ptr<Task> TaskMaker::NewTask(const ScriptOp& op, Func func, int iteration, Comm* comm) {
  auto task = std::make_unique<Task>();
  task->index = nextTask_++;
  task->iteration = iteration;
  task->comm = comm;
  task->func = func;
  task->collNet = options_.transport == Transport::kCollNet && !IsP2p(func);
  task->registered = options_.registered && (func == Func::kAllGather || IsP2p(func));
  if (op.asIntegers) task->datatype = "ncclInt32";
  task->protoChoice = op.proto ? op.proto : options_.proto;
  if (func == Func::kAllReduce) task->algoChoice = op.algo ? op.algo : options_.algo;
  return task;
}

std::unique_ptr<Task> TaskMaker::Replay(Task* captured, int iteration, uint64_t replay) {
  auto task = std::make_unique<Task>();
  task->index = nextTask_++;
  task->iteration = iteration;
  static_cast<Call&>(*task) = *captured;
  task->salt = Mix(captured->salt, replay);
  task->graphRole = GraphRole::kReplay;
  task->captured = captured;
  task->replay = replay;
  return task;
}

/** Kernels with connections use memory of their own; others what all ranks can reach. */
void TaskMaker::SetBuffer(Task& task, const ScriptOp& op, const Allocate& allocate) const {
  task.engine = EngineOf(op.func, options_);
  if (task.engine == Engine::kKernel) {
    task.buffer = allocate(task.bytes);
    return;
  }
  for (int worldRank : task.comm->spec.worldRanks) task.windows.push_back(windows_.Of(worldRank, op.window));
  task.buffer = task.windows[task.comm->rank].data;
}

/** A send and its receive are different operations, but between the same two ranks. */
void TaskMaker::SetSalt(Task& task) const {
  if (!IsP2p(task.func)) {
    task.salt = Mix(options_.runId, calls_ + (1u << 20));
    return;
  }
  const bool isSend = task.func == Func::kSend;
  const uint64_t from = isSend ? task.comm->rank : task.peer;
  const uint64_t to = isSend ? task.peer : task.comm->rank;
  task.salt = Mix(Mix(options_.runId, task.iteration), from << 32 | to);
}

}  // namespace loopback
