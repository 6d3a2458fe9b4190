#include "loopback/nodes.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include "loopback/parse.h"

namespace loopback {

int Nodes::CountOf(const std::vector<int>& worldRanks) const {
  std::set<int> nodes;
  for (int rank : worldRanks) nodes.insert(Of(rank));
  return nodes.size();
}

void Nodes::SetVariables(int worldRank) const {
  if (size > 1) setenv("NCCL_HOSTID", ("node-" + std::to_string(Of(worldRank))).c_str(), 1);
  if (variable.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(FolderOf(worldRank), ignored);
  setenv(variable.c_str(), FolderOf(worldRank).c_str(), 1);
}

void Nodes::RemoveFolder(int worldRank) const {
  if (variable.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(FolderOf(worldRank), ignored);
}

void ParseNodeMemory(const std::string& text, Nodes& nodes) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw UsageError("--node-memory wants VARIABLE=FOLDER, not '" + text + "'");
  }
  nodes.variable = text.substr(0, equals);
  nodes.folder = text.substr(equals + 1);
}

}  // namespace loopback
