#include "loopback/tree.h"

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

}  // namespace

Tree TreeOf(int rank, int nRanks, int channel, int nChannels) {
  if (2 * channel < nChannels) return BinaryTree(rank, nRanks);
  Tree tree = BinaryTree(Position(rank, nRanks), nRanks);
  if (tree.up != kNobody) tree.up = RankAt(tree.up, nRanks);
  for (int& down : tree.down) down = RankAt(down, nRanks);
  return tree;
}

}  // namespace loopback
