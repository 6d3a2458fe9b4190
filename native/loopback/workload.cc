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

Workload::Workload(const Options& options, const std::vector<std::unique_ptr<Comm>>& comms, const Profiler& profiler,
                   NcclApi* api, ProgressThread* progress, Completion* completion, Truth* truth, Control* control)
    : options_(options),
      comms_(comms),
      api_(api),
      progress_(progress),
      completion_(completion),
      truth_(truth),
      control_(control) {
  if (profiler.name() == nullptr) return;
  result_.pluginVersion = profiler.version();
  strncpy(result_.plugin, profiler.name(), sizeof result_.plugin - 1);
}

RankResult Workload::Run() {
  Report();  // of a rank that dies early one still knows what it had loaded
  const int64_t begin = MonotonicNs();
  for (int i = 0; i < options_.iterations; i++) {
    RunIteration(i);
    result_.iterations = i + 1;
    result_.workNs = MonotonicNs() - begin;
    Report();
  }
  return result_;
}

CallTotals Workload::Totals(int finalizes) const {
  return {api_->counts(), progress_->counts(), progress_->kernelCounts(), static_cast<int>(comms_.size()), finalizes};
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
  for (const ScriptItem& item : options_.script) RunItem(item, iteration);
  Sync();
}

void Workload::BeginFaults(int iteration) {
  const FaultOptions& faults = options_.faults;
  const int rank = options_.rank;
  if (rank == faults.slowRank && (faults.slowAt == kNever || faults.slowAt == iteration)) Sleep(faults.slowNs);
  if (rank == faults.skipRank && faults.skipAt == iteration) {
    control_->Send(MessageType::kStuck);
    SleepUntilKilled();
  }
  if (rank == faults.killRank && faults.killAt == iteration) {
    api_->BeforeNextPost([this](int64_t steps) {
      const int64_t asked = options_.faults.killStep;
      progress_->FreezeAfterSteps(asked != kNever ? asked : std::max<int64_t>(1, steps / 2));
    });
  }
}

void Workload::RunItem(const ScriptItem& item, int iteration) {
  LookUp();
  if (item.kind == ScriptItem::Kind::kSleep) return Sleep(item.sleepNs);
  if (item.kind == ScriptItem::Kind::kSync) return Sync();
  if (item.grouped) api_->GroupStart();
  for (const ScriptOp& op : item.ops) {
    open_.push_back(MakeTask(op, iteration));
    Task& task = *open_.back();
    FillInput(task, SaltOf(task));
    const FaultOptions& faults = options_.faults;
    const bool corrupt = options_.rank == faults.corruptRank && iteration == faults.corruptAt && opInIteration_ == 1;
    if (corrupt && task.count > 0) task.buffer[0] += 1;
    task.startNs = MonotonicNs();
    api_->Call(&task);
  }
  if (item.grouped) api_->GroupEnd();
}

std::unique_ptr<Task> Workload::MakeTask(const ScriptOp& op, int iteration) {
  Comm* const comm =
      std::find_if(comms_.begin(), comms_.end(), [&](const auto& c) { return c->spec.name == op.comm; })->get();
  const bool inBlocks = op.func == Func::kAllGather || op.func == Func::kReduceScatter;
  const size_t blocks = inBlocks ? comm->nRanks : 1;
  auto task = std::make_unique<Task>();
  task->index = nextTask_++;
  task->iteration = iteration;
  task->comm = comm;
  task->func = op.func;
  task->count = DivUp(op.bytes, blocks * kElementBytes);
  task->bytes = task->count * blocks * kElementBytes;
  task->peer = IsP2p(op.func) ? ((comm->rank + op.peerDelta) % comm->nRanks + comm->nRanks) % comm->nRanks : 0;
  task->protoChoice = op.proto ? op.proto : options_.proto;
  task->buffer = BufferFor(task->bytes);
  return task;
}

float* Workload::BufferFor(size_t bytes) {
  const size_t index = opInIteration_++;
  if (index == buffers_.size()) buffers_.push_back({nullptr, 0});
  Buffer& buffer = buffers_[index];
  if (buffer.data == nullptr || buffer.bytes < bytes)
    buffer = {std::make_unique<float[]>(bytes / kElementBytes), bytes};
  return buffer.data.get();
}

/** The same on all ranks that take part, and for a send and its receive, which are different operations. */
uint64_t Workload::SaltOf(const Task& task) const {
  return Mix(options_.runId, IsP2p(task.func) ? task.iteration : task.index + (1u << 20));
}

void Workload::Sync() {
  while (!completion_->WaitFor(kLookUpEvery)) LookUp();
  for (const std::unique_ptr<Task>& task : open_) {
    Verify(*task);
    truth_->TaskDone(*task);
  }
  open_.clear();
}

void Workload::Verify(const Task& task) {
  (IsP2p(task.func) ? result_.p2ps : result_.collectives) += 1;
  result_.bytes += task.bytes;
  const std::optional<Mismatch> mismatch = CheckOutput(task, SaltOf(task));
  if (!mismatch) {
    result_.verified += 1;
    return;
  }
  result_.wrong += 1;
  Say("%s on '%s' in iteration %d: element %zu is %g, expected %g", FuncName(task.func), task.comm->spec.name.c_str(),
      task.iteration, mismatch->index, mismatch->found, mismatch->expected);
}

void Workload::LookUp() {
  if (progress_->frozen()) {  // --kill-rank: this is the moment
    WriteUnfinished();
    kill(getpid(), SIGKILL);
  }
  bool launcherGone = false;
  const std::optional<Message> message = control_->Receive(0, &launcherGone);
  if (launcherGone) _exit(kExitFailed);
  if (!message || message->type != MessageType::kDump) return;
  progress_->Freeze();
  WriteUnfinished();
  control_->Send(MessageType::kDumped);
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

/** The progress thread stands still, so what it has written can be read. */
void Workload::WriteUnfinished() {
  for (const std::unique_ptr<Task>& task : open_) truth_->TaskDone(*task);
  truth_->Totals(Totals(0), true);
}

}  // namespace loopback
