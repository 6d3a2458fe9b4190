// What the API thread of a rank does: iteration after iteration of the script, with the faults that were asked for.
// Everything enqueued is waited for, checked and written to the truth.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_WORKLOAD_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_WORKLOAD_H_

#include <memory>
#include <vector>

#include "loopback/control.h"
#include "loopback/nccl_api.h"
#include "loopback/options.h"
#include "loopback/truth.h"

namespace loopback {

class Workload {
 public:
  Workload(const Options& options, const std::vector<std::unique_ptr<Comm>>& comms, const Profiler& profiler,
           NcclApi* api, ProgressThread* progress, Completion* completion, Truth* truth, Control* control);

  /** All iterations. The result also says whether the data was right. */
  RankResult Run();

  /** Calls so far; exact while the progress thread sleeps or is gone. */
  CallTotals Totals(int finalizes) const;

 private:
  void RunIteration(int iteration);
  void BeginFaults(int iteration);
  void RunItem(const ScriptItem& item, int iteration);
  std::unique_ptr<Task> MakeTask(const ScriptOp& op, int iteration);
  float* BufferFor(size_t bytes);
  uint64_t SaltOf(const Task& task) const;

  void Sync();
  void Verify(const Task& task);
  void Report();

  // While waiting: has the launcher gone, or asked for everything to be written down? Is it time to die?
  void LookUp();
  void Sleep(int64_t ns);
  [[noreturn]] void SleepUntilKilled();
  void WriteUnfinished();

  const Options& options_;
  const std::vector<std::unique_ptr<Comm>>& comms_;
  NcclApi* const api_;
  ProgressThread* const progress_;
  Completion* const completion_;
  Truth* const truth_;
  Control* const control_;

  std::vector<std::unique_ptr<Task>> open_;  // enqueued and not yet waited for
  struct Buffer {
    std::unique_ptr<float[]> data;
    size_t bytes;
  };
  std::vector<Buffer> buffers_;  // one for each operation of an iteration, kept for the next
  size_t opInIteration_ = 0;
  uint64_t nextTask_ = 0;
  RankResult result_{};
};

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_WORKLOAD_H_
