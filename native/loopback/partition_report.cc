#include "loopback/partition_report.h"

#include <algorithm>
#include <functional>

#include "loopback/json.h"
#include "loopback/tree.h"

namespace loopback {
namespace {

struct OpReport {
  const ScriptOp& op;
  int nRanks;
  Proto proto;
  int sliceSteps;
  size_t chunkBytes;
  const std::vector<ChannelPart>& parts;
  std::function<int(int)> opsOn;  // proxy operations of rank 0 on a channel
};

std::string PartJson(const ChannelPart& part) {
  Json json;
  json.Add("channel", part.channel).Add("bytes", part.bytes).Add("loops", part.loops).Add("nSteps", part.nSteps);
  return json.Text();
}

std::string OpJson(const OpReport& r) {
  int stepsPerOp = 0;
  int64_t ops = 0;
  int64_t steps = 0;
  std::vector<std::string> parts;
  for (const ChannelPart& part : r.parts) {
    stepsPerOp = std::max(stepsPerOp, part.nSteps);
    ops += r.opsOn(part.channel);
    steps += r.opsOn(part.channel) * part.nSteps;
    parts.push_back(PartJson(part));
  }
  Json json;
  json.Add("func", FuncName(r.op.func)).Add("comm", r.op.comm).Add("nRanks", r.nRanks).Add("bytes", r.op.bytes);
  json.Add("proto", ProtoName(r.proto)).Add("nChannels", r.parts.size());
  json.Add("chunkSize", ReportedChunkSize(r.chunkBytes, r.sliceSteps));
  json.Add("loops", r.parts.empty() ? 0 : r.parts[0].loops).Add("stepsPerOp", stepsPerOp);
  json.Add("opsPerRank", ops).Add("stepsPerRank", steps);
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
  if (n == 1) return OpJson({op, n, Proto::kSimple, 1, 0, {}, {}});
  const size_t share = InBlocks(op.func) ? BlockBytes(op.bytes, n) : op.bytes;
  if (IsP2p(op.func) || op.func == Func::kAllToAll) {
    const int distance = op.func == Func::kAllToAll ? 1 : op.peer;
    const int ahead = ((op.func == Func::kRecv ? -distance : distance) % n + n) % n;
    const int round = RoundOf(ahead, n);
    const P2pPartition partition = PartitionP2p(share, choice, n, {options.channels, options.peerChannels}, round,
                                                options.registered && round != 0);
    const int transfers = op.func == Func::kAllToAll ? 2 * (n - 1) : round == 0 ? 0 : 1;
    return OpJson({op, n, partition.proto, 1, partition.chunkBytes, partition.parts, [=](int) { return transfers; }});
  }
  const AlgoChoice algo = op.func == Func::kAllReduce ? (op.algo ? op.algo : options.algo) : std::nullopt;
  const CollPartition partition = PartitionCollectives(
      {{op.func, share, choice, algo, options.registered && op.func == Func::kAllGather}}, n, options.channels)[0];
  const auto opsOn = [&](int channel) {
    if (HasRoot(op.func)) return op.peer == 0 || op.peer == (op.func == Func::kBroadcast ? 1 : n - 1) ? 1 : 2;
    if (partition.algo == Algo::kRing) return 2;
    const Tree tree = TreeOf(0, n, channel, options.channels);
    return static_cast<int>(2 * (tree.down.size() + (tree.up != Tree::kNobody)));
  };
  return OpJson({op, n, partition.proto, partition.sliceSteps, partition.chunkBytes, partition.parts, opsOn});
}

}  // namespace

std::string PartitionReport(const Options& options) {
  std::vector<std::string> ops;
  for (const ScriptOp& op : OpsOf(options.script)) ops.push_back(ReportOp(op, options));
  return Json()
      .Add("ranks", options.ranks)
      .Add("channels", options.channels)
      .AddRaw("partition", JsonArray(ops))
      .Text();
}

}  // namespace loopback
