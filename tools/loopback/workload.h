// The work of a rank's API thread: iterations of the script, with the requested faults. Waits for everything that it
// enqueued, checks it and writes it to the truth file.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "loopback/control.h"
#include "loopback/nccl_api.h"
#include "loopback/options.h"
#include "loopback/pxn.h"
#include "loopback/task_maker.h"
#include "loopback/truth.h"

namespace loopback {

class Workload {
 public:
  Workload(const Options& options, const std::vector<std::unique_ptr<Comm>>& comms, const Windows& windows,
           const Profiler& profiler, NcclApi* api, ProgressThread* progress, Completion* completion, Pxn* pxn,
           Truth* truth, Control* control);

  /** Runs all iterations. The result also says whether the data was right. */
  RankResult Run();

  /** Writes the ended operations that were executed for another rank. */
  void WriteForeign();

  /** Finishes what Run has left under way (ExitStyle::kHasty). */
  RankResult Finish();
  /** Runs the script once more without the operations of this communicator. */
  RankResult RunWithout(const Comm& gone);
  /** Called instead of waiting for a signal. It must not return. */
  void OnAbort(std::function<void()> abort) { abort_ = std::move(abort); }

  /** Called when the job goes on without a rank. It must not return. */
  void OnRecovery(std::function<void(int gone)> recover) { recover_ = std::move(recover); }

  /** Calls so far. Exact only while the progress thread sleeps or is gone. */
  CallTotals Totals(int finalizes) const;

 private:
  void RunIteration(int iteration);
  void BeginFaults(int iteration);
  const Fault* FaultOf(FaultKind kind, int iteration) const;
  void MeetFaults(int iteration, FaultMoment moment);
  void Expect(const Fault& fault);
  [[noreturn]] void Perish(FaultKind kind);
  void RunItem(const ScriptItem& item, int iteration);
  void Call(const ScriptOp& op, int iteration);
  void RunGraph(const ScriptItem& item, int iteration);
  void Capture(const ScriptItem& item, int iteration, Graph& graph);
  float* BufferFor(size_t bytes);

  void Sync();
  void Verify(const Task& task);
  void Report();

  // Called while waiting: ends if the launcher is gone, writes the truth if asked, dies if a fault says so.
  void LookUp();
  void Sleep(int64_t ns);
  [[noreturn]] void SleepUntilKilled();
  void WriteUnfinished();

  const Options& options_;
  const std::vector<std::unique_ptr<Comm>>& comms_;
  NcclApi* const api_;
  ProgressThread* const progress_;
  Completion* const completion_;
  Pxn* const pxn_;
  Truth* const truth_;
  Control* const control_;

  std::vector<std::unique_ptr<Task>> open_;  // enqueued and not yet waited for
  struct Buffer {
    std::unique_ptr<float[]> data;
    size_t bytes = 0;
  };
  std::vector<Buffer> buffers_;  // one for each operation of an iteration, reused in the next
  size_t opInIteration_ = 0;
  std::function<void()> abort_;
  std::function<void(int gone)> recover_;
  TaskMaker maker_;
  std::map<const ScriptItem*, Graph> graphs_;  // captured when first met
  Graph* capturing_ = nullptr;
  std::optional<FaultKind> perishesBy_;  // when the progress thread is frozen
  std::minstd_rand random_;
  RankResult result_{};
};

}  // namespace loopback
