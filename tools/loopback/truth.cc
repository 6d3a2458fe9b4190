#include "loopback/truth.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loopback/fatal.h"
#include "loopback/json.h"

namespace loopback {
namespace {

const char* const kTypeNames[kEventTypes] = {
    "Group",   "Coll",   "P2p",          "ProxyOp", "ProxyStep", "ProxyCtrl", "KernelCh",    "NetPlugin", "GroupApi",
    "CollApi", "P2pApi", "KernelLaunch", "CeColl",  "CeSync",    "CeBatch",   "KernelPhase", "Unknown"};

std::string Starts(const CallTotals& totals) {
  Json json;
  for (int bit = 0; bit < kEventTypes; bit++) {
    const uint64_t count = totals.Starts(bit);
    if (count > 0) json.Add(kTypeNames[bit], count);
  }
  return json.Text();
}

std::string States(const CallTotals& totals) {
  Json json;
  for (int state = 0; state < kEventStates; state++) {
    const uint64_t count = totals.States(state);
    if (count > 0) json.Add(std::to_string(state < kEventStates - 1 ? state : kUnknownEventState).c_str(), count);
  }
  return json.Text();
}

/** The fields that every operation has. */
Json OpJson(const char* kind, uint64_t task, uint64_t commId, const OpTruth& op) {
  Json json;
  json.Add("kind", kind).Add("task", task).Add("comm", Hex(commId));
  json.Add("channel", op.channel).Add("peer", op.peer).Add("isSend", op.isSend).Add("nSteps", op.nSteps);
  return json;
}

Json& AddProgress(Json& json, const OpTruth& op) {
  json.Add("ordinal", op.ordinal).Add("stepsDone", op.stepsDone).Add("bytes", op.bytes);
  return json.Add("started", op.started).Add("completed", op.completed);
}

std::string OpLine(const Task& task, const OpTruth& op) {
  const uint64_t commId = task.comm->spec.id;
  if (op.executor >= 0) return OpJson("pxnOp", task.index, commId, op).Add("executor", op.executor).Text();
  Json json = OpJson("proxyOp", task.index, commId, op);
  return AddProgress(json, op).Text();
}

}  // namespace

uint64_t CallTotals::Calls() const {
  uint64_t calls = Stops();
  for (int bit = 0; bit < kEventTypes; bit++) calls += Starts(bit);
  for (int state = 0; state < kEventStates; state++) calls += States(state);
  return calls;
}

Truth::Truth(const std::string& dir, int rank) {
  if (dir.empty()) return;
  mkdir(dir.c_str(), 0777);
  const std::string file = dir + "/truth-" + std::to_string(rank) + ".jsonl";
  fd_ = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) Fatal(kExitFailed, "cannot write %s: %s", file.c_str(), strerror(errno));
}

void Truth::Line(const std::string& json) {
  if (fd_ < 0) return;
  const std::string line = json + "\n";
  if (write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    Fatal(kExitFailed, "cannot write the truth: %s", strerror(errno));
  }
}

void Truth::Process(int rank, int worldSize, const Profiler& profiler) {
  Json json;
  json.Add("kind", "process").Add("rank", rank).Add("worldSize", worldSize).Add("pid", getpid());
  json.Add("startNs", MonotonicNs()).Add("pluginVersion", profiler.version());
  profiler.name() == nullptr ? json.AddNull("plugin") : json.Add("plugin", profiler.name());
  Line(json.Text());
}

void Truth::Gpu(const GpuClock& clock) {
  Line(Json()
           .Add("kind", "gpu")
           .Add("originNs", clock.originNs())
           .Add("atOriginNs", clock.atOriginNs())
           .Add("driftPpm", clock.driftPpm())
           .Add("tickNs", clock.tickNs())
           .Text());
}

void Truth::Communicator(const Comm& comm) {
  Line(Json()
           .Add("kind", "comm")
           .Add("comm", Hex(comm.spec.id))
           .Add("name", comm.spec.name)
           .Add("rank", comm.rank)
           .Add("nRanks", comm.nRanks)
           .Text());
}

void Truth::TaskDone(const Task& task) {
  if (fd_ < 0) return;
  const bool p2p = IsP2p(task.func);
  Json json;
  json.Add("kind", p2p ? "p2p" : "coll").Add("task", task.index).Add("iteration", task.iteration);
  json.Add("comm", Hex(task.comm->spec.id)).Add("func", FuncName(task.func));
  if (p2p || HasRoot(task.func)) json.Add(p2p ? "peer" : "root", task.peer);
  if (!p2p) !task.announced ? json.AddNull("seq") : json.Add("seq", task.seqNumber);
  json.Add("engine", EngineName(task.engine));
  json.Add("count", task.count).Add("bytes", task.bytes).Add("proto", ProtoName(task.proto));
  static const char* const roles[] = {"none", "captured", "replay"};
  json.Add("graph", roles[static_cast<int>(task.graphRole)]);
  if (task.graphRole == GraphRole::kReplay) json.Add("replay", task.replay);
  json.Add("algo", AlgoName(task.algo)).Add("unreported", !task.announced);
  json.Add("nChannels", task.nChannels).Add("startNs", task.startNs);
  const int64_t endNs = task.endNs.load(std::memory_order_acquire);
  const int64_t begunNs = task.begunNs.load(std::memory_order_relaxed);
  begunNs == 0 ? json.AddNull("begunNs") : json.Add("begunNs", begunNs);
  endNs == 0 ? json.AddNull("endNs") : json.Add("endNs", endNs);
  json.Add("completed", endNs != 0);
  Line(json.Text());
  for (const OpTruth& op : task.ops) {
    if (!op.unreported) Line(OpLine(task, op));
  }
}

void Truth::ForeignOpDone(const ForeignOp& op, int origin) {
  Json json = OpJson("proxyOp", op.task, op.commId, op.truth);
  Line(AddProgress(json, op.truth).Add("origin", origin).Text());
}

void Truth::Totals(const CallTotals& totals, bool final) {
  Line(Json()
           .Add("kind", "totals")
           .Add("final", final)
           .Add("atNs", MonotonicNs())
           .Add("inits", totals.inits)
           .Add("finalizes", totals.finalizes)
           .AddRaw("starts", Starts(totals))
           .AddRaw("states", States(totals))
           .Add("stops", totals.Stops())
           .Text());
}

}  // namespace loopback
