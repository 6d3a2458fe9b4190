// The simulated GPU of a rank: one thread that runs the kernels of all streams, one block per channel, taking turns.
//
// A stream per communicator: its kernels run one after another, those of different communicators side by side. A block
// works off batches in order. As on a GPU it marks the beginning and the end of each batch with the GPU's clock, one
// mark per work; the works of one batch share the instants.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_GPU_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_GPU_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loopback/completion.h"
#include "loopback/gpu_clock.h"
#include "loopback/work.h"

namespace loopback {

struct Batch {
  bool concurrent;  // sends and receives run together, collectives one after another
  std::vector<std::unique_ptr<Work>> works;
  uint64_t firstCounter = 0;
  int marks = 0;  // a fused send and receive share one
  bool begun = false;
};

struct Block {
  int channel;
  std::vector<Batch> batches;  // the first one runs
};

struct Kernel {
  Comm* comm;
  std::vector<Block> blocks;
  std::vector<Task*> tasks;
};

class Gpu {
 public:
  Gpu(const GpuClock& clock, Completion* completion, bool spin);
  /** Waits for the thread; what is still running stays unfinished. */
  ~Gpu();

  /** Behind what is already in the stream of its communicator. May begin before this returns. */
  void Launch(std::unique_ptr<Kernel> kernel);

 private:
  using Stream = std::deque<std::unique_ptr<Kernel>>;

  void Run();
  bool WaitForWork();
  bool AdvanceStreams();
  bool AdvanceKernel(Kernel& kernel);
  bool AdvanceBlock(Kernel& kernel, Block& block);
  void Mark(std::array<KernelMarks, kMaxChannels>& marks, const Block& block, const Batch& batch);
  void Finish(Kernel& kernel);

  const GpuClock& clock_;
  Completion* const completion_;
  Backoff backoff_;

  std::mutex mutex_;
  std::condition_variable launched_;
  std::deque<std::unique_ptr<Kernel>> inbox_;  // under mutex_
  std::atomic<bool> hasMail_{false};           // so that a busy GPU looks without locking
  std::atomic<bool> stop_{false};

  std::map<Comm*, Stream> streams_;  // the thread's own
  std::thread thread_;
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_GPU_H_
