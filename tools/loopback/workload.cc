#include "loopback/workload.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "loopback/fatal.h"
#include "loopback/payload.h"

namespace loopback {
namespace {

constexpr auto kLookUpEvery = std::chrono::milliseconds(20);

}  // namespace

Workload::Workload(const Options& options, const std::vector<std::unique_ptr<Comm>>& comms, const Windows& windows,
                   const Profiler& profiler, NcclApi* api, ProgressThread* progress, Completion* completion, Pxn* pxn,
                   Truth* truth, Control* control)
    : options_(options),
      comms_(comms),
      api_(api),
      progress_(progress),
      completion_(completion),
      pxn_(pxn),
      truth_(truth),
      control_(control),
      maker_(options, comms, windows),
      random_(Mix(options.runId, options.rank)) {
  api_->WhileWaiting([this] { LookUp(); });
  if (profiler.name() == nullptr) return;
  result_.pluginVersion = profiler.version();
  strncpy(result_.plugin, profiler.name(), sizeof result_.plugin - 1);
}

RankResult Workload::Run() {
  Report();  // early, so that the plugin's version is known even if the rank dies
  if (options_.settleMs > 0) usleep(static_cast<useconds_t>(options_.settleMs) * 1'000);
  const int64_t begin = MonotonicNs();
  const int64_t cpuBegin = ProcessCpuNs();
  for (int i = 0; i < options_.iterations; i++) {
    // After a recovery they count on.
    RunIteration(i + static_cast<int>(options_.gone.size()) * options_.iterations);
    result_.iterations = i + 1;
    result_.workNs = MonotonicNs() - begin;
    result_.workCpuNs = ProcessCpuNs() - cpuBegin;
    Report();
  }
  return result_;
}

CallTotals Workload::Totals(int finalizes) const {
  const Network& network = progress_->network();
  std::vector<const CallCounts*> threads = api_->counts();
  for (const CallCounts* counts : {&progress_->counts(), &progress_->kernelCounts(), &network.counts(),
                                   &network.senderCounts(), &network.receiverCounts()}) {
    threads.push_back(counts);
  }
  return {std::move(threads), static_cast<int>(comms_.size()), finalizes};
}

void Workload::Report() {
  const CallTotals totals = Totals(0);
  result_.callbacks = totals.Calls();
  truth_->Totals(totals, false);
  Message message{};
  message.type = MessageType::kResult;
  message.result = result_;
  control_->Send(message);
}

void Workload::RunIteration(int iteration) {
  opInIteration_ = 0;
  BeginFaults(iteration);
  const Fault* other = FaultOf(FaultKind::kOther, iteration);
  for (const ScriptItem& item : other != nullptr ? other->script : options_.script) {
    if (options_.jitterNs > 0) Sleep(random_() % options_.jitterNs);
    RunItem(item, iteration);
  }
  const bool last = iteration + 1 == options_.iterations;
  if (!last || options_.exit != ExitStyle::kHasty) Sync();
  MeetFaults(iteration, FaultMoment::kAfter);
}

RankResult Workload::Finish() {
  Sync();
  Report();
  return result_;
}

RankResult Workload::RunWithout(const Comm& gone) {
  for (const ScriptItem& item : options_.script) {
    const std::vector<ScriptOp> ops = OpsOf({item});
    const bool uses = std::any_of(ops.begin(), ops.end(), [&](const auto& op) { return op.comm == gone.spec.name; });
    if (!ops.empty() && !uses) RunItem(item, options_.iterations);
  }
  return Finish();
}

void Workload::BeginFaults(int iteration) {
  Sleep(DelayOf(options_.slowdowns, Slow::kHost, options_.rank, iteration));
  MeetFaults(iteration, FaultMoment::kBefore);
  MeetFaults(iteration, FaultMoment::kIn);
  if (FaultOf(FaultKind::kSkip, iteration) != nullptr) SleepUntilKilled();
}

/** null: this rank has none of the kind in the iteration. */
const Fault* Workload::FaultOf(FaultKind kind, int iteration) const {
  for (const Fault& fault : options_.faults) {
    if (fault.kind == kind && fault.at == iteration && fault.Concerns(options_.rank)) return &fault;
  }
  return nullptr;
}

void Workload::MeetFaults(int iteration, FaultMoment moment) {
  for (const Fault& fault : options_.faults) {
    if (!fault.Concerns(options_.rank) || fault.at != iteration || fault.moment != moment) continue;
    if (moment != FaultMoment::kIn) Perish(fault.kind);
    Expect(fault);
  }
}

/** In the iteration's first operation. Tells the launcher about a fault that does not end the process. */
void Workload::Expect(const Fault& fault) {
  // What corrupts or delays data lets the job go on.
  const bool isStuck = !fault.OfProcess() && fault.kind != FaultKind::kCorrupt && fault.lastsNs == 0;
  if (isStuck) control_->Send(MessageType::kStuck);
  if (fault.kind == FaultKind::kGpu || fault.kind == FaultKind::kGpuStart) return;  // the GPU knows
  if (fault.OfCalls()) return;
  if (fault.kind == FaultKind::kPost) return api_->StickInNextPost();
  AfterSteps then = AfterSteps::kFreeze;
  if (fault.kind == FaultKind::kSend) then = AfterSteps::kStopSending;
  if (fault.kind == FaultKind::kRecv) then = AfterSteps::kStopReceiving;
  if (fault.kind == FaultKind::kDrop) {
    then = AfterSteps::kCutSends;
    progress_->CutFor(fault.lastsNs);
  }
  if (fault.OfProcess()) perishesBy_ = fault.kind;
  api_->BeforeNextPost([this, fault, then](int64_t steps) {
    progress_->AfterSomeSteps(fault.steps != 0 ? fault.steps : std::max<int64_t>(1, steps / 2), then);
  });
}

void Workload::Perish(FaultKind kind) {
  progress_->Freeze();
  api_->Freeze();
  WriteUnfinished();
  switch (kind) {
    case FaultKind::kStop:
      control_->Send(MessageType::kStuck);
      kill(getpid(), SIGSTOP);
      break;
    case FaultKind::kNode:
      control_->Send(MessageType::kNodeDown);
      break;
    case FaultKind::kExit:
      exit(kExitOnPurpose);
    case FaultKind::kAbort:
      abort();
    default:
      kill(getpid(), SIGKILL);
  }
  while (true) pause();
}

void Workload::RunItem(const ScriptItem& item, int iteration) {
  LookUp();
  switch (item.kind) {
    case ScriptItem::Kind::kOp:
      return Call(item.op, iteration);
    case ScriptItem::Kind::kGroup:
      api_->GroupStart();
      for (const ScriptItem& part : item.body) RunItem(part, iteration);
      return api_->GroupEnd();
    case ScriptItem::Kind::kGraph:
      return RunGraph(item, iteration);
    case ScriptItem::Kind::kSleep:
      return Sleep(item.sleepNs);
    default:
      return Sync();
  }
}

void Workload::RunGraph(const ScriptItem& item, int iteration) {
  Graph& graph = graphs_[&item];
  if (graph.tasks.empty()) Capture(item, iteration, graph);
  for (int64_t i = 0; i < item.replays; i++) {
    LookUp();
    std::vector<Task*> replays;
    for (const std::unique_ptr<Task>& captured : graph.tasks) {
      open_.push_back(maker_.Replay(captured.get(), iteration, graph.replays));
      replays.push_back(open_.back().get());
      replays.back()->startNs = MonotonicNs();
    }
    graph.replays += 1;
    api_->LaunchGraph(graph, replays);
  }
}

void Workload::Capture(const ScriptItem& item, int iteration, Graph& graph) {
  capturing_ = &graph;
  api_->BeginCapture(&graph);
  for (const ScriptItem& part : item.body) RunItem(part, iteration);
  api_->EndCapture();
  capturing_ = nullptr;
  for (const std::unique_ptr<Task>& task : graph.tasks) truth_->TaskDone(*task);
}

void Workload::Call(const ScriptOp& op, int iteration) {
  std::vector<Task*> tasks;
  for (std::unique_ptr<Task>& task : maker_.Make(op, iteration, [this](size_t bytes) { return BufferFor(bytes); })) {
    tasks.push_back(task.get());
    if (capturing_ != nullptr) task->graphRole = GraphRole::kCaptured;
    (capturing_ != nullptr ? capturing_->tasks : open_).push_back(std::move(task));
  }
  const bool corrupt = FaultOf(FaultKind::kCorrupt, iteration) != nullptr && opInIteration_ == 1;
  for (Task* task : tasks) FillInput(*task);
  if (corrupt && tasks[0]->count > 0) tasks[0]->buffer[0] += 1;
  const int64_t now = MonotonicNs();
  for (Task* task : tasks) task->startNs = now;
  api_->Call(tasks);
}

float* Workload::BufferFor(size_t bytes) {
  if (capturing_ != nullptr) {
    capturing_->buffers.push_back(std::make_unique<float[]>(bytes / kElementBytes));
    return capturing_->buffers.back().get();
  }
  const size_t index = opInIteration_++;
  if (index >= buffers_.size()) buffers_.resize(index + 1);
  Buffer& buffer = buffers_[index];
  if (buffer.data == nullptr || buffer.bytes < bytes)
    buffer = {std::make_unique<float[]>(bytes / kElementBytes), bytes};
  return buffer.data.get();
}

void Workload::WriteForeign() {
  for (const ForeignOp& op : pxn_->TakeFinished()) truth_->ForeignOpDone(op, options_.pxn.origin);
}

void Workload::Sync() {
  api_->AwaitLaunch();
  while (!completion_->WaitFor(kLookUpEvery)) LookUp();
  for (const std::unique_ptr<Task>& task : open_) {
    Verify(*task);
    truth_->TaskDone(*task);
  }
  open_.clear();
  WriteForeign();
}

void Workload::Verify(const Task& task) {
  (IsP2p(task.func) ? result_.p2ps : result_.collectives) += 1;
  result_.bytes += task.bytes;
  const std::optional<Mismatch> mismatch = task.graphRole == GraphRole::kReplay ? task.mismatch : CheckOutput(task);
  if (!mismatch) {
    result_.verified += 1;
    return;
  }
  result_.wrong += 1;
  Say("%s on '%s' in iteration %d: element %zu is %g, expected %g", FuncName(task.func), task.comm->spec.name.c_str(),
      task.iteration, mismatch->index, mismatch->found, mismatch->expected);
}

void Workload::LookUp() {
  if (progress_->frozen() && perishesBy_) Perish(*perishesBy_);
  bool launcherGone = false;
  const std::optional<Message> message = control_->Receive(0, &launcherGone);
  if (launcherGone) _exit(kExitFailed);
  const bool recovers = message && message->type == MessageType::kRecover;
  if (!recovers && (!message || message->type != MessageType::kDump)) return;
  progress_->Freeze();
  api_->Freeze();
  WriteUnfinished();
  if (recovers) recover_(message->rank);
  control_->Send(MessageType::kDumped);
  if (options_.hangSignal == kAbortComms) abort_();
  while (true) pause();
}

void Workload::Sleep(int64_t ns) {
  const int64_t end = MonotonicNs() + ns;
  while (true) {
    const int64_t left = end - MonotonicNs();
    if (left <= 0) return;
    SleepNs(std::min<int64_t>(left, std::chrono::nanoseconds(kLookUpEvery).count()));
    LookUp();
  }
}

void Workload::SleepUntilKilled() {
  while (true) Sleep(kSecond);
}

/** The progress thread is frozen, so what it has written can be read. */
void Workload::WriteUnfinished() {
  for (const std::unique_ptr<Task>& task : open_) truth_->TaskDone(*task);
  for (const ForeignOp& op : pxn_->TakeAll()) truth_->ForeignOpDone(op, options_.pxn.origin);
  truth_->Totals(Totals(0), true);
}

}  // namespace loopback
