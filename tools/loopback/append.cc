// Makes posted operations active, with the ProxyCtrl events around it.

#include "loopback/progress.h"
#include "loopback/pxn.h"

namespace loopback {
namespace {

constexpr int kAppendBatch = 16;  // NCCL_PROXY_APPEND_BATCH_SIZE: groups of operations taken in at once

}  // namespace

void ProgressThread::Post(std::vector<ProxyOp> ops) {
  if (ops.empty()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (ProxyOp& op : ops) {
      op.endless = IsEndless(op);
      if (op.task != nullptr) {
        const Task& task = *op.task;
        op.profile = {task.mask, op.comm->profilerContext, task.eventHandle, OwnPid(), op.comm->rank, task.unreported};
        if (IsWithinNode(op)) KeepFromProfiler(op);
      }
      if (op.connection != nullptr && op.connection->executor != nullptr) {
        const Connection& c = *op.connection;
        c.executor->Post(op, {c.peer, c.channel, c.isSend, c.shared});
      } else if (kernels_ != nullptr && op.kind == ProxyKind::kProfiler) {
        kernels_->Post(op);
      } else {
        posted_.push_back(op);
        hasPosted_.store(true, std::memory_order_relaxed);
      }
    }
  }
  wake_.notify_one();
}

bool ProgressThread::IsWithinNode(const ProxyOp& op) const {
  if (op.kind == ProxyKind::kProfiler || options_.nodes.size == 1) return false;
  return options_.nodes.Same(options_.rank, op.comm->spec.worldRanks[op.connection->peer]);
}

/** Hides the operation from the profiler, as if NVLink or shared memory carried it. */
void ProgressThread::KeepFromProfiler(ProxyOp& op) {
  op.profile.mask = 0;
  op.profile.unreported = true;
  op.truth->unreported = true;
}

/** Not for an operation of another process. */
bool ProgressThread::IsEndless(const ProxyOp& op) const {
  if (op.kind == ProxyKind::kProfiler || op.task == nullptr) return op.endless;
  if (options_.transport == Transport::kCollNet) return !IsP2p(op.task->func);
  return options_.transport == Transport::kMemcpy;
}

/** Returns how many operations were appended. */
int ProgressThread::TakePosted() {
  if (taken_.empty() && !FetchPosted()) return 0;
  void* handle;
  events_.StartCtrl(*owner_, &handle);
  events_.CtrlState(handle, nccl_abi::kCtrlAppend);
  const int appended = AppendBatch();
  events_.CtrlState(handle, nccl_abi::kCtrlAppendEnd, appended);
  events_.StopCtrl(handle);
  return appended;
}

/** If there is other work, does not wait for operations or for the lock. False: there is nothing to append. */
bool ProgressThread::FetchPosted() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (active_ != nullptr) {
    if (!hasPosted_.load(std::memory_order_relaxed) || !lock.try_lock()) return false;
  } else {
    lock.lock();
    if (posted_.empty() && !stop_ && !freeze_) SleepUntilPosted(lock);
  }
  taken_.swap(posted_);
  hasPosted_.store(false, std::memory_order_relaxed);
  return true;
}

/** Makes its callbacks with the lock held, as NCCL does. */
void ProgressThread::SleepUntilPosted(std::unique_lock<std::mutex>& lock) {
  void* handle;
  events_.StartCtrl(*owner_, &handle);
  events_.CtrlState(handle, nccl_abi::kCtrlSleep);
  wake_.wait(lock, [&] { return !posted_.empty() || stop_ || freeze_; });
  if (freeze_) {
    lock.unlock();
    StayFrozen();
  }
  events_.CtrlState(handle, nccl_abi::kCtrlWakeup);
  events_.StopCtrl(handle);
}

int ProgressThread::AppendBatch() {
  int appended = 0;
  int groups = 1;
  for (uint64_t opCount = 0; !taken_.empty(); taken_.pop_front()) {
    const ProxyOp& op = taken_.front();
    if (appended > 0 && op.opCount != opCount && ++groups > kAppendBatch) break;
    opCount = op.opCount;
    Append(op);
    appended += 1;
  }
  return appended;
}

/** Queues the operation behind the last one on its connection, or puts it into the active list. */
void ProgressThread::Append(const ProxyOp& op) {
  ProxyArgs** const queue = QueueOf(op);
  ProxyArgs* const last = *queue;
  const bool shared = op.connection != nullptr && op.connection->shared;
  if (last != nullptr && shared && last->opCount == op.opCount && last->nSubs < ProxyArgs::kMaxSubs &&
      last->state == ProxyState::kReady) {
    AddSub(*last, op);
    return;
  }
  ProxyArgs* const args = NewArgs(op, queue);
  AddSub(*args, op);
  if (last != nullptr) {
    last->nextPeer = args;
  } else if (active_ == nullptr) {
    active_ = activeTail_ = args;
  } else {
    activeTail_->next = args;
    activeTail_ = args;
  }
  *queue = args;
}

ProxyArgs** ProgressThread::QueueOf(const ProxyOp& op) {
  Comm& comm = *op.comm;
  if (op.kind == ProxyKind::kProfiler) return &comm.profilerAppend[op.channel];
  if (op.connection->shared) return &comm.sharedAppend[op.connection->isSend];
  return &op.connection->append;
}

ProxyArgs* ProgressThread::NewArgs(const ProxyOp& op, ProxyArgs** queue) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<ProxyArgs>());
    free_.push_back(pool_.back().get());
  }
  ProxyArgs* const args = free_.back();
  free_.pop_back();
  args->kind = op.kind;
  args->state = ProxyState::kReady;
  args->nSubs = args->nDone = 0;
  args->idle = false;
  args->opCount = op.opCount;
  args->next = args->nextPeer = nullptr;
  args->append = queue;
  return args;
}

void ProgressThread::AddSub(ProxyArgs& args, const ProxyOp& op) {
  ProxySub& sub = args.subs[args.nSubs++];
  sub.op = op;
  if (op.kind == ProxyKind::kProfiler) return;
  events_.OpAppended(sub);
}

}  // namespace loopback
