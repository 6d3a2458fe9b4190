#include "loopback/scheduler.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "loopback/event_masks.h"
#include "loopback/transfer_pairs.h"

namespace loopback {
namespace {

constexpr int kSelfRound = 0;          // of a pair of a rank with itself
constexpr int kMostOpsPerChannel = 6;  // a branch of a tree: two children and a parent, both directions

/** The batches of a block while they are made. */
struct Lane {
  std::vector<Batch> colls;
  Func batchFunc{};  // of the last collective batch
  Algo batchAlgo{};
  Proto batchProto{};
  std::map<int, Batch> transfers;  // by TransferPair::ordinal
};

class Scheduler {
 public:
  Scheduler(LaunchPlan& plan, int maxChannels) : plan_(plan), comm_(*plan.comm), maxChannels_(maxChannels) {
    opCount_ = comm_.plans++ << 16;
  }

  Schedule Make() {
    AddCollectives();
    const std::vector<TransferPair> pairs = PairTransfers(plan_.p2ps, comm_);
    plan_.p2ps.clear();
    for (const TransferPair& pair : pairs) AddPair(pair);
    NumberTransfers();
    return {MakeKernel(), std::move(ops_)};
  }

 private:
  void AddCollectives() {
    SortCollectives(plan_.colls);
    std::vector<CollRequest> requests;
    for (const Task* task : plan_.colls) {
      const size_t share = InBlocks(task->func) ? task->bytes / comm_.nRanks : task->bytes;
      requests.push_back({task->func, share, task->protoChoice, task->algoChoice, task->registered});
    }
    const std::vector<CollPartition> partitions = PartitionCollectives(requests, comm_.nRanks, maxChannels_);
    for (size_t i = 0; i < partitions.size(); i++) AddCollective(*plan_.colls[i], partitions[i]);
  }

  void AddCollective(Task& task, const CollPartition& partition) {
    task.algo = partition.algo;
    Describe(task, partition.proto, partition.parts.size(), kMostOpsPerChannel);
    for (const ChannelPart& part : partition.parts) {
      ProxyOp op = OpOf(task, part, partition.chunkBytes);
      op.chunkSteps = partition.chunkSteps;
      op.sliceSteps = partition.sliceSteps;
      for (Connection* connection : CollConnections(task, partition.algo, part.channel)) {
        AddNetworkOp(op, connection, part);
      }
      AddProfilerOp(op, ++comm_.workCounters[part.channel]);
      Batch& batch = CollBatch(lanes_[part.channel], task);
      if (batch.marks++ == 0) batch.firstCounter = comm_.workCounters[part.channel];
      batch.works.push_back(MakeCollWork(task, partition, part));
    }
    opCount_ += 2;
  }

  std::unique_ptr<Work> MakeCollWork(Task& task, const CollPartition& partition, const ChannelPart& part) {
    if (partition.algo == Algo::kTree) return MakeTreeWork(task, partition, part);
    if (!task.registered) return MakeRingWork(task, partition, part);
    Connection* const out = RingConnection(comm_, part.channel, true);
    Connection* const in = RingConnection(comm_, part.channel, false);
    return MakeRegisteredWork(StepsOf(out), out, StepsOf(in), in);
  }

  /** The registered steps of the newest operation on this connection. */
  const RegisteredSteps* StepsOf(const Connection* connection) const {
    return std::find_if(ops_.rbegin(), ops_.rend(), [&](const ProxyOp& op) { return op.connection == connection; })
        ->registered;
  }

  std::unique_ptr<Work> MakeTransferWork(Task& task, const P2pPartition& partition, const ChannelPart& part) {
    if (!task.registered) return MakeP2pWork(task, partition, part);
    Connection* const connection = P2pConnection(task, part.channel);
    const RegisteredSteps* const steps = StepsOf(connection);
    if (connection->isSend) return MakeRegisteredWork(steps, connection, nullptr, nullptr);
    return MakeRegisteredWork(nullptr, nullptr, steps, connection);
  }

  /** Works of the same function, algorithm and protocol are fused into one batch. */
  Batch& CollBatch(Lane& lane, const Task& task) {
    if (lane.colls.empty() || lane.batchFunc != task.func || lane.batchAlgo != task.algo ||
        lane.batchProto != task.proto) {
      lane.colls.push_back(Batch{false, {}});
      lane.batchFunc = task.func;
      lane.batchAlgo = task.algo;
      lane.batchProto = task.proto;
    }
    return lane.colls.back();
  }

  void AddPair(const TransferPair& pair) {
    for (Task* task : {pair.send, pair.recv}) {
      if (task != nullptr) plan_.p2ps.push_back(task);
    }
    const P2pPartition recv = PartitionTransfer(pair.recv, pair.round);
    const P2pPartition send = PartitionTransfer(pair.send, pair.round);
    if (pair.round == kSelfRound) return AddSelf(pair, send);
    for (size_t i = 0; i < std::max(recv.parts.size(), send.parts.size()); i++) {
      if (i < recv.parts.size()) AddTransfer(*pair.recv, recv, recv.parts[i], pair);
      if (i < send.parts.size()) AddTransfer(*pair.send, send, send.parts[i], pair);
    }
  }

  /** Has no connection and no operation. The GPU counts it, so its count is ahead of the host's. */
  void AddSelf(const TransferPair& pair, const P2pPartition& partition) {
    for (const ChannelPart& part : partition.parts) {
      Batch& batch = lanes_[part.channel].transfers[pair.ordinal];
      batch.concurrent = true;
      batch.works.push_back(MakeSelfWork(*pair.send, *pair.recv, part));
      batch.uncounted += 1;
      marks_[{part.channel, pair.ordinal, pair.round}];
    }
  }

  P2pPartition PartitionTransfer(Task* task, int round) {
    if (task == nullptr) return {};
    P2pPartition partition = PartitionP2p(task->bytes, task->protoChoice, comm_.nRanks, comm_.limits(), round,
                                          task->registered && round != 0);
    Describe(*task, partition.proto, partition.parts.size(), 1);
    return partition;
  }

  void AddTransfer(Task& task, const P2pPartition& partition, const ChannelPart& part, const TransferPair& pair) {
    Batch& batch = lanes_[part.channel].transfers[pair.ordinal];
    batch.concurrent = true;
    ProxyOp op = OpOf(task, part, partition.chunkBytes);
    op.chunkSteps = op.sliceSteps = 1;
    op.opCount = opCount_ + 2 * pair.ordinal + 1;
    AddNetworkOp(op, P2pConnection(task, part.channel), part);
    batch.works.push_back(MakeTransferWork(task, partition, part));
    const WorkKey key{part.channel, pair.ordinal, pair.round};
    marks_[key];
    if (AddProfilerOp(op, 0)) unnumbered_.push_back({ops_.size() - 1, key});
  }

  /** One mark per pair and channel, after those of the collectives. The host does not count what a rank sends to itself. */
  void NumberTransfers() {
    for (auto& [key, counter] : marks_) {
      const auto [channel, ordinal, round] = key;
      uint64_t& counted = comm_.workCounters[channel];
      counter = counted + 1;
      Batch& batch = lanes_[channel].transfers[ordinal];
      if (batch.firstCounter == 0) batch.firstCounter = counter;
      if (round == kSelfRound) continue;
      counted += 1;
      batch.marks += 1;
    }
    for (const auto& [index, key] : unnumbered_) ops_[index].workCounter = marks_[key];
  }

  void Describe(Task& task, Proto proto, int nChannels, int opsPerChannel) {
    task.proto = proto;
    task.nChannels = nChannels;
    task.ops.reserve(nChannels * opsPerChannel);  // the proxy keeps pointers into it
  }

  ProxyOp OpOf(Task& task, const ChannelPart& part, size_t chunkBytes) const {
    ProxyOp op{};
    op.task = &task;
    op.channel = part.channel;
    op.rawSteps = part.rawSteps;
    op.chunkBytes = chunkBytes;
    op.proto = task.proto;
    op.opCount = opCount_;
    op.comm = &comm_;
    return op;
  }

  void AddNetworkOp(ProxyOp op, Connection* connection, const ChannelPart& part) {
    connection->EnsureBuffer(op.proto);
    op.kind = connection->isSend ? ProxyKind::kSend : ProxyKind::kRecv;
    op.connection = connection;
    if (op.task->registered) op.registered = AddRegisteredSteps(*op.task, part, connection->isSend);
    op.task->ops.push_back({op.channel, connection->peer, connection->isSend, part.nSteps});
    op.truth = &op.task->ops.back();
    ops_.push_back(op);
  }

  /** False: no plugin wants the event. */
  bool AddProfilerOp(ProxyOp op, uint64_t workCounter) {
    if ((op.task->mask & masks::kForKernelCh) == 0) return false;
    op.kind = ProxyKind::kProfiler;
    op.workCounter = workCounter;
    ops_.push_back(op);
    return true;
  }

  std::unique_ptr<Kernel> MakeKernel() {
    auto kernel = std::make_unique<Kernel>();
    kernel->comm = &comm_;
    for (auto& [channel, lane] : lanes_) {
      Block block{channel, {}};
      for (Batch& batch : lane.colls) block.batches.push_back(std::move(batch));
      for (auto& [ordinal, batch] : lane.transfers) block.batches.push_back(std::move(batch));
      kernel->blocks.push_back(std::move(block));
    }
    for (std::vector<Task*>* tasks : {&plan_.colls, &plan_.p2ps}) {
      kernel->tasks.insert(kernel->tasks.end(), tasks->begin(), tasks->end());
    }
    return kernel;
  }

  using WorkKey = std::tuple<int, int, int>;  // channel, ordinal, round

  LaunchPlan& plan_;
  Comm& comm_;
  const int maxChannels_;
  uint64_t opCount_;
  std::map<int, Lane> lanes_;  // by channel
  std::vector<ProxyOp> ops_;
  std::map<WorkKey, uint64_t> marks_;
  std::vector<std::pair<size_t, WorkKey>> unnumbered_;  // profiler operations, until marks have numbers
};

}  // namespace

void SortCollectives(std::vector<Task*>& colls) {
  std::stable_sort(colls.begin(), colls.end(), [](Task* a, Task* b) { return a->bytes > b->bytes; });
}

Schedule MakeSchedule(LaunchPlan& plan, int maxChannels) { return Scheduler(plan, maxChannels).Make(); }

}  // namespace loopback
