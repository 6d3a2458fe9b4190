#include "addon/stalls.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace addon {
namespace {

/** As ExitCode.noUsableInput in src/cli/exit.ts. */
constexpr int kNoUsableInput = 3;
/** After a sixth of this time the file is named. */
constexpr int kPatienceS = 60;

struct Read {
  std::string name;
  /** Counted by the watch, not read from a clock, so the time while the program is stopped does not count. */
  int seconds = 0;
  bool is_open = false;
};

/** Never destroyed: the watch runs until the process is gone. */
struct Watch {
  std::mutex lock;
  std::vector<Read*> reads;
  bool is_started = false;
  bool hides_names = false;
};
Watch& watch = *new Watch;

void Say(const Read& read, const std::string& what) {
  const std::string text = "nccl-trace: " + (watch.hides_names ? "another path" : read.name) + ": " + what + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads stderr, so only the exit code says it
}

void Look(Read& read, int patience) {
  const int named = std::max(1, patience / 6);
  if (!read.is_open || ++read.seconds < named) return;
  const auto since = [&] { return "a read has not come back for " + std::to_string(read.seconds) + " s; "; };
  if (read.seconds >= patience) {
    Say(read, since() + "ended: leave the file out, or copy it from a healthy disk");
    // The kernel may keep the process until the file's server answers or is gone. It does so for FUSE.
    _exit(kNoUsableInput);
  }
  if (read.seconds != named) return;
  Say(read, since() + "waiting up to " + std::to_string(patience) + " s");
  // Ctrl-C: Node's own handlers run on a thread that may be the one that waits.
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

void Run() {
  const char* asked = getenv("NCCL_TRACE_READ_PATIENCE_S");
  const int patience = asked != nullptr && atoi(asked) > 0 ? atoi(asked) : kPatienceS;
  for (;;) {
    sleep(1);
    const std::lock_guard<std::mutex> guard(watch.lock);
    for (Read* read : watch.reads) Look(*read, patience);
  }
}

/** The read of one thread. */
class OwnRead {
 public:
  OwnRead() {
    const std::lock_guard<std::mutex> guard(watch.lock);
    watch.reads.push_back(&read_);
    if (!watch.is_started) std::thread(Run).detach();
    watch.is_started = true;
  }

  ~OwnRead() {
    const std::lock_guard<std::mutex> guard(watch.lock);
    watch.reads.erase(std::find(watch.reads.begin(), watch.reads.end(), &read_));
  }

  void Begin(const std::string& name) {
    const std::lock_guard<std::mutex> guard(watch.lock);
    read_.name = name;
    read_.seconds = 0;
    read_.is_open = true;
  }

  void End() {
    const std::lock_guard<std::mutex> guard(watch.lock);
    read_.is_open = false;
  }

 private:
  Read read_;
};

OwnRead& Own() {
  thread_local OwnRead own;
  return own;
}

}  // namespace

void ReadBegins(const std::string& name) { Own().Begin(name); }

void ReadEnds() { Own().End(); }

void HideNames() {
  const std::lock_guard<std::mutex> guard(watch.lock);
  watch.hides_names = true;
}

}  // namespace addon
