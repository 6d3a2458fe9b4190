// A process that records until its standard input ends, so that the test decides when.
//
//   hold <plugin.so>
//
// Prints "ready" after init. On a line "fork" it forks, and prints how many sockets the child has open.

#include <dirent.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "test/nccl.h"

using namespace nccl_trace_test;

namespace {

int OpenSockets() {
  int sockets = 0;
  DIR* folder = opendir("/proc/self/fd");
  CHECK(folder != nullptr);
  while (const dirent* entry = readdir(folder)) {
    char target[PATH_MAX] = "";
    if (readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1) < 0) continue;
    if (strncmp(target, "socket:", 7) == 0) ++sockets;
  }
  closedir(folder);
  return sockets;
}

int InChild(int (*work)()) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

}  // namespace

int main(int, char** argv) {
  // Sockets of the test itself are inherited as standard streams.
  const int before = InChild(OpenSockets);
  Nccl nccl(argv[1], "ncclProfiler_v6");
  void* context = nccl.Init();
  for (const std::string& line : Lines().warnings) printf("warn %s\n", line.c_str());
  printf("ready\n");
  fflush(stdout);
  char line[64];
  while (fgets(line, sizeof(line), stdin) != nullptr) {
    if (strcmp(line, "fork\n") != 0) continue;
    printf("child %d parent %d\n", InChild(OpenSockets) - before, OpenSockets() - before);
    fflush(stdout);
  }
  nccl.Finalize(context);
  return 0;
}
