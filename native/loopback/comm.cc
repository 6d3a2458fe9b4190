#include "loopback/comm.h"

#include <algorithm>
#include <set>

namespace loopback {
namespace {

int RankIn(const CommSpec& spec, int worldRank) {
  return std::find(spec.worldRanks.begin(), spec.worldRanks.end(), worldRank) - spec.worldRanks.begin();
}

std::vector<int> RingFrom(int rank, int nRanks, bool descending) {
  std::vector<int> ring;
  for (int i = 0; i < nRanks; i++) ring.push_back((rank + (descending ? nRanks - i : i)) % nRanks);
  return ring;
}

}  // namespace

Comm::Comm(CommSpec s, int worldRank)
    : spec(std::move(s)),
      rank(RankIn(spec, worldRank)),
      nRanks(spec.worldRanks.size()),
      ring(RingFrom(rank, nRanks, spec.descending)) {}

std::vector<ConnectionKey> Comm::NeededConnections(const Script& script, int maxChannels, ProtoChoice proto) const {
  std::set<ConnectionKey> keys;
  if (nRanks == 1) return {};
  for (int channel = 0; channel < maxChannels; channel++) {
    keys.insert({ringPrev(), channel, false, false});
    keys.insert({ringNext(), channel, true, false});
  }
  for (const ScriptItem& item : script) {
    for (const ScriptOp& op : item.ops) {
      if (!IsP2p(op.func) || op.comm != spec.name) continue;
      const int distance = (op.peerDelta % nRanks + nRanks) % nRanks;
      const bool isSend = op.func == Func::kSend;
      const int round = isSend ? distance : nRanks - distance;
      const P2pPlan plan = PlanP2p(op.bytes, op.proto ? op.proto : proto, nRanks, maxChannels, round);
      for (const ChannelPart& part : plan.parts) keys.insert({(rank + distance) % nRanks, part.channel, isSend, true});
    }
  }
  return {keys.begin(), keys.end()};
}

Connection* Comm::AddConnection(const ConnectionKey& key) {
  auto connection = std::make_unique<Connection>(key.channel, key.peer, key.isSend, key.shared);
  connection->ordinals = &ordinals_[{key.channel, key.peer, key.isSend}];
  Connection* added = connection.get();
  connections_[key] = std::move(connection);
  return added;
}

}  // namespace loopback
