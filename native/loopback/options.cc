#include "loopback/options.h"

#include <csignal>
#include <functional>
#include <map>

#include "loopback/parse.h"
#include "loopback/sender.h"

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

Flag FaultInt(const char* name, int FaultOptions::*member, int most) {
  return {true, [=](Options& o, const std::string& v) { o.faults.*member = ParseInt(v, 0, most, name); }};
}

Flag Seconds(const char* name, int64_t Options::*member) {
  return {true, [=](Options& o, const std::string& v) { o.*member = ParseDouble(v, name) * kSecond; }};
}

Flag Group(GroupSpec::Kind kind, const char* defaultName) {
  return {true, [=](Options& o, const std::string& v) { o.groups.push_back(ParseGroup(kind, v, defaultName)); }};
}

/** One of a few words. */
template <typename T>
Flag Choice(const char* name, T Options::*member, std::map<std::string, T> words) {
  return {true, [=](Options& o, const std::string& v) {
            const auto found = words.find(v);
            if (found == words.end()) throw UsageError(std::string(name) + " does not know '" + v + "'");
            o.*member = found->second;
          }};
}

void SetKillAt(Options& o, const std::string& value) {
  const std::vector<std::string> parts = Split(value, ':');
  if (parts.size() > 2) throw UsageError("--kill-at wants ITER or ITER:STEP, not '" + value + "'");
  o.faults.killAt = ParseInt(parts[0], 0, kMaxIterations, "--kill-at");
  if (parts.size() == 2) o.faults.killStep = ParseInt(parts[1], 1, INT64_MAX, "--kill-at ITER:STEP");
}

const std::map<std::string, Flag>& Flags() {
  static const std::map<std::string, Flag> flags = {
      {"--ranks", Int("--ranks", &Options::ranks, 1, kMaxRanks)},
      {"--channels", Int("--channels", &Options::channels, 1, kMaxChannels)},
      {"--iterations", Int("--iterations", &Options::iterations, 1, kMaxIterations)},
      {"--ops", {true, [](Options& o, const std::string& v) { o.script = ParseScript(v); }}},
      {"--proto", {true, [](Options& o, const std::string& v) { o.proto = ParseProto(v); }}},
      {"--groups", Group(GroupSpec::Kind::kConsecutive, "tp")},
      {"--groups-strided", Group(GroupSpec::Kind::kStrided, "dp")},
      {"--no-comm-names", Switch(&Options::commNames, false)},
      {"--abi", Int("--abi", &Options::abi, 1, kVersions)},
      {"--plugin-abi", Int("--plugin-abi", &Options::pluginAbi, 1, kVersions)},
      {"--user-tag",
       {true, [](Options& o, const std::string& v) { o.userTag = ParseInt(v, 0, INT64_MAX, "--user-tag"); }}},
      {"--no-plugin", Switch(&Options::plugin, false)},
      {"--exit",
       Choice<ExitStyle>("--exit", &Options::exit,
                         {{"clean", ExitStyle::kClean}, {"leave", ExitStyle::kLeave}, {"abrupt", ExitStyle::kAbrupt}})},
      {"--net", Choice<bool>("--net", &Options::credits, {{"credits", true}, {"socket", false}})},
      {"--irecv-busy", Int("--irecv-busy", &Options::irecvBusy, 0, 1 << 20)},
      {"--rate-limit",
       {true, [](Options& o, const std::string& v) { o.rateLimit = 1e6 * ParseDouble(v, "--rate-limit"); }}},
      {"--gpu-drift-ppm",
       {true, [](Options& o, const std::string& v) { o.gpuDriftPpm = ParseDouble(v, "--gpu-drift-ppm"); }}},
      {"--gpu-tick",
       {true, [](Options& o, const std::string& v) { o.gpuTickNs = ParseInt(v, 1, kSecond, "--gpu-tick"); }}},
      {"--spin", Switch(&Options::spin)},
      {"--seed", {true, [](Options& o, const std::string& v) { o.seed = ParseInt(v, 1, INT64_MAX, "--seed"); }}},
      {"--slow-rank", FaultInt("--slow-rank", &FaultOptions::slowRank, kMaxRanks)},
      {"--slow-us",
       {true,
        [](Options& o, const std::string& v) {
          o.faults.slowNs = ParseInt(v, 0, 3600 * 1000000LL, "--slow-us") * kMicrosecond;
        }}},
      {"--slow-at", FaultInt("--slow-at", &FaultOptions::slowAt, kMaxIterations)},
      {"--skip-rank", FaultInt("--skip-rank", &FaultOptions::skipRank, kMaxRanks)},
      {"--skip-at", FaultInt("--skip-at", &FaultOptions::skipAt, kMaxIterations)},
      {"--kill-rank", FaultInt("--kill-rank", &FaultOptions::killRank, kMaxRanks)},
      {"--kill-at", {true, SetKillAt}},
      {"--corrupt-rank", FaultInt("--corrupt-rank", &FaultOptions::corruptRank, kMaxRanks)},
      {"--corrupt-at", FaultInt("--corrupt-at", &FaultOptions::corruptAt, kMaxIterations)},
      {"--hang-seconds", Seconds("--hang-seconds", &Options::hangNs)},
      {"--hang-signal", Choice<int>("--hang-signal", &Options::hangSignal, {{"KILL", SIGKILL}, {"TERM", SIGTERM}})},
      {"--timeout", Seconds("--timeout", &Options::timeoutNs)},
      {"--truth", {true, [](Options& o, const std::string& v) { o.truthDir = v; }}},
      {"--json", Switch(&Options::json)},
      {"--plan", Switch(&Options::plan)},
      {"--quiet", Switch(&Options::quiet)},
      {"--help", Switch(&Options::help)},
      {"--rank", Int("--rank", &Options::rank, 0, kMaxRanks)},
      {"--control-fd", Int("--control-fd", &Options::controlFd, 0, 1 << 20)},
      {"--run-id", {true, [](Options& o, const std::string& v) { o.runId = std::stoull(v, nullptr, 16); }}},
  };
  return flags;
}

/** Gradients of mixed sizes, a tensor-parallel reduction, an optimizer's gather, a pipeline's exchange. */
constexpr char kDefaultScript[] =
    "allreduce:4M, allreduce:192K, reducescatter:2M, allgather:2M, group{send+recv:512K}, sleep:1ms";
constexpr char kDefaultGroupScript[] =
    "allreduce@tp:1M*2, allreduce@dp:4M, allreduce@tp:64K, reducescatter@dp:2M, allgather@dp:2M, "
    "group{send+recv:512K}, allreduce:8M, sleep:1ms";

void SetDefaultWorkload(Options& o) {
  const bool grouped = o.groups.empty() && o.ranks >= 4 && o.ranks % 2 == 0;
  if (grouped) {
    o.groups.push_back({GroupSpec::Kind::kConsecutive, o.ranks / 2, "tp"});
    o.groups.push_back({GroupSpec::Kind::kStrided, o.ranks / 2, "dp"});
  }
  o.script = ParseScript(grouped ? kDefaultGroupScript : kDefaultScript);
}

void CheckOp(const Options& o, const ScriptOp& op) {
  std::set<int> sizes;
  if (op.comm == "world") sizes.insert(o.ranks);
  for (const GroupSpec& group : o.groups) {
    if (group.name == op.comm) sizes = SizesOf(group, o.ranks);
  }
  if (sizes.empty()) throw UsageError("there is no communicator '" + op.comm + "'; --groups NAME=K makes one");
  for (int size : sizes) {
    if (IsP2p(op.func) && op.peerDelta % size == 0) {
      throw UsageError(std::string(FuncName(op.func)) + " on '" + op.comm + "' would go to the rank itself");
    }
  }
}

void Check(const Options& o) {
  const FaultOptions& f = o.faults;
  for (int rank : {f.slowRank, f.skipRank, f.killRank, f.corruptRank}) {
    if (rank >= o.ranks) throw UsageError("there is no rank " + std::to_string(rank) + " to go wrong");
  }
  for (const ScriptItem& item : o.script) {
    for (const ScriptOp& op : item.ops) CheckOp(o, op);
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
  Check(options);
  return options;
}

}  // namespace loopback
