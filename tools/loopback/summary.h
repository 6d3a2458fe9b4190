// The launcher's output at the end: a few lines for people, JSON for programs, and the exit code.

#pragma once

#include <string>
#include <vector>

#include "loopback/child.h"

namespace loopback {

/** Why the job ended. */
enum class Ending { kFinished, kFailed, kWrongData, kHung, kTimeout, kInterrupted };

struct Summary {
  Ending ending;
  int signal;  // kInterrupted
  int64_t elapsedNs;
};

int ExitCodeOf(const Summary& summary);
std::string SummaryJson(const Summary& summary, const Options& options, const std::vector<Child>& children);
/** One line, and one more for each rank that did not end well. */
void SaySummary(const Summary& summary, const std::vector<Child>& children);

}  // namespace loopback
