#include "loopback/progress.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "loopback/thread_name.h"

namespace loopback {
namespace {

constexpr int kAppendFrequency = 8;  // NCCL_PROGRESS_APPENDOP_FREQ: rounds between two looks at posted operations

}  // namespace

ProgressThread::ProgressThread(Comm* owner, Profiler* profiler, Completion* completion, Network* network,
                               const Options& options)
    : owner_(owner),
      profiler_(profiler),
      completion_(completion),
      network_(network),
      options_(options),
      events_(profiler),
      kernels_(profiler->release().kernelThread ? std::make_unique<KernelThread>(profiler, completion, options.spin)
                                                : nullptr),
      backoff_(options.spin),
      thread_([this] { Run(); }) {}

void ProgressThread::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (kernels_ != nullptr) kernels_->Stop();
  network_->Stop();
}

void ProgressThread::Freeze() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    freeze_ = true;
  }
  wake_.notify_one();
  while (!frozen()) SleepNs(100 * kMicrosecond);
}

void ProgressThread::StayFrozen() {
  if (kernels_ != nullptr) kernels_->Freeze();
  network_->Freeze();
  // Release, so that all that this thread wrote comes before (partner: frozen).
  frozen_.store(true, std::memory_order_release);
  completion_->Nudge();
  while (true) pause();
}

void ProgressThread::Run() {
  NameThread("NCCL Progress 0");
  prctl(PR_SET_TIMERSLACK, 1);
  const int64_t pause = DelayOf(options_.slowdowns, Slow::kProxy, options_.rank, 0);
  bool wasIdle = false;
  int rounds = 0;
  bool stopping = false;
  while (!stopping || active_ != nullptr) {
    if (freeze_.load(std::memory_order_relaxed)) StayFrozen();
    bool idle = true;
    const bool moved = ProgressActive(&idle);
    if (moved && pause > 0) SleepNs(pause);
    if (idle != wasIdle) MarkEdge(idle);
    int appended = 0;
    if (idle || active_ == nullptr || ++rounds == kAppendFrequency) {
      rounds = 0;
      if (!stopping || active_ != nullptr) appended = TakePosted();
    }
    moved || appended > 0 ? backoff_.Progressed() : backoff_.Idle();
    wasIdle = idle;
    stopping = stop_.load(std::memory_order_relaxed);
  }
}

/** Progresses each active operation. Queued operations wait for the one before them. */
bool ProgressThread::ProgressActive(bool* allIdle) {
  bool moved = false;
  ProxyArgs* previous = nullptr;
  for (ProxyArgs* args = active_; args != nullptr;) {
    moved |= Progress(*args);
    *allIdle &= args->idle;
    ProxyArgs* const next = args->next;
    if (args->state == ProxyState::kNone) {
      ProxyArgs* const successor = args->nextPeer;
      Remove(args, previous);
      if (successor != nullptr) previous = successor;
    } else {
      previous = args;
    }
    args = next;
  }
  return moved;
}

/** The operation queued behind it takes its place in the next round. */
void ProgressThread::Remove(ProxyArgs* args, ProxyArgs* previous) {
  ProxyArgs* replacement = args->nextPeer;
  if (replacement != nullptr) {
    replacement->next = args->next;
  } else {
    *args->append = nullptr;
    replacement = args->next;
  }
  (previous == nullptr ? active_ : previous->next) = replacement;
  if (activeTail_ == args) activeTail_ = args->nextPeer != nullptr ? args->nextPeer : previous;
  free_.push_back(args);
}

/** The thread gets busy or idle: an event without duration. */
void ProgressThread::MarkEdge(bool idle) {
  void* handle;
  events_.StartCtrl(*owner_, &handle);
  events_.CtrlState(handle, idle ? nccl_abi::kCtrlIdle : nccl_abi::kCtrlActive);
  events_.StopCtrl(handle);
}

bool ProgressThread::Progress(ProxyArgs& args) {
  if (args.state == ProxyState::kReady) BeginSubs(args);
  switch (args.kind) {
    case ProxyKind::kSend:
      return ProgressSend(args);
    case ProxyKind::kRecv:
      return ProgressRecv(args);
    default:
      return ProgressKernelWatch(args);
  }
}

void ProgressThread::BeginSubs(ProxyArgs& args) {
  args.state = ProxyState::kProgress;
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    sub.posted = sub.received = sub.transmitted = sub.done = 0;
    sub.refusals = options_.irecvBusy;
    if (args.kind == ProxyKind::kProfiler) continue;
    sub.base = RoundUp(sub.op.connection->proxyStep, sub.op.chunkSteps);
    sub.op.connection->proxyStep = sub.base + sub.op.rawSteps;
    events_.OpBegins(sub);
  }
}

void ProgressThread::StepEnded(ProxyArgs& args, ProxySub& sub, int rawStep) {
  events_.StopStep(sub, rawStep);
  sub.op.truth->stepsDone += 1;
  if (sub.done == sub.op.rawSteps) args.nDone += 1;
  const int64_t left = stepsLeft_.load(std::memory_order_acquire);
  if (left == kNoLimit) return;
  stepsLeft_.store(left - 1, std::memory_order_relaxed);
  if (left > 1) return;
  switch (afterSteps_.load(std::memory_order_relaxed)) {
    case AfterSteps::kFreeze:
      StayFrozen();
    case AfterSteps::kCutSends:
      stepsLeft_.store(kNoLimit, std::memory_order_relaxed);
      return network_->CutSends(cutNs_ == 0 ? INT64_MAX : MonotonicNs() + cutNs_);
    case AfterSteps::kStopSending:
      sends_ = false;
      return;
    case AfterSteps::kStopReceiving:
      receives_ = false;
  }
}

/** All subs end together. After Done() the task may be gone. */
void ProgressThread::EndIfDone(ProxyArgs& args) {
  if (args.nDone < args.nSubs) return;
  args.state = ProxyState::kNone;
  for (int i = 0; i < args.nSubs; i++) {
    ProxySub& sub = args.subs[i];
    if (args.kind != ProxyKind::kProfiler) events_.StopOp(sub);
    if (sub.op.origin != nullptr) {
      sub.op.origin->Done(sub.op.truth);
      continue;
    }
    if (args.kind != ProxyKind::kProfiler) sub.op.truth->completed = true;
    completion_->Done();
  }
}

}  // namespace loopback
