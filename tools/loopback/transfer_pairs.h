// Pairs sends with receives that run together, and orders the pairs: NCCL's rounds of point-to-point work.

#pragma once

#include <vector>

#include "loopback/task.h"

namespace loopback {

/**
 * A send to the rank itself has round 0 and always has its receive. A send to the rank at some distance ahead and the
 * receive from the rank at the same distance behind run as one work. `round` follows from that distance. `ordinal` counts
 * the transfers with one peer and direction, which run one after another.
 */
struct TransferPair {
  int ordinal;
  int round;
  Task* send;
  Task* recv;
};

/** In the order in which they run, which is the same on both sides of each transfer. */
std::vector<TransferPair> PairTransfers(const std::vector<Task*>& transfers, const Comm& comm);

}  // namespace loopback
