// A rank's process, for the launcher.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "loopback/control.h"
#include "loopback/options.h"

namespace loopback {

struct Child {
  int rank;
  pid_t pid;
  Control control;
  bool connected = true;  // its end of the control socket is open
  bool atBarrier = false;
  bool dumped = false;
  bool leftBehind = false;  // it died, and the others went on
  std::optional<uint16_t> port = std::nullopt;
  RankResult result{};
  std::optional<int> status = std::nullopt;  // from waitpid. Nothing: it is alive

  bool alive() const { return !status.has_value(); }
  bool endedWell() const;
  /** "ok", "exit 3", "signal 9". */
  std::string HowItEnded() const;
};

/** Forks and executes this program again with RANK, WORLD_SIZE and LOCAL_RANK set. It dies when the launcher does. */
Child StartRank(const Options& options, int rank, int argc, char** argv);

}  // namespace loopback
