// The sending side of the proxy, one poll of each connection at a time (NCCL 2.30: net.cc). Per step the profiler sees
//
//   start · 8 offered to the GPU · 20 filled, send tried (once for each try) · 9 accepted · stop when sent

#include "loopback/progress.h"

namespace loopback {

bool ProgressThread::ProgressSend(ProxyArgs& args) {
  bool moved = false;
  const int depth = MaxDepth(args.nSubs);
  for (int i = 0; i < args.nSubs; i++) moved |= ProgressSendSub(args, args.subs[i], depth);
  args.idle = !moved;
  EndIfDone(args);
  return moved;
}

/** Does the first of three things that is possible now. */
bool ProgressThread::ProgressSendSub(ProxyArgs& args, ProxySub& sub, int maxDepth) {
  Connection& connection = *sub.op.connection;
  if (sub.done == sub.op.rawSteps) return false;

  if (sub.posted < sub.op.rawSteps && sub.posted < sub.done + maxDepth) {
    const int step = sub.posted;
    events_.StartStep(sub, step);
    sub.posted += sub.op.sliceSteps;
    if (connection.shared) connection.head.store(sub.base + sub.posted - kSteps, std::memory_order_release);
    events_.StepState(sub, step, nccl_abi::kStepSendGpuWait);
    return true;
  }

  if (sub.transmitted < sub.posted && TrySend(sub)) return true;

  if (sub.done == sub.transmitted || !connection.out->TestOldest()) return false;
  const int step = sub.done;
  connection.sizes[(sub.base + step) % kSteps].store(Connection::kEmpty, std::memory_order_release);
  sub.done += sub.op.sliceSteps;
  // The GPU may fill the slot again once it sees this. The emptied size is stored before.
  if (!connection.shared) connection.head.store(sub.base + sub.done, std::memory_order_release);
  StepEnded(args, sub, step);
  return true;
}

/** If the GPU has filled the next slot, asks the network to send it. */
bool ProgressThread::TrySend(ProxySub& sub) {
  if (!sends_) return false;
  Connection& connection = *sub.op.connection;
  const int step = sub.transmitted;
  const uint64_t absolute = sub.base + step;
  if (connection.tail.load(std::memory_order_acquire) <= absolute) return false;
  const int32_t size = connection.sizes[absolute % kSteps].load(std::memory_order_acquire);
  if (size == Connection::kEmpty) return false;

  events_.StepState(sub, step, nccl_abi::kStepSendPeerWait);
  const NetParent parent = events_.ParentOfRequest(sub, step);
  const char* const data =
      sub.op.registered == nullptr ? connection.Slot(sub.op.proto, absolute) : (*sub.op.registered)[step].data;
  if (!connection.out->Post(data, size, absolute, parent)) return false;
  sub.transSize = size;
  sub.op.truth->bytes += size;
  sub.transmitted += sub.op.sliceSteps;
  events_.StepState(sub, step, nccl_abi::kStepSendWait);
  sub.transferred += size;  // late: in NCCL 2.26 a plugin gets it with the next state
  return true;
}

}  // namespace loopback
