// The proxy's progress thread, "NCCL Progress 0": one for all communicators of the process. It takes posted operations,
// progresses them one after another, and reports to the profiler. The loop is NCCL's (proxy.cc).
//
//   API thread ── Post ──▶ posted ops ── append ──▶ active list ── progress ──▶ done
//
// It sleeps only if there is nothing to do.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loopback/clock.h"
#include "loopback/completion.h"
#include "loopback/kernel_thread.h"
#include "loopback/network.h"
#include "loopback/options.h"
#include "loopback/proxy_events.h"
#include "loopback/proxy_op.h"

namespace loopback {

/** What a progress thread does when enough steps have ended. */
enum class AfterSteps { kFreeze, kCutSends, kStopSending, kStopReceiving };

class ProgressThread {
 public:
  /** `owner` is the communicator whose context ProxyCtrl events carry. */
  ProgressThread(Comm* owner, Profiler* profiler, Completion* completion, Network* network, const Options& options);
  ~ProgressThread() { Stop(); }

  /** Finishes what is active, as ncclCommDestroy does, and joins. */
  void Stop();

  /** Called once for each kernel. */
  void Post(std::vector<ProxyOp> ops);

  // Stops a process in mid-work: no callback is made, nothing moves, no counter changes. Only a SIGKILL or an exit may
  // follow.
  void Freeze();
  bool frozen() const { return frozen_.load(std::memory_order_acquire); }
  /** For how long kCutSends lasts, before AfterSomeSteps. 0: for ever. */
  void CutFor(int64_t ns) { cutNs_ = ns; }
  /** Does `then` after this many more steps have ended. At most once. */
  void AfterSomeSteps(int64_t steps, AfterSteps then) {
    afterSteps_.store(then, std::memory_order_relaxed);
    stepsLeft_.store(steps, std::memory_order_release);
  }

  const CallCounts& counts() const { return events_.counts(); }
  const Network& network() const { return *network_; }
  const CallCounts& kernelCounts() const { return kernels_ == nullptr ? noCalls_ : kernels_->counts(); }

 private:
  static constexpr int64_t kNoLimit = INT64_MAX;

  void Run();
  bool Round(bool* wasIdle);
  bool ProgressActive(bool* allIdle);
  void MarkEdge(bool idle);
  void Remove(ProxyArgs* args, ProxyArgs* previous);
  [[noreturn]] void StayFrozen();

  bool IsEndless(const ProxyOp& op) const;
  bool IsWithinNode(const ProxyOp& op) const;
  static void KeepFromProfiler(ProxyOp& op);
  int TakePosted();
  bool FetchPosted();
  void SleepUntilPosted(std::unique_lock<std::mutex>& lock);
  int AppendBatch();
  void Append(const ProxyOp& op);
  ProxyArgs** QueueOf(const ProxyOp& op);
  void AddSub(ProxyArgs& args, const ProxyOp& op);
  ProxyArgs* NewArgs(const ProxyOp& op, ProxyArgs** queue);

  // One round of one operation; true if anything moved. In send.cc, recv.cc and kernel_watch.cc.
  bool Progress(ProxyArgs& args);
  bool ProgressSend(ProxyArgs& args);
  bool ProgressSendSub(ProxyArgs& args, ProxySub& sub, int maxDepth);
  bool TrySend(ProxySub& sub);
  bool ProgressRecv(ProxyArgs& args);
  bool PostReceives(ProxyArgs& args);
  bool MayWrite(const ProxySub& sub) const;
  bool TakeArrivals(ProxyArgs& args);
  bool ShowToGpu(ProxyArgs& args);
  bool TakeConsumed(ProxyArgs& args);
  bool ProgressKernelWatch(ProxyArgs& args);
  void BeginSubs(ProxyArgs& args);
  void StepEnded(ProxyArgs& args, ProxySub& sub, int rawStep);
  void EndIfDone(ProxyArgs& args);

  Comm* const owner_;
  Profiler* const profiler_;
  Completion* const completion_;
  Network* const network_;
  const Options& options_;
  ProxyEvents events_;
  const CallCounts noCalls_;
  const std::unique_ptr<KernelThread> kernels_;  // NCCL 2.31
  Backoff backoff_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<ProxyOp> posted_;          // under mutex_
  std::atomic<bool> hasPosted_{false};  // so that a busy thread looks without locking
  std::atomic<bool> stop_{false};
  std::atomic<bool> freeze_{false};
  std::atomic<bool> frozen_{false};
  std::atomic<int64_t> stepsLeft_{kNoLimit};
  int64_t cutNs_ = 0;
  std::atomic<AfterSteps> afterSteps_{AfterSteps::kFreeze};

  // Used by the thread only.
  bool sends_ = true;
  bool receives_ = true;
  std::deque<ProxyOp> taken_;
  ProxyArgs* active_ = nullptr;
  ProxyArgs* activeTail_ = nullptr;
  std::vector<std::unique_ptr<ProxyArgs>> pool_;
  std::vector<ProxyArgs*> free_;

  std::thread thread_;
};

/** Slots that an operation may have in flight. Subs of a shared connection divide them. */
inline int MaxDepth(int nSubs) {
  const int share = kSharedSteps / nSubs;
  return share < 1 ? 1 : share < kSteps ? share : kSteps;
}

}  // namespace loopback
