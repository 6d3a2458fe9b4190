// The simulated GPU of a rank: one thread that runs the kernels of all streams, one block per channel, taking turns.
//
// There is one stream per communicator, or one for all. Kernels of a stream run one after another, kernels of different
// streams side by side. A block executes its batches in order. As a GPU does, it marks the beginning and the end of each
// batch by the GPU's clock, with one mark per work. The works of a batch have the same times.

#pragma once

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
#include "loopback/gpu_troubles.h"
#include "loopback/work.h"

namespace loopback {

struct Batch {
  bool concurrent;  // sends and receives run together, collectives one after another
  std::vector<std::unique_ptr<Work>> works;
  uint64_t firstCounter = 0;
  int marks = 0;      // a fused send and receive have one
  int uncounted = 0;  // sends to oneself: the GPU counts them, the host does not
  bool begun = false;
  bool symmetric = false;  // one work, whose phases are marked
  int phase = 0;
};

struct Block {
  int channel;
  std::vector<Batch> batches;  // the first one runs
};

struct Kernel {
  Comm* comm;
  std::vector<Block> blocks;
  std::vector<Task*> tasks;
  /** The replay of a graph. The kernels that make and check the data are captured too, because replays share buffers. */
  bool isReplay = false;
  bool begun = false;
  int64_t beginsAt = 0;  // CLOCK_MONOTONIC. 0: an earlier kernel of the stream has not ended
};

class Gpu {
 public:
  Gpu(const GpuClock& clock, const Options& options, Completion* completion);
  /** Waits for the thread. Kernels that still run stay unfinished. */
  ~Gpu();

  /** Adds the kernel to its stream. It may begin before this returns. */
  void Launch(std::unique_ptr<Kernel> kernel);
  /** True if no kernel runs or waits. */

 private:
  using Stream = std::deque<std::unique_ptr<Kernel>>;

  void Run();
  bool WaitForWork();
  bool AdvanceStreams();
  bool MayAdvance(Kernel& kernel);
  void Begin(Kernel& kernel);
  bool AdvanceKernel(Kernel& kernel);
  bool AdvanceBlock(Kernel& kernel, Block& block);
  void Mark(std::array<KernelMarks, kMaxChannels>& marks, const Block& block, const Batch& batch);
  void MarkBegin(Comm& comm, const Block& block, Batch& batch);
  void MarkEnd(const Kernel& kernel, const Block& block, const Batch& batch);
  void MarkPhase(Comm& comm, const Block& block, const Batch& batch, int phase);
  void Finish(Kernel& kernel);

  const GpuClock& clock_;
  GpuTroubles troubles_;
  Completion* const completion_;
  Backoff backoff_;

  std::mutex mutex_;
  std::condition_variable launched_;
  std::deque<std::unique_ptr<Kernel>> inbox_;  // under mutex_
  std::atomic<bool> hasMail_{false};           // so that a busy GPU looks without locking
  std::atomic<bool> stop_{false};

  std::map<const void*, Stream> streams_;  // the thread's own
  std::thread thread_;
};

}  // namespace loopback
