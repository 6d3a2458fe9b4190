// What ends a rank process at once, from any thread: a bug in the loopback or data that is not what it should be.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_FATAL_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_FATAL_H_

namespace loopback {

enum ExitCode {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitWrongData = 3,
  kExitHung = 4,
  kExitOnPurpose = 9,
};

/** For messages: which rank speaks. The launcher has none. */
void SetOwnRank(int rank);

/** One line on stderr, "loopback: rank 3: ...". */
void Say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/** Says it and ends the process without any cleanup. */
[[noreturn]] void Fatal(ExitCode code, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_FATAL_H_
