// Which ranks share a node: inside it data does not go through the proxy, and a node dies as a whole.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_NODES_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_NODES_H_

#include <string>
#include <vector>

namespace loopback {

struct Nodes {
  int size = 1;          // consecutive ranks of the world
  std::string variable;  // names a folder of the node's memory to its processes; empty: it has none
  std::string folder;    // of all of them

  int Of(int worldRank) const { return worldRank / size; }
  int CountOf(const std::vector<int>& worldRanks) const;
  bool Same(int a, int b) const { return Of(a) == Of(b); }
  std::string FolderOf(int worldRank) const { return folder + "/node-" + std::to_string(Of(worldRank)); }

  /** In a rank's process, before the plugin is loaded. */
  void TellFolder(int worldRank) const;
  /** It is gone, with all that is in it. */
  void RemoveFolder(int worldRank) const;
};

/** "VARIABLE=FOLDER". Throws UsageError. */
void ParseNodeMemory(const std::string& text, Nodes& nodes);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_NODES_H_
