// The two trees of a tree AllReduce: sums travel up, results down. Each tree has half of the channels. A rank that passes
// data on in one tree is mostly a leaf in the other (a double binary tree).

#pragma once

#include <vector>

namespace loopback {

/** One rank's neighbours in one tree. */
struct Tree {
  static constexpr int kNobody = -1;
  int up = kNobody;  // the root has none
  std::vector<int> down;
};

/** The first half of the channels, the middle one included, uses the first tree. */
Tree TreeOf(int rank, int nRanks, int channel, int nChannels);

}  // namespace loopback
