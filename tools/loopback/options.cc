#include "loopback/options.h"

#include <csignal>
#include <functional>
#include <map>
#include <set>

#include "loopback/parse.h"
#include "loopback/pxn.h"
#include "loopback/sender.h"
#include "loopback/windows.h"

namespace loopback {
namespace {

constexpr int kMaxRanks = 4096;
constexpr int kMaxIterations = 1 << 30;

using Setter = std::function<void(Options&, const std::string&)>;

struct Flag {
  bool takesValue;
  Setter set;
};

Flag Switch(bool Options::*member, bool value = true) {
  return {false, [=](Options& o, const std::string&) { o.*member = value; }};
}

Flag Int(const char* name, int Options::*member, int least, int most) {
  return {true, [=](Options& o, const std::string& v) { o.*member = ParseInt(v, least, most, name); }};
}

Flag Seconds(const char* name, int64_t Options::*member) {
  return {true, [=](Options& o, const std::string& v) { o.*member = ParseDouble(v, name) * kSecond; }};
}

Flag Group(GroupSpec::Kind kind, const char* defaultName) {
  return {true, [=](Options& o, const std::string& v) { o.groups.push_back(ParseGroup(kind, v, defaultName)); }};
}

/** One of a few values. */
template <typename T>
Flag Choice(const char* name, T Options::*member, std::map<std::string, T> values) {
  return {true, [=](Options& o, const std::string& v) {
            const auto found = values.find(v);
            if (found == values.end()) throw UsageError(std::string(name) + " does not know '" + v + "'");
            o.*member = found->second;
          }};
}

/** "abort:1.5" */
void ParseRecovery(Options& o, const std::string& text) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.size() != 2 || (parts[0] != "abort" && parts[0] != "shrink")) {
    throw UsageError("--recover wants abort:SECONDS or shrink:SECONDS, not '" + text + "'");
  }
  o.recovery = parts[0] == "abort" ? Recovery::kAbort : Recovery::kShrink;
  o.recoveryNs = ParseDouble(parts[1], "--recover") * kSecond;
}

const std::map<std::string, Flag>& Flags() {
  static const std::map<std::string, Flag> flags = {
      {"--ranks", Int("--ranks", &Options::ranks, 1, kMaxRanks)},
      {"--channels", Int("--channels", &Options::channels, 1, kMaxChannels)},
      {"--iterations", Int("--iterations", &Options::iterations, 1, kMaxIterations)},
      {"--settle", Int("--settle", &Options::settleMs, 0, 60'000)},
      {"--ops", {true, [](Options& o, const std::string& v) { o.script = ParseScript(v); }}},
      {"--proto", {true, [](Options& o, const std::string& v) { o.proto = ParseProto(v); }}},
      {"--algo",
       {true,
        [](Options& o, const std::string& v) {
          o.algo = ParseAlgo(v);
          if (!o.algo) throw UsageError("'" + v + "' is no algorithm: ring, tree");
        }}},
      {"--groups", Group(GroupSpec::Kind::kConsecutive, "tp")},
      {"--groups-strided", Group(GroupSpec::Kind::kStrided, "dp")},
      {"--no-comm-names", Switch(&Options::commNames, false)},
      {"--abi", Int("--abi", &Options::abi, 1, kVersions)},
      {"--plugin-abi", Int("--plugin-abi", &Options::pluginAbi, 1, kVersions)},
      {"--user-tag",
       {true, [](Options& o, const std::string& v) { o.userTag = ParseInt(v, 0, INT64_MAX, "--user-tag"); }}},
      {"--non-blocking", Switch(&Options::nonBlocking)},
      {"--plan-tasks", Int("--plan-tasks", &Options::planTasks, 2, 1 << 30)},
      {"--exit", Choice<ExitStyle>("--exit", &Options::exit,
                                   {{"clean", ExitStyle::kClean},
                                    {"leave", ExitStyle::kLeave},
                                    {"abrupt", ExitStyle::kAbrupt},
                                    {"hasty", ExitStyle::kHasty},
                                    {"parent-first", ExitStyle::kParentFirst},
                                    {"abort", ExitStyle::kAbort}})},
      {"--net", Choice<bool>("--net", &Options::credits, {{"credits", true}, {"socket", false}})},
      {"--registered", Switch(&Options::registered)},
      {"--irecv-busy", Int("--irecv-busy", &Options::irecvBusy, 0, 1 << 20)},
      {"--rate-limit",
       {true, [](Options& o, const std::string& v) { o.rateLimit = 1e6 * ParseDouble(v, "--rate-limit"); }}},
      {"--gpu-tick",
       {true, [](Options& o, const std::string& v) { o.gpuTickNs = ParseInt(v, 1, kSecond, "--gpu-tick"); }}},
      {"--spin", Switch(&Options::spin)},
      {"--seed", {true, [](Options& o, const std::string& v) { o.seed = ParseInt(v, 1, INT64_MAX, "--seed"); }}},
      {"--fault", {true, [](Options& o, const std::string& v) { o.faults.push_back(ParseFault(v)); }}},
      {"--slow", {true, [](Options& o, const std::string& v) { o.slowdowns.push_back(ParseSlowdown(v)); }}},
      {"--jitter", {true, [](Options& o, const std::string& v) { o.jitterNs = ParseTime(v); }}},
      {"--one-stream", Switch(&Options::oneStream)},
      {"--connect-at-use", Switch(&Options::connectAtUse)},
      {"--peer-channels", Int("--peer-channels", &Options::peerChannels, 1, kMaxChannels)},
      {"--node-size",
       {true, [](Options& o, const std::string& v) { o.nodes.size = ParseInt(v, 1, kMaxRanks, "--node-size"); }}},
      {"--pod-size", Int("--pod-size", &Options::podSize, 1, kMaxRanks)},
      {"--node-memory", {true, [](Options& o, const std::string& v) { ParseNodeMemory(v, o.nodes); }}},
      {"--hang-seconds", Seconds("--hang-seconds", &Options::hangNs)},
      {"--hang-signal", Choice<int>("--hang-signal", &Options::hangSignal,
                                    {{"KILL", SIGKILL}, {"TERM", SIGTERM}, {"ABORT", kAbortComms}})},
      {"--timeout", Seconds("--timeout", &Options::timeoutNs)},
      {"--recover", {true, ParseRecovery}},
      {"--net-events", {true, [](Options& o, const std::string& v) { ParseNetEvents(v, o.netEvents); }}},
      {"--pxn", {true, [](Options& o, const std::string& v) { ParsePxn(v, o.pxn); }}},
      {"--transport",
       Choice<Transport>("--transport", &Options::transport,
                         {{"net", Transport::kNet}, {"collnet", Transport::kCollNet}, {"memcpy", Transport::kMemcpy}})},
      {"--abuse", Switch(&Options::abuse)},
      {"--ce", Switch(&Options::copyEngine)},
      {"--symmetric", Switch(&Options::symmetric)},
      {"--truth", {true, [](Options& o, const std::string& v) { o.truthDir = v; }}},
      {"--json", Switch(&Options::json)},
      {"--quiet", Switch(&Options::quiet)},
      {"--help", Switch(&Options::help)},
      {"--rank", Int("--rank", &Options::rank, 0, kMaxRanks)},
      {"--control-fd", Int("--control-fd", &Options::controlFd, 0, 1 << 20)},
      {"--memory-fd", Int("--memory-fd", &Options::memoryFd, 0, 1 << 20)},
      {"--run-id", {true, [](Options& o, const std::string& v) { o.runId = std::stoull(v, nullptr, 16); }}},
  };
  return flags;
}

/** Gradients of several sizes, a tensor-parallel reduction, an optimizer's gather, a pipeline's exchange. */
constexpr char kDefaultScript[] =
    "allreduce:4M, allreduce:192K, reducescatter:2M, allgather:2M, group{send+recv:512K}, sleep:1ms";
constexpr char kDefaultGroupScript[] =
    "allreduce@tp:1M*2, allreduce@dp:4M, allreduce@tp:64K, reducescatter@dp:2M, allgather@dp:2M, "
    "group{send+recv:512K}, allreduce:8M, sleep:1ms";

void SetDefaultWorkload(Options& o) {
  const bool grouped = o.groups.empty() && o.ranks >= 4 && o.ranks % 2 == 0;
  if (grouped) {
    o.groups.push_back({GroupSpec::Kind::kConsecutive, o.ranks / 2, "tp", false});
    o.groups.push_back({GroupSpec::Kind::kStrided, o.ranks / 2, "dp", false});
  }
  o.script = ParseScript(grouped ? kDefaultGroupScript : kDefaultScript);
}

std::set<int> SizesOf(const Options& o, const std::string& comm) {
  if (comm == "world") return {o.ranks};
  for (const GroupSpec& group : o.groups) {
    if (group.name == comm) return SizesOf(group, o.ranks);
  }
  throw UsageError("there is no communicator '" + comm + "'; --groups NAME=K makes one");
}

void CheckRoot(const Options& o, const ScriptOp& op) {
  for (int size : SizesOf(o, op.comm)) {
    if (HasRoot(op.func) && op.peer >= size) {
      throw UsageError("'" + op.comm + "' has no rank " + std::to_string(op.peer) + " to be the root");
    }
  }
}

/** Sends of a rank to itself wait for their receives, so they must be launched together. */
void CheckSelf(const Options& o, const ScriptItem& item) {
  std::map<std::pair<std::string, int>, int> sendsLeft;
  for (const ScriptOp& op : OpsOf({item})) {
    for (int size : SizesOf(o, op.comm)) {
      if (!IsP2p(op.func) || op.peer % size != 0) continue;
      sendsLeft[{op.comm, size}] += op.func == Func::kSend ? 1 : -1;
    }
  }
  for (const auto& [comm, left] : sendsLeft) {
    if (left != 0 || item.kind == ScriptItem::Kind::kOp) {
      throw UsageError("a transfer on '" + comm.first +
                       "' would go to the rank itself; that takes a group with a send and a recv");
    }
  }
}

void CheckScript(const Options& o, const Script& script) {
  for (const ScriptOp& op : OpsOf(script)) CheckRoot(o, op);
  for (const ScriptItem& item : script) CheckSelf(o, item);
}

/** A rank counts steps for one fault only, and for faults that pass in other iterations. */
void CheckFaults(const Options& o) {
  for (const Slowdown& slow : o.slowdowns) {
    if (slow.rank >= o.ranks) throw UsageError("there is no rank " + std::to_string(slow.rank) + " to be slow");
  }
  std::set<std::pair<int, int>> counting;  // rank, iteration of a fault that passes
  for (const Fault& fault : o.faults) {
    if (fault.rank >= o.ranks) throw UsageError("there is no rank " + std::to_string(fault.rank) + " to go wrong");
    const bool counts = fault.moment == FaultMoment::kIn && fault.kind != FaultKind::kGpu &&
                        fault.kind != FaultKind::kGpuStart && fault.kind != FaultKind::kPost && !fault.OfCalls();
    if (counts && !counting.insert({fault.rank, fault.lastsNs == 0 ? kNever : fault.at}).second) {
      throw UsageError("--fault: rank " + std::to_string(fault.rank) + " can count steps for one fault only");
    }
  }
}

void Check(const Options& o) {
  CheckFaults(o);
  for (int rank : {o.pxn.origin, o.pxn.executor}) {
    if (rank >= o.ranks) throw UsageError("there is no rank " + std::to_string(rank) + " for --pxn");
  }
  if (o.registered && o.pxn.origin != kNever) {
    throw UsageError(
        "--pxn and --registered exclude each other: an executor cannot read the buffers of another process");
  }
  if (o.connectAtUse && o.nonBlocking) {
    throw UsageError("--connect-at-use and --non-blocking exclude each other: nobody would be inside of the call");
  }
  if (o.exit == ExitStyle::kParentFirst && o.groups.empty()) {
    throw UsageError("--exit parent-first needs communicators split from the world: --groups NAME=K makes some");
  }
  CheckScript(o, o.script);
  for (const Fault& fault : o.faults) {
    CheckScript(o, fault.script);
    if (!fault.script.empty() && (o.copyEngine || o.symmetric)) {
      throw UsageError("--fault other has no windows for --ce and --symmetric");
    }
  }
}

const Flag& FlagNamed(const std::string& name) {
  const auto found = Flags().find(name);
  if (found == Flags().end()) throw UsageError("unknown option '" + name + "'; --help lists all");
  return found->second;
}

}  // namespace

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    std::string name = argv[i];
    std::string value;
    const size_t equals = name.find('=');
    const bool attached = equals != std::string::npos;
    if (attached) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const Flag& flag = FlagNamed(name);
    if (!flag.takesValue && attached) throw UsageError(name + " takes no value");
    if (flag.takesValue && !attached) {
      if (i + 1 == argc) throw UsageError(name + " needs a value");
      value = argv[++i];
    }
    flag.set(options, value);
  }
  if (options.script.empty()) SetDefaultWorkload(options);
  NumberWindows(options);
  Check(options);
  return options;
}

}  // namespace loopback
