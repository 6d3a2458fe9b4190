#include "loopback/launcher.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "loopback/endgame.h"
#include "loopback/fatal.h"
#include "loopback/shared_memory.h"
#include "loopback/summary.h"

namespace loopback {
namespace {

int WatchSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

class Launcher {
 public:
  explicit Launcher(const Options& options)
      : options_(options),
        begin_(MonotonicNs()),
        signals_(WatchSignals()),
        endgame_(options, children_, [this] { return Recover(); }) {}

  int Run(int argc, char** argv) {
    for (int r = 0; r < options_.ranks; r++) children_.push_back(StartRank(options_, r, argc, argv));
    while (SomebodyIsThere()) {
      Wait();
      HandleSignals();
      for (Child& child : children_) HandleMessages(child);
      endgame_.HandleTimers();
    }
    const Summary summary{HowItEnded(), interruptedBy_, MonotonicNs() - begin_};
    if (!options_.quiet) SaySummary(summary, children_);
    if (options_.json) printf("%s\n", SummaryJson(summary, options_, children_).c_str());
    return ExitCodeOf(summary);
  }

 private:
  /** Also true while a dead rank's last messages are unread. */
  bool SomebodyIsThere() const {
    return std::any_of(children_.begin(), children_.end(), [](const Child& c) { return c.alive() || c.connected; });
  }

  template <typename Predicate>
  bool All(Predicate predicate) const {
    return std::all_of(children_.begin(), children_.end(), predicate);
  }

  void Wait() {
    std::vector<pollfd> entries{{signals_, POLLIN, 0}};
    for (const Child& child : children_) {
      if (child.connected) entries.push_back({child.control.fd(), POLLIN, 0});
    }
    const int64_t left = endgame_.NextStepIn();
    const timespec limit = ToTimespec(left);
    ppoll(entries.data(), entries.size(), left < 0 ? nullptr : &limit, nullptr);
  }

  void HandleSignals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGCHLD) continue;
      interruptedBy_ = info.ssi_signo;
      endgame_.Interrupt(interruptedBy_);
    }
    for (Child& child : children_) Reap(child);
  }

  void Reap(Child& child) {
    int status;
    if (!child.alive() || waitpid(child.pid, &status, WNOHANG) != child.pid) return;
    child.status = status;
    if (child.endedWell()) return;
    asked_ |= IsAsked(child);
    endgame_.BeginHang();  // the others will wait for it in vain
  }

  bool IsAsked(const Child& child) const {
    return std::any_of(options_.faults.begin(), options_.faults.end(),
                       [&](const Fault& fault) { return fault.OfProcess() && fault.Concerns(child.rank); });
  }

  /** Tells the others to go on without the one that died. */
  bool Recover() {
    const auto dead = std::find_if(children_.begin(), children_.end(), [](const Child& c) { return !c.alive(); });
    if (dead == children_.end()) return false;
    Message message{};
    message.type = MessageType::kRecover;
    message.rank = dead->rank;
    dead->leftBehind = true;
    asked_ = false;
    for (Child& child : children_) {
      child.port.reset();
      child.atBarrier = false;
      if (child.alive()) child.control.Send(message);
    }
    return true;
  }

  /** Ends all processes of the rank's node at once. */
  void EndNodeOf(int rank) {
    asked_ = true;
    for (const Child& child : children_) {
      if (child.alive() && options_.nodes.Same(rank, child.rank)) kill(child.pid, SIGKILL);
    }
    options_.nodes.RemoveFolder(rank);
    endgame_.BeginHang();
  }

  void HandleMessages(Child& child) {
    while (child.connected) {
      bool closed = false;
      const std::optional<Message> message = child.control.Receive(0, &closed);
      if (message) Handle(child, *message);
      if (closed) {
        child.connected = false;
        close(child.control.fd());
      }
      if (!message) return;
    }
  }

  void Handle(Child& child, const Message& message) {
    switch (message.type) {
      case MessageType::kHello:
        child.port = message.port;
        if (All([](const Child& c) { return c.port.has_value() || c.leftBehind; })) TellPorts();
        return;
      case MessageType::kBarrier:
        child.atBarrier = true;
        if (All([](const Child& c) { return c.atBarrier || c.leftBehind; })) OpenBarrier();
        return;
      case MessageType::kStuck:
        asked_ = true;
        endgame_.BeginHang();
        return;
      case MessageType::kResult:
        child.result = message.result;
        return;
      case MessageType::kNodeDown:
        return EndNodeOf(child.rank);
      case MessageType::kDumped:
        child.dumped = true;
        return;
      default:
        Say("rank %d sent a message that only the launcher sends", child.rank);
    }
  }

  void TellPorts() {
    std::vector<uint16_t> ports;
    for (const Child& child : children_) ports.push_back(child.port.value_or(0));
    for (const Child& child : children_) {
      if (child.alive()) child.control.SendPeers(ports);
    }
  }

  void OpenBarrier() {
    for (Child& child : children_) {
      child.atBarrier = false;
      if (child.alive()) child.control.Send(MessageType::kGo);
    }
  }

  Ending HowItEnded() const {
    if (interruptedBy_ != 0) return Ending::kInterrupted;
    for (const Child& child : children_) {
      if (child.HowItEnded() == "exit " + std::to_string(kExitWrongData)) return Ending::kWrongData;
    }
    if (endgame_.timedOut()) return Ending::kTimeout;
    if (asked_) return Ending::kHung;
    return All([](const Child& c) { return c.endedWell() || c.leftBehind; }) ? Ending::kFinished : Ending::kFailed;
  }

  const Options& options_;
  const int64_t begin_;
  const int signals_;
  std::vector<Child> children_;
  Endgame endgame_;

  bool asked_ = false;  // true if --fault asked for the hang
  int interruptedBy_ = 0;
};

/** Every rank gets it: communicator ids, data and clock offsets depend on it. */
uint64_t ChooseRunId(uint64_t seed) {
  if (seed != 0) return Mix(seed, 0);
  uint64_t id;
  if (getrandom(&id, sizeof id, 0) != sizeof id) Fatal(kExitFailed, "no random numbers: %s", strerror(errno));
  return id;
}

}  // namespace

int RunLauncher(const Options& options, int argc, char** argv) {
  Options own = options;
  own.runId = ChooseRunId(options.seed);
  own.memoryFd = MakeSharedMemory(SharedBytes(options));
  return Launcher(own).Run(argc, argv);
}

}  // namespace loopback
