// One job in a folder of its own, for programs called as
//
//   <program> <plugin.so> <folder> <case> [how much: 1 is a sample]

#pragma once

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "test/await.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

namespace nccl_trace_test {

inline std::string folder;
inline std::string path;  // of the rank file
inline const char* library;
inline uint64_t much = 1;

inline void UseArguments(int argc, char** argv) {
  library = argv[1];
  folder = argv[2];
  path = folder + "/rank00000.bin";
  if (argc > 4) much = strtoull(argv[4], nullptr, 10);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_ALLGATHERV_ENABLE", "0", 1);  // no warning about KernelCh
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  setenv("RANK", "0", 1);
}

[[noreturn]] inline void Skip(const char* why) {
  printf("%s\nSKIPPED\n", why);
  exit(0);
}

inline void CallMany(Nccl& nccl, void* context, uint64_t calls) {
  for (uint64_t i = 0; i < calls; ++i) {
    Descriptor d = Coll(0, "AllReduce", i);
    nccl.Start(context, d);
  }
}

/** Records of a kind in all rings, and positions that are missing. */
inline uint64_t KindIn(const RankFileReader& file, uint32_t kind, uint64_t* missing = nullptr) {
  uint64_t found = 0;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    for (const Record& record : file.Records(ring)) found += record.kind == kind;
    if (missing == nullptr) continue;
    for (const Span& gap : file.Gaps(ring)) *missing += gap.end - gap.begin;
  }
  return found;
}

/** Runs `what` in a process of its own, which must exit with 0. */
inline void InChild(const std::function<void()>& what) {
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    what();
    exit(0);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
  CHECK_EQ(WEXITSTATUS(status), 0);
}

inline uint64_t EntriesOf(const std::string& tree) {
  uint64_t found = 0;
  DIR* entries = opendir(tree.c_str());
  while (const dirent* entry = entries != nullptr ? readdir(entries) : nullptr) found += entry->d_name[0] != '.';
  if (entries != nullptr) closedir(entries);
  return found;
}

}  // namespace nccl_trace_test
