#include "loopback/rank.h"

#include <unistd.h>

#include <cstdlib>
#include <set>

#include "loopback/fatal.h"
#include "loopback/nccl_log.h"
#include "loopback/rendezvous.h"
#include "loopback/shared_memory.h"
#include "loopback/workload.h"

namespace loopback {
namespace {

/** All ranks go on, or none. */
void Barrier(const Control& control) {
  control.Send(MessageType::kBarrier);
  bool launcherGone = false;
  while (!launcherGone) {
    const auto message = control.Receive(-1, &launcherGone);
    if (message && message->type == MessageType::kGo) return;
    if (message && message->type == MessageType::kDump) control.Send(MessageType::kDumped);  // there is nothing
  }
  _exit(kExitFailed);
}

/** Of the GPU's clock against CLOCK_MONOTONIC. */
constexpr double kGpuDriftPpm = 20;

/** What a rank still has when it has given up its communicators. */
struct Process {
  explicit Process(const Options& options)
      : control(options.controlFd),
        gpuClock(kGpuDriftPpm, options.gpuTickNs, Mix(options.runId, options.rank)),
        truth(options.truthDir, options.rank) {
    profiler.SetAbuse(options.abuse);
    profiler.Load(options.abi, options.pluginAbi);
  }

  Control control;
  const GpuClock gpuClock;
  Truth truth;
  Profiler profiler;
};

class Rank {
 public:
  Rank(const Options& options, Process* process)
      : options_(options),
        process_(process),
        control_(process->control),
        gpuClock_(process->gpuClock),
        truth_(process->truth),
        profiler_(process->profiler),
        network_(&profiler_, options),
        memory_(MapSharedMemory(options.memoryFd, SharedBytes(options))),
        windows_(options, memory_),
        pxn_(options, memory_ + WindowBytes(options), &completion_),
        firstUse_(options, memory_ + WindowBytes(options) + PxnBytes(options)) {
    for (const CommSpec& spec : CommsOf(options.rank, options.ranks, options.groups, options.runId, options.gone)) {
      comms_.push_back(std::make_unique<Comm>(spec, options.rank, options.nodes,
                                              ChannelLimits{options.channels, options.peerChannels}));
      if (options.oneStream) comms_.back()->stream = comms_.front().get();
    }
  }

  int Run() {
    ConnectAll(comms_, options_, control_, &network_, &pxn_);
    CreateComms();
    network_.Begin();
    pxn_.Begin(progress_.get());
    WriteTruthHead();
    Gpu gpu(gpuClock_, options_, &completion_);
    NcclApi api(&profiler_, &gpu, progress_.get(), &completion_, &firstUse_, options_);
    Workload workload(options_, comms_, windows_, profiler_, &api, progress_.get(), &completion_, &pxn_, &truth_,
                      &control_);
    Barrier(control_);
    workload.OnAbort([&] { Abort(workload); });
    workload.OnRecovery([&](int gone) { Recover(gone); });
    RankResult result = workload.Run();
    if (options_.exit == ExitStyle::kHasty) {
      for (size_t i = comms_.size(); i-- > 0;) Finalize(i);
      result = workload.Finish();
    }
    if (options_.exit == ExitStyle::kParentFirst) {
      Finalize(0);
      result = workload.RunWithout(*comms_[0]);
    }
    // Closing a connection with unread bytes loses what its peer has not read yet, so no rank closes before all have
    // everything.
    Barrier(control_);
    workload.WriteForeign();
    const int code = result.wrong > 0 ? kExitWrongData : kExitOk;
    if (options_.exit == ExitStyle::kLeave || options_.exit == ExitStyle::kAbrupt) {
      progress_->Freeze();
      truth_.Totals(workload.Totals(0), true);
      options_.exit == ExitStyle::kLeave ? exit(code) : _exit(code);
    }
    if (options_.exit == ExitStyle::kAbort) {
      progress_->Freeze();
      Abort(workload);
    }
    DestroyComms();
    truth_.Totals(workload.Totals(comms_.size()), true);
    return code;
  }

 private:
  /** The first communicator owns the progress thread; the others share it, as ncclCommSplit can. */
  void CreateComms() {
    for (const auto& comm : comms_) {
      if (options_.commNames) comm->reportedName = comm->spec.name.c_str();
      profiler_.Init(&comm->profilerContext, {comm->spec.id, comm->reportedName,
                                              options_.nodes.CountOf(comm->spec.worldRanks), comm->nRanks, comm->rank});
      if (progress_ != nullptr) continue;
      progress_ = std::make_unique<ProgressThread>(comm.get(), &profiler_, &completion_, &network_, options_);
    }
  }

  /** The last one of those that share the progress thread outlives it. The library is closed behind it. */
  void DestroyComms() {
    const size_t last = finalized_.count(0) != 0 && comms_.size() > 1 ? 1 : 0;
    for (size_t i = comms_.size(); i-- > 0;) {
      if (i != last) Finalize(i);
    }
    progress_->Stop();
    Finalize(last);
    profiler_.Unload();
  }

  /** ncclCommDestroy of one communicator, if it has not been destroyed yet. */
  void Finalize(size_t index) {
    if (finalized_.insert(index).second) profiler_.Finalize(comms_[index]->profilerContext);
  }

  /** ncclCommAbort: the progress thread is frozen already and leaves everything open. */
  [[noreturn]] void Abort(const Workload& workload) {
    for (size_t i = comms_.size(); i-- > 0;) Finalize(i);
    truth_.Totals(workload.Totals(comms_.size()), true);
    exit(kExitOk);
  }

  /** Goes on without a rank. The frozen threads of the old communicators stay. */
  [[noreturn]] void Recover(int gone) {
    if (options_.recovery == Recovery::kAbort) {
      for (size_t i = comms_.size(); i-- > 0;) Finalize(i);
    }
    Options* const rest = new Options(options_);
    rest->gone.insert(gone);
    exit((new Rank(*rest, process_))->Run());
  }

  void WriteTruthHead() {
    truth_.Process(options_.rank, options_.ranks, profiler_);
    truth_.Gpu(gpuClock_);
    for (const auto& comm : comms_) truth_.Communicator(*comm);
  }

  const Options& options_;
  Process* const process_;
  Control& control_;
  const GpuClock& gpuClock_;
  Truth& truth_;
  Profiler& profiler_;
  Network network_;
  char* const memory_;
  const Windows windows_;
  Completion completion_;
  std::vector<std::unique_ptr<Comm>> comms_;
  std::set<size_t> finalized_;  // of comms_
  std::unique_ptr<ProgressThread> progress_;
  Pxn pxn_;
  FirstUse firstUse_;
};

}  // namespace

int RunRank(const Options& options) {
  SetOwnRank(options.rank);
  Process process(options);
  return Rank(options, &process).Run();
}

}  // namespace loopback
