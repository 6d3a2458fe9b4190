// The communicators of a job: members, order, id. Every process computes them from the options.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace loopback {

/** A way to split the world, as an option declares it. */
struct GroupSpec {
  enum class Kind { kConsecutive, kStrided };
  Kind kind;
  int size;          // consecutive: ranks in a group; strided: r % size is the same
  std::string name;  // the name all groups of this split share
  bool reversed;     // the last rank of the world is the first of its group
};

struct CommSpec {
  std::string name;
  std::vector<int> worldRanks;  // index = rank in the communicator
  uint64_t id;                  // the same on all its members, different for each communicator
  bool descending;              // the ring runs from high ranks to low ones
};

/** "4", "tp=4" or "tp=4:reversed". */
GroupSpec ParseGroup(GroupSpec::Kind kind, const std::string& text, const char* defaultName);

/** The sizes of its communicators. They differ if the split is uneven. */
std::set<int> SizesOf(const GroupSpec& group, int worldSize);

/**
 * The communicators `rank` belongs to, in the order they are created: the world first. `gone`: ranks that no communicator
 * has any more.
 */
std::vector<CommSpec> CommsOf(int rank, int worldSize, const std::vector<GroupSpec>& groups, uint64_t runId,
                              const std::set<int>& gone = {});

/** A splitmix64 step: ids and offsets that look random and are the same in every process. */
uint64_t Mix(uint64_t seed, uint64_t value);

}  // namespace loopback
