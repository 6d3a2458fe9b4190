// The two trees of a tree AllReduce: sums travel up, results down. Each tree has half of the channels. A node that passes
// data on in one tree is mostly a leaf in the other (a double binary tree). The ranks of a node are a chain below its first.

#pragma once

#include <vector>

namespace loopback {

/** One rank's neighbours in one tree. */
struct Tree {
  static constexpr int kNobody = -1;
  int up = kNobody;  // the root has none
  std::vector<int> down;
};

/** `nodeOf`: by rank. The first half of the channels, the middle one included, uses the first tree. */
Tree TreeOf(int rank, const std::vector<int>& nodeOf, int channel, int nChannels);

}  // namespace loopback
