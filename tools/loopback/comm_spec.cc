#include "loopback/comm_spec.h"

#include <algorithm>
#include <map>

#include "loopback/parse.h"

namespace loopback {
namespace {

int ColorOf(const GroupSpec& group, int rank) {
  return group.kind == GroupSpec::Kind::kConsecutive ? rank / group.size : rank % group.size;
}

}  // namespace

uint64_t Mix(uint64_t seed, uint64_t value) {
  uint64_t z = seed + (value + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

GroupSpec ParseGroup(GroupSpec::Kind kind, const std::string& text, const char* defaultName) {
  const size_t at = text.find('=');
  GroupSpec group{kind, 0, at == std::string::npos ? defaultName : text.substr(0, at), false};
  const std::vector<std::string> size = Split(at == std::string::npos ? text : text.substr(at + 1), ':');
  group.size = ParseInt(size[0], 1, 4096, "a group");
  group.reversed = size.size() == 2 && size[1] == "reversed";
  if (size.size() > 1 && !group.reversed) throw UsageError("'" + text + "': only :reversed may follow a group's size");
  if (group.name.empty() || group.name == "world") throw UsageError("'" + text + "': a group needs a name of its own");
  return group;
}

std::set<int> SizesOf(const GroupSpec& group, int worldSize) {
  std::map<int, int> members;
  for (int r = 0; r < worldSize; r++) members[ColorOf(group, r)] += 1;
  std::set<int> sizes;
  for (const auto& [color, count] : members) sizes.insert(count);
  return sizes;
}

std::vector<CommSpec> CommsOf(int rank, int worldSize, const std::vector<GroupSpec>& groups, uint64_t runId,
                              const std::set<int>& gone) {
  for (int r : gone) runId = Mix(runId, r);
  CommSpec world{"world", {}, Mix(runId, 0), false};
  for (int r = 0; r < worldSize; r++) {
    if (gone.count(r) == 0) world.worldRanks.push_back(r);
  }
  std::vector<CommSpec> comms{world};
  for (size_t g = 0; g < groups.size(); g++) {
    const int color = ColorOf(groups[g], rank);
    CommSpec comm{groups[g].name, {}, Mix(Mix(runId, g + 1), color), g % 2 == 0};
    for (int r : world.worldRanks) {
      if (ColorOf(groups[g], r) == color) comm.worldRanks.push_back(r);
    }
    if (groups[g].reversed) std::reverse(comm.worldRanks.begin(), comm.worldRanks.end());
    comms.push_back(comm);
  }
  return comms;
}

}  // namespace loopback
