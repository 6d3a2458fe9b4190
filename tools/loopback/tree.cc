#include "loopback/tree.h"

#include <algorithm>

namespace loopback {
namespace {

constexpr int kNobody = Tree::kNobody;

/** The lowest set bit: 1 for the leaves (odd positions), 2, 4, 8 … for each level above. */
int Height(int position) { return position & -position; }

int ParentOf(int position, int n) {
  if (position == 0) return kNobody;
  const int height = Height(position);
  const int parent = (position ^ height) | (height << 1);
  return parent < n ? parent : position ^ height;
}

/** Positions 1, 2, 3 … are the nodes from left to right. Position 0 is the root, above all others. */
Tree BinaryTree(int position, int n) {
  Tree tree;
  tree.up = ParentOf(position, n);
  for (int other = 1; other < n; other++) {
    if (ParentOf(other, n) == position) tree.down.push_back(other);
  }
  return tree;
}

/** In the second tree the odd positions of the first are even: mirrored, or moved on by one. */
int Position(int rank, int n) { return n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n; }
int RankAt(int position, int n) { return n % 2 == 0 ? n - 1 - position : (position + 1) % n; }

/** Of nodes, in one of both trees. */
Tree TreeOfNodes(int node, int n, bool isFirst) {
  if (isFirst) return BinaryTree(node, n);
  Tree tree = BinaryTree(Position(node, n), n);
  if (tree.up != kNobody) tree.up = RankAt(tree.up, n);
  for (int& down : tree.down) down = RankAt(down, n);
  return tree;
}

/** Ranks by node, in the order of the first of each. */
std::vector<std::vector<int>> ByNode(const std::vector<int>& nodeOf) {
  std::vector<std::vector<int>> nodes;
  for (int rank = 0; rank < static_cast<int>(nodeOf.size()); rank++) {
    const auto isIts = [&](const std::vector<int>& ranks) { return nodeOf[ranks[0]] == nodeOf[rank]; };
    const auto node = std::find_if(nodes.begin(), nodes.end(), isIts);
    if (node == nodes.end()) {
      nodes.push_back({rank});
    } else {
      node->push_back(rank);
    }
  }
  return nodes;
}

}  // namespace

Tree TreeOf(int rank, const std::vector<int>& nodeOf, int channel, int nChannels) {
  const auto nodes = ByNode(nodeOf);
  int node = 0;
  while (nodeOf[nodes[node][0]] != nodeOf[rank]) node++;
  const std::vector<int>& chain = nodes[node];
  const size_t place = std::find(chain.begin(), chain.end(), rank) - chain.begin();
  Tree tree;
  if (place > 0) {
    tree.up = chain[place - 1];
  } else {
    tree = TreeOfNodes(node, nodes.size(), 2 * channel < nChannels);
    if (tree.up != kNobody) tree.up = nodes[tree.up][0];
    for (int& down : tree.down) down = nodes[down][0];
  }
  if (place + 1 < chain.size()) tree.down.push_back(chain[place + 1]);
  return tree;
}

}  // namespace loopback
