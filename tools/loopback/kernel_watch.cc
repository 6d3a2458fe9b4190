// Watches one kernel block for the profiler (NCCL 2.26 to 2.30: transport/profiler.cc). The proxy polls the GPU's marks,
// so an event is made when the proxy looks, with the GPU's own time.

#include "loopback/kernel_marks.h"
#include "loopback/progress.h"

namespace loopback {

/** Never counts as idle: while a kernel runs, the thread is busy. */
bool ProgressThread::ProgressKernelWatch(ProxyArgs& args) {
  ProxySub& sub = args.subs[0];
  const Comm& comm = *sub.op.comm;
  const int channel = sub.op.channel;
  uint64_t timestamp;
  if (sub.posted == 0) {
    if (!ReadMark(comm.workStarted[channel], sub.op.workCounter, &timestamp)) return false;
    events_.StartKernelCh(sub, timestamp);
    sub.posted = 1;
    return true;
  }
  if (!ReadMark(comm.workCompleted[channel], sub.op.workCounter, &timestamp)) return false;
  events_.StopKernelCh(sub, timestamp);
  args.nDone += 1;
  EndIfDone(args);
  return true;
}

}  // namespace loopback
