// Ends a rank's process at once, from any thread, after a bug in the loopback or wrong data.

#pragma once

namespace loopback {

enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitWrongData = 3,
  kExitHung = 4,
  kExitOnPurpose = 9,
};

/** The rank that messages name. The launcher has none. */
void SetOwnRank(int rank);

/** Writes one line to stderr: "loopback: rank 3: ...". */
void Say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/** Writes the line and ends the process without cleanup. */
[[noreturn]] void Fatal(ExitCode code, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace loopback
