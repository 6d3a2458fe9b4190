#include "loopback/transfer_pairs.h"

#include <map>

namespace loopback {

std::vector<TransferPair> PairTransfers(const std::vector<Task*>& transfers, const Comm& comm) {
  std::map<std::pair<int, int>, TransferPair> pairs;  // by ordinal, then round
  std::map<std::pair<int, bool>, int> counts;         // by peer and direction
  for (Task* task : transfers) {
    const bool isSend = task->func == Func::kSend;
    const int distance = (task->peer - comm.rank + comm.nRanks) % comm.nRanks;
    const int ahead = (isSend ? distance : comm.nRanks - distance) % comm.nRanks;
    const int round = RoundOf(ahead, comm.nRanks);
    const int ordinal = counts[{task->peer, isSend}]++;
    TransferPair& pair = pairs.insert({{ordinal, round}, {ordinal, round, nullptr, nullptr}}).first->second;
    (isSend ? pair.send : pair.recv) = task;
  }
  std::vector<TransferPair> ordered;
  for (const auto& [key, pair] : pairs) ordered.push_back(pair);
  return ordered;
}

}  // namespace loopback
