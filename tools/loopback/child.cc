#include "loopback/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "loopback/fatal.h"
#include "loopback/json.h"

namespace loopback {
namespace {

/** The path of this program, which gives the process its name. If the file was replaced, /proc/self/exe. */
std::string OwnProgram() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return "/proc/self/exe";
  path[length] = 0;
  return access(path, X_OK) == 0 ? path : "/proc/self/exe";
}

/** Runs in the child before exec. The child has one thread, so all calls are allowed. */
[[noreturn]] void BecomeRank(std::vector<std::string> args, pid_t launcher, int rank, const Options& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(kExitFailed);  // the launcher died before PR_SET_PDEATHSIG was set
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int size = options.podSize == 0 ? 1 : options.podSize;
  setenv("RANK", std::to_string(rank / size).c_str(), 1);
  setenv("LOCAL_RANK", std::to_string(options.podSize == 0 ? rank : rank % size).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string((options.ranks + size - 1) / size).c_str(), 1);
  options.nodes.SetVariables(rank);
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  execv(OwnProgram().c_str(), argv.data());
  Fatal(kExitFailed, "cannot start rank %d: %s", rank, strerror(errno));
}

}  // namespace

bool Child::endedWell() const { return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0; }

std::string Child::HowItEnded() const {
  if (!status) return "alive";
  if (WIFSIGNALED(*status)) return "signal " + std::to_string(WTERMSIG(*status));
  return WEXITSTATUS(*status) == 0 ? "ok" : "exit " + std::to_string(WEXITSTATUS(*status));
}

Child StartRank(const Options& options, int rank, int argc, char** argv) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    Fatal(kExitFailed, "no socket pair: %s", strerror(errno));
  }
  std::vector<std::string> args(argv, argv + argc);
  const std::vector<std::string> own = {
      "--rank",   std::to_string(rank), "--control-fd", std::to_string(ends[1]),
      "--run-id", Hex(options.runId),   "--memory-fd",  std::to_string(options.memoryFd)};
  args.insert(args.end(), own.begin(), own.end());
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) Fatal(kExitFailed, "cannot fork: %s", strerror(errno));
  if (pid == 0) {
    fcntl(ends[1], F_SETFD, 0);  // this end must survive exec
    BecomeRank(args, launcher, rank, options);
  }
  close(ends[1]);
  return Child{rank, pid, Control(ends[0])};
}

}  // namespace loopback
