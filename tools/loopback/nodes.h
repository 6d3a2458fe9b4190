// Which ranks share a node. Inside a node data does not go through the proxy, and a node dies as a whole.

#pragma once

#include <string>
#include <vector>

namespace loopback {

struct Nodes {
  int size = 1;          // consecutive ranks of the world
  std::string variable;  // environment variable that names a folder in the node's memory. Empty: there is none
  std::string folder;    // of all nodes

  int Of(int worldRank) const { return worldRank / size; }
  int CountOf(const std::vector<int>& worldRanks) const;
  bool Same(int a, int b) const { return Of(a) == Of(b); }
  std::string FolderOf(int worldRank) const { return folder + "/node-" + std::to_string(Of(worldRank)); }

  /**
   * Sets variables in a rank's process, before the plugin is loaded: NCCL_HOSTID, which makes several nodes of one machine, and the one of
   * the folder.
   */
  void SetVariables(int worldRank) const;
  /** Removes the folder with everything in it. */
  void RemoveFolder(int worldRank) const;
};

/** "VARIABLE=FOLDER". Throws UsageError. */
void ParseNodeMemory(const std::string& text, Nodes& nodes);

}  // namespace loopback
