// Starts one process per rank, brings them together, and sees to it that all of them end: by themselves, or because
// the job hangs, or because the time is over. It ends only processes it has started.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_LAUNCHER_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_LAUNCHER_H_

#include "loopback/options.h"

namespace loopback {

/** `argv` is passed on to the ranks. Returns the exit code. */
int RunLauncher(const Options& options, int argc, char** argv);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_LAUNCHER_H_
