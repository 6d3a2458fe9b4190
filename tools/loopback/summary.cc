#include "loopback/summary.h"

#include "loopback/fatal.h"
#include "loopback/json.h"

namespace loopback {
namespace {

const char* EndingName(Ending ending) {
  static const char* const names[] = {"finished", "failed", "wrong data", "hung", "timeout", "interrupted"};
  return names[static_cast<int>(ending)];
}

int64_t Milliseconds(int64_t ns) { return ns / kMillisecond; }

RankResult Total(const std::vector<Child>& children) {
  RankResult total{};
  for (const Child& child : children) {
    total.collectives += child.result.collectives;
    total.p2ps += child.result.p2ps;
    total.bytes += child.result.bytes;
    total.verified += child.result.verified;
    total.wrong += child.result.wrong;
    total.callbacks += child.result.callbacks;
  }
  return total;
}

Json Counts(const RankResult& r) {
  Json json;
  json.Add("collectives", r.collectives).Add("p2ps", r.p2ps).Add("bytes", r.bytes);
  json.Add("verified", r.verified).Add("wrong", r.wrong).Add("callbacks", r.callbacks);
  return json;
}

std::string ChildJson(const Child& child) {
  return Json()
      .Add("rank", child.rank)
      .Add("pid", child.pid)
      .Add("ended", child.HowItEnded())
      .Add("iterations", child.result.iterations)
      .Add("workUs", child.result.workNs / kMicrosecond)
      .Add("workCpuUs", child.result.workCpuNs / kMicrosecond)
      .AddRaw("counts", Counts(child.result).Text())
      .Text();
}

}  // namespace

int ExitCodeOf(const Summary& summary) {
  switch (summary.ending) {
    case Ending::kFinished:
      return kExitOk;
    case Ending::kWrongData:
      return kExitWrongData;
    case Ending::kHung:
      return kExitHung;
    case Ending::kInterrupted:
      return 128 + summary.signal;
    default:
      return kExitFailed;
  }
}

std::string SummaryJson(const Summary& summary, const Options& options, const std::vector<Child>& children) {
  std::vector<std::string> ranks;
  for (const Child& child : children) ranks.push_back(ChildJson(child));
  const RankResult& first = children.front().result;
  Json json;
  json.Add("ending", EndingName(summary.ending)).Add("exitCode", ExitCodeOf(summary));
  json.Add("ranks", options.ranks).Add("channels", options.channels).Add("abi", options.abi);
  *first.plugin == 0 ? json.AddNull("plugin") : json.Add("plugin", first.plugin);
  json.Add("pluginVersion", first.pluginVersion).Add("elapsedMs", Milliseconds(summary.elapsedNs));
  json.AddRaw("counts", Counts(Total(children)).Text()).AddRaw("perRank", JsonArray(ranks));
  return json.Text();
}

void SaySummary(const Summary& summary, const std::vector<Child>& children) {
  const RankResult total = Total(children);
  Say("%s after %ld ms: %zu ranks, %lu operations, %lu verified, %lu wrong, %lu callbacks", EndingName(summary.ending),
      static_cast<long>(Milliseconds(summary.elapsedNs)), children.size(),
      static_cast<unsigned long>(total.collectives + total.p2ps), static_cast<unsigned long>(total.verified),
      static_cast<unsigned long>(total.wrong), static_cast<unsigned long>(total.callbacks));
  for (const Child& child : children) {
    if (!child.endedWell()) Say("rank %d (pid %d): %s", child.rank, child.pid, child.HowItEnded().c_str());
  }
}

}  // namespace loopback
