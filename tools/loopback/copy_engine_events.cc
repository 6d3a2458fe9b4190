#include "loopback/copy_engine_events.h"

#include "loopback/event_masks.h"

namespace loopback {
namespace {

constexpr char kDatatype[] = "ncclFloat32";
constexpr char kUnicast[] = "UC";

}  // namespace

/** Reads the mask now, not at the call of the collective. */
void CopyEngineEvents::Start(Task& task, CallCounts& counts) {
  const int mask = profiler_->SampleMask();
  const Comm& comm = *task.comm;
  task.seqNumber = task.comm->copyEngineCalls++;
  collHandle_ = nullptr;
  if (!profiler_->loaded() || (mask & masks::kForCeColl) == 0) return;
  Event d(nccl_abi::kCeColl, task.apiHandle, comm.rank);
  d->ceColl.seqNumber = task.seqNumber;
  d->ceColl.func = FuncName(task.func);
  d->ceColl.sendBuff = task.buffer;
  d->ceColl.recvBuff = task.buffer;
  d->ceColl.count = task.count;
  d->ceColl.root = 0;
  d->ceColl.datatype = kDatatype;
  d->ceColl.syncStrategy = kUnicast;
  d->ceColl.intraBatchSync = false;
  d->ceColl.batchSize = d->ceColl.numBatches = 0;  // NCCL never sets them
  d->ceColl.ceSeqNum = task.seqNumber;
  d->ceColl.stream = task.comm;
  d->ceColl.userTag = userTag_;
  profiler_->Start(comm.profilerContext, &collHandle_, d, counts);
  Sync(task, false, mask, counts);
  Batch(task, mask, counts);
  Sync(task, true, mask, counts);
}

void CopyEngineEvents::Stop(CallCounts& counts) {
  if (profiler_->loaded() && collHandle_ != nullptr) profiler_->Stop(collHandle_, counts);
}

void CopyEngineEvents::Sync(const Task& task, bool isComplete, int mask, CallCounts& counts) {
  if ((mask & nccl_abi::kCeSync) == 0) return;
  Event d(nccl_abi::kCeSync, collHandle_, task.comm->rank);
  d->ceCollSync.isComplete = isComplete;
  d->ceCollSync.nRanks = task.comm->nRanks;
  StartAndStop(task, d, counts);
}

/** Copies of the own block to all other ranks. */
void CopyEngineEvents::Batch(const Task& task, int mask, CallCounts& counts) {
  if ((mask & nccl_abi::kCeBatch) == 0) return;
  Event d(nccl_abi::kCeBatch, collHandle_, task.comm->rank);
  d->ceCollBatch.numOps = task.comm->nRanks - 1;
  d->ceCollBatch.totalBytes = d->ceCollBatch.numOps * task.count * kElementBytes;
  d->ceCollBatch.useIntraSync = false;
  StartAndStop(task, d, counts);
}

void CopyEngineEvents::StartAndStop(const Task& task, const Event& event, CallCounts& counts) {
  if (collHandle_ == nullptr) return;
  void* handle = nullptr;
  profiler_->Start(task.comm->profilerContext, &handle, event, counts);
  if (handle != nullptr) profiler_->Stop(handle, counts);
}

}  // namespace loopback
