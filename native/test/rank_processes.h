// Ranks in processes of their own, with rings in files of their own, for programs called as
//
//   <program> <plugin.so> <folder> <case> ...

#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "test/await.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

namespace nccl_trace_test {

inline std::string folder;  // of rank files
inline std::string base;    // NCCL_TRACE_RING_DIR
inline std::string rings;   // the folder of ring files below it
inline const char* library;

/** The arguments for all ranks. The environment may choose another place for the rings. */
inline void UseArguments(char** argv) {
  library = argv[1];
  folder = argv[2];
  base = folder + ".rings";
  rings = base + "/nccl-trace-" + std::to_string(geteuid());
  CHECK_EQ(mkdir(base.c_str(), 0755), 0);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 0);
  setenv("RANK", "0", 1);
}

inline std::string RankPath(int rank) {
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", rank);
  return folder + name;
}
inline std::string SavedPath(int rank) { return RankPath(rank) + ".rings"; }

inline bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

inline std::vector<std::string> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  DIR* entries = opendir(path.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(entries);
  return names;
}

inline rank_file::FileHeader HeaderOf(int rank) { return HeaderOf(RankPath(rank)); }
inline uint64_t CopiedTick(int rank) { return HeaderOf(rank).copied_tick; }

/** Starts a rank in a process of its own, which must exit with 0 or be killed. `life` begins with an open communicator. */
inline pid_t Spawn(int rank, const std::function<void(Nccl&, void*)>& life) {
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  Nccl nccl(library);
  void* context = nccl.Init(0xC0FFEE, "test", 4, rank, 1);
  CHECK(context != nullptr);
  life(nccl, context);
  exit(0);
}

inline void Kill(pid_t child) {
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitpid(child, nullptr, 0), child);
}

inline void AwaitExit(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

}  // namespace nccl_trace_test
