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

Comm::Comm(CommSpec s, int worldRank, const Nodes& nodes, ChannelLimits limits)
    : spec(std::move(s)),
      rank(RankIn(spec, worldRank)),
      nRanks(spec.worldRanks.size()),
      ring(RingFrom(rank, nRanks, spec.descending)),
      nChannels_(limits.all),
      limits_(limits) {
  std::vector<int> nodeOf;
  for (int other : spec.worldRanks) nodeOf.push_back(nodes.Of(other));
  for (int channel = 0; channel < nChannels_; channel++) {
    trees_.push_back(TreeOf(rank, nodeOf, channel, nChannels_));
  }
}

std::vector<ConnectionKey> Comm::NeededConnections(const Script& script, ProtoChoice proto, AlgoChoice algo) const {
  std::set<ConnectionKey> keys;
  if (nRanks == 1) return {};
  for (int channel = 0; channel < nChannels_; channel++) {
    keys.insert({ringPrev(), channel, false, false});
    keys.insert({ringNext(), channel, true, false});
  }
  for (const ScriptOp& op : OpsOf(script)) {
    if (op.comm != spec.name) continue;
    const ProtoChoice choice = op.proto ? op.proto : proto;
    if (IsP2p(op.func)) AddTransfer(keys, op.peer, op.func == Func::kSend, op.bytes, choice);
    if (op.func == Func::kAllToAll) {
      for (int distance = 1; distance < nRanks; distance++) {
        for (bool isSend : {false, true}) {
          for (size_t times : {size_t{1}, kLargeBlock})
            AddTransfer(keys, distance, isSend, times * BlockBytes(op.bytes, nRanks), choice);
        }
      }
    }
    if (op.func == Func::kAllReduce && (op.algo ? op.algo : algo) == Algo::kTree) {
      for (int channel = 0; channel < nChannels_; channel++) {
        std::vector<int> peers = trees_[channel].down;
        if (trees_[channel].up != Tree::kNobody) peers.push_back(trees_[channel].up);
        for (int peer : peers) {
          for (bool isSend : {false, true}) keys.insert({peer, channel, isSend, false});
        }
      }
    }
  }
  return {keys.begin(), keys.end()};
}

void Comm::AddTransfer(std::set<ConnectionKey>& keys, int peer, bool isSend, size_t bytes, ProtoChoice proto) const {
  const int distance = (peer % nRanks + nRanks) % nRanks;
  if (distance == 0) return;
  const P2pPartition partition =
      PartitionP2p(bytes, proto, nRanks, limits_, RoundOf(isSend ? distance : nRanks - distance, nRanks));
  for (const ChannelPart& part : partition.parts) keys.insert({(rank + distance) % nRanks, part.channel, isSend, true});
}

Connection* Comm::AddConnection(const ConnectionKey& key, char* memory) {
  auto connection = std::make_unique<Connection>(key.channel, key.peer, key.isSend, key.shared, memory);
  connection->ordinals = &ordinals_[{key.channel, key.peer, key.isSend}];
  Connection* added = connection.get();
  connections_[key] = std::move(connection);
  return added;
}

}  // namespace loopback
