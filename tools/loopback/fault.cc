#include "loopback/fault.h"

#include <map>

#include "loopback/parse.h"

namespace loopback {
namespace {

const std::map<std::string, FaultKind>& Kinds() {
  static const std::map<std::string, FaultKind> kinds = {
      {"kill", FaultKind::kKill},          {"stop", FaultKind::kStop},       {"exit", FaultKind::kExit},
      {"abort", FaultKind::kAbort},        {"node", FaultKind::kNode},       {"gpu", FaultKind::kGpu},
      {"gpu-start", FaultKind::kGpuStart}, {"send", FaultKind::kSend},       {"recv", FaultKind::kRecv},
      {"stall", FaultKind::kStall},        {"drop", FaultKind::kDrop},       {"skip", FaultKind::kSkip},
      {"other", FaultKind::kOther},        {"corrupt", FaultKind::kCorrupt}, {"post", FaultKind::kPost},
  };
  return kinds;
}

void ParseMoment(std::string word, Fault& fault) {
  if (fault.OfCalls()) throw UsageError("skip and corrupt are for a whole iteration: no '" + word + "'");
  const size_t slash = word.find('/');
  if (slash != std::string::npos) {
    if (fault.kind != FaultKind::kDrop) throw UsageError("only drop lasts for a time, as in drop:2@1:5/800ms");
    fault.lastsNs = ParseTime(word.substr(slash + 1));
    word.resize(slash);
  }
  if (word == "before" || word == "after") {
    if (!fault.OfProcess())
      throw UsageError("'" + word + "' is for faults of a process: kill, stop, exit, abort, node");
    fault.moment = word == "before" ? FaultMoment::kBefore : FaultMoment::kAfter;
  } else if (word != "in") {
    fault.steps = ParseInt(word, 1, kMost, "--fault KIND:RANK@ITER:STEPS");
  }
}

}  // namespace

Fault ParseFault(const std::string& text) {
  std::vector<std::string> parts = Split(text, ':');
  const std::vector<std::string> place = Split(parts.size() < 2 ? "" : parts[1], '@');
  const bool isOther = parts[0] == "other";
  if (isOther && parts.size() > 3) parts = {parts[0], parts[1], text.substr(parts[0].size() + parts[1].size() + 2)};
  if (parts.size() > 3 || place.size() != 2 || (isOther && parts.size() != 3))
    throw UsageError("--fault wants KIND:RANK@ITER[:WHEN], not '" + text + "'");
  const auto kind = Kinds().find(parts[0]);
  if (kind == Kinds().end()) {
    std::string names;
    for (const auto& [name, unused] : Kinds()) names += " " + name;
    throw UsageError("--fault does not know '" + parts[0] + "', but" + names);
  }
  const int rank = place[0] == "all" ? Fault::kAllRanks : ParseInt(place[0], 0, kMost, "--fault's rank");
  Fault fault{kind->second, rank, static_cast<int>(ParseInt(place[1], 0, kMost, "--fault's iteration"))};
  if (isOther) {
    fault.script = ParseScript(parts[2]);
  } else if (parts.size() == 3) {
    ParseMoment(parts[2], fault);
  }
  return fault;
}

}  // namespace loopback
