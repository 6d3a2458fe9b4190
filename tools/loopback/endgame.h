// Ends a job that does not end by itself, after its recovery if that is asked for, in these steps:
//
//   it hangs, or the time is over ─▶ ranks write down what they were doing ─▶ a signal ─▶ SIGKILL

#pragma once

#include <functional>
#include <vector>

#include "loopback/child.h"

namespace loopback {

class Endgame {
 public:
  /** `recover`: lets the others go on without a dead rank. False: nobody has died. */
  Endgame(const Options& options, const std::vector<Child>& children, std::function<bool()> recover);

  /** A fault happened that the other ranks wait for in vain. */
  void BeginHang();
  /** The launcher got a signal: end all ranks. */
  void Interrupt(int signal);
  /** Takes the steps that are due. */
  void HandleTimers();

  /** Time until the next step. Negative: there is none. */
  int64_t NextStepIn() const;
  bool timedOut() const { return timedOut_; }

 private:
  bool MayRecover() const { return options_.recovery != Recovery::kNone && !recovered_; }
  void ReportFault() const;
  void AskForDumps();
  void SignalAll(int signal) const;

  const Options& options_;
  const std::vector<Child>& children_;
  const std::function<bool()> recover_;

  // CLOCK_MONOTONIC; far away: not planned.
  int64_t timeoutAt_;
  int64_t hangEndsAt_;
  int64_t dumpEndsAt_;
  int64_t killAt_;
  int endSignal_ = 0;
  bool timedOut_ = false;
  bool recovered_ = false;
};

}  // namespace loopback
