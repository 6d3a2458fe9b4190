#include "loopback/plan_report.h"

#include <algorithm>

#include "loopback/json.h"

namespace loopback {
namespace {

struct OpReport {
  const ScriptOp& op;
  int nRanks;
  Proto proto;
  int sliceSteps;
  size_t chunkBytes;
  const std::vector<ChannelPart>& parts;
  int directions;  // a collective sends and receives
};

std::string PartJson(const ChannelPart& part) {
  Json json;
  json.Add("channel", part.channel).Add("bytes", part.bytes).Add("loops", part.loops).Add("nSteps", part.nSteps);
  return json.Text();
}

std::string OpJson(const OpReport& r) {
  int stepsPerOp = 0;
  int64_t steps = 0;
  std::vector<std::string> parts;
  for (const ChannelPart& part : r.parts) {
    stepsPerOp = std::max(stepsPerOp, part.nSteps);
    steps += part.nSteps;
    parts.push_back(PartJson(part));
  }
  Json json;
  json.Add("func", FuncName(r.op.func)).Add("comm", r.op.comm).Add("nRanks", r.nRanks).Add("bytes", r.op.bytes);
  json.Add("proto", ProtoName(r.proto)).Add("nChannels", r.parts.size());
  json.Add("chunkSize", ReportedChunkSize(r.chunkBytes, r.sliceSteps));
  json.Add("loops", r.parts.empty() ? 0 : r.parts[0].loops).Add("stepsPerOp", stepsPerOp);
  json.Add("opsPerRank", r.directions * r.parts.size()).Add("stepsPerRank", r.directions * steps);
  json.AddRaw("parts", JsonArray(parts));
  return json.Text();
}

int MembersOf(const Options& options, const std::string& comm) {
  for (const CommSpec& spec : CommsOf(0, options.ranks, options.groups, 0)) {
    if (spec.name == comm) return spec.worldRanks.size();
  }
  return 0;
}

std::string ReportOp(const ScriptOp& op, const Options& options) {
  const int n = MembersOf(options, op.comm);
  const ProtoChoice choice = op.proto ? op.proto : options.proto;
  if (n == 1) return OpJson({op, n, Proto::kSimple, 1, 0, {}, 0});
  if (IsP2p(op.func)) {
    const int round = ((op.func == Func::kSend ? op.peerDelta : -op.peerDelta) % n + n) % n;
    const P2pPlan plan = PlanP2p(op.bytes, choice, n, options.channels, round);
    return OpJson({op, n, plan.proto, 1, plan.chunkBytes, plan.parts, 1});
  }
  const size_t share = op.func == Func::kAllReduce ? op.bytes : DivUp(op.bytes, n * kElementBytes) * kElementBytes;
  const CollPlan plan = PlanCollectives({{op.func, share, choice}}, n, options.channels)[0];
  return OpJson({op, n, plan.proto, plan.sliceSteps, plan.chunkBytes, plan.parts, 2});
}

}  // namespace

std::string PlanReport(const Options& options) {
  std::vector<std::string> ops;
  for (const ScriptItem& item : options.script) {
    for (const ScriptOp& op : item.ops) ops.push_back(ReportOp(op, options));
  }
  return Json().Add("ranks", options.ranks).Add("channels", options.channels).AddRaw("plan", JsonArray(ops)).Text();
}

}  // namespace loopback
