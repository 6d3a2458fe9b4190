#include "loopback/rank.h"

#include <unistd.h>

#include <cstdlib>

#include "loopback/fatal.h"
#include "loopback/nccl_log.h"
#include "loopback/rendezvous.h"
#include "loopback/workload.h"

namespace loopback {
namespace {

/** Everybody or nobody goes on. */
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

class Rank {
 public:
  explicit Rank(const Options& options)
      : options_(options),
        control_(options.controlFd),
        rate_(options.rateLimit),
        gpuClock_(options.gpuDriftPpm, options.gpuTickNs, Mix(options.runId, options.rank)),
        truth_(options.truthDir, options.rank) {
    for (const CommSpec& spec : CommsOf(options.rank, options.ranks, options.groups, options.runId)) {
      comms_.push_back(std::make_unique<Comm>(spec, options.rank));
    }
  }

  int Run() {
    ConnectAll(comms_, options_, control_, &rate_);
    profiler_.Load(options_.abi, options_.plugin ? options_.pluginAbi : 0);
    CreateComms();
    WriteTruthHead();
    Gpu gpu(gpuClock_, &completion_, options_.spin);
    NcclApi api(&profiler_, &gpu, progress_.get(), &completion_, options_.channels, options_.userTag);
    Workload workload(options_, comms_, profiler_, &api, progress_.get(), &completion_, &truth_, &control_);
    Barrier(control_);
    const RankResult result = workload.Run();
    // A connection that is closed with unread bytes loses what its peer has not read yet: nobody closes before all
    // have everything.
    Barrier(control_);
    const int code = result.wrong > 0 ? kExitWrongData : kExitOk;
    if (options_.exit != ExitStyle::kClean) {
      progress_->Freeze();
      truth_.Totals(workload.Totals(0), true);
      options_.exit == ExitStyle::kLeave ? exit(code) : _exit(code);
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
      profiler_.Init(&comm->profilerContext, {comm->spec.id, comm->reportedName, comm->nRanks, comm->rank});
      if (progress_ != nullptr) continue;
      progress_ =
          std::make_unique<ProgressThread>(comm.get(), &profiler_, &completion_, options_.irecvBusy, options_.spin);
    }
  }

  /** The owner of the progress thread goes last, after that thread. The library is closed behind the last one. */
  void DestroyComms() {
    for (size_t i = comms_.size(); i-- > 1;) profiler_.Finalize(comms_[i]->profilerContext);
    progress_->Stop();
    profiler_.Finalize(comms_[0]->profilerContext);
    profiler_.Unload();
  }

  void WriteTruthHead() {
    truth_.Process(options_.rank, options_.ranks, profiler_);
    truth_.Gpu(gpuClock_);
    for (const auto& comm : comms_) truth_.Communicator(*comm);
  }

  const Options& options_;
  Control control_;
  RateLimit rate_;
  const GpuClock gpuClock_;
  Truth truth_;
  Profiler profiler_;
  Completion completion_;
  std::vector<std::unique_ptr<Comm>> comms_;
  std::unique_ptr<ProgressThread> progress_;
};

}  // namespace

int RunRank(const Options& options) {
  SetOwnRank(options.rank);
  return Rank(options).Run();
}

}  // namespace loopback
