// The receiving side of the proxy (NCCL 2.30: net.cc). Per step the profiler sees
//
//   start (once more each time the network refuses) · 10 posted · 11 arrived · 12 shown to the GPU · stop when used
//
// Each round does the first of the four passes that finds something to do.

#include <algorithm>

#include "loopback/progress.h"

namespace loopback {
namespace {

std::atomic<int32_t>& FirstSize(const ProxySub& sub) { return sub.op.connection->sizes[sub.base % kSteps]; }

}  // namespace

bool ProgressThread::ProgressRecv(ProxyArgs& args) {
  const bool moved = PostReceives(args) || TakeArrivals(args) || ShowToGpu(args) || TakeConsumed(args);
  args.idle = !moved;
  EndIfDone(args);
  return moved;
}

bool ProgressThread::PostReceives(ProxyArgs& args) {
  if (!receives_) return false;
  bool moved = false;
  const int depth = MaxDepth(args.nSubs);
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    if (sub.posted == sub.op.rawSteps || sub.posted >= sub.done + depth) continue;
    const int step = sub.posted;
    const uint64_t absolute = sub.base + step;
    events_.StartStep(sub, step);
    if (!MayWrite(sub) || sub.refusals-- > 0) continue;
    Connection& connection = *sub.op.connection;
    const RegisteredStep to =
        sub.op.registered == nullptr
            ? RegisteredStep{connection.Slot(sub.op.proto, absolute), Shape(sub.op.proto).slotBytes * sub.op.sliceSteps}
            : (*sub.op.registered)[step];
    const NetParent parent = events_.ParentOfRequest(sub, step);
    if (!connection.in->Post(to.data, to.bytes, absolute, parent)) continue;
    if (sub.op.registered != nullptr && step == 0) {
      FirstSize(sub).store(Connection::kEmpty, std::memory_order_relaxed);  // for a later operation
    }
    sub.refusals = options_.irecvBusy;
    sub.posted += sub.op.sliceSteps;
    events_.StepState(sub, step, nccl_abi::kStepRecvWait);
    moved = true;
  }
  return moved;
}

/** A registered buffer belongs to the user until the kernel begins. Until then the first step's start is repeated. */
bool ProgressThread::MayWrite(const ProxySub& sub) const {
  if (sub.op.registered == nullptr || sub.posted > 0) return true;
  return FirstSize(sub).load(std::memory_order_acquire) == Connection::kBegun;
}

bool ProgressThread::TakeArrivals(ProxyArgs& args) {
  bool moved = false;
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    size_t bytes = 0;
    if (sub.received == sub.posted || !sub.op.connection->in->TestOldest(&bytes)) continue;
    const int step = sub.received;
    sub.transSize = bytes;
    sub.transferred += bytes;
    sub.op.truth->bytes += bytes;
    sub.received += sub.op.sliceSteps;
    events_.StepState(sub, step, nccl_abi::kStepRecvFlushWait);
    moved = true;
  }
  return moved;
}

/** Host memory needs no flush. */
bool ProgressThread::ShowToGpu(ProxyArgs& args) {
  bool moved = false;
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    if (sub.transmitted == sub.received) continue;
    const int step = sub.transmitted;
    sub.transmitted += sub.op.sliceSteps;
    events_.StepState(sub, step, nccl_abi::kStepRecvGpuWait);
    sub.op.connection->tail.store(sub.base + sub.transmitted, std::memory_order_release);
    moved = true;
  }
  return moved;
}

bool ProgressThread::TakeConsumed(ProxyArgs& args) {
  bool moved = false;
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    const uint64_t used = sub.op.connection->head.load(std::memory_order_acquire);
    while (used > sub.base + sub.done && sub.done < sub.transmitted) {
      const int step = sub.done;
      sub.done += sub.op.sliceSteps;
      StepEnded(args, sub, step);
      moved = true;
    }
  }
  return moved;
}

}  // namespace loopback
