// Starts one process per rank, connects them, and makes sure that all of them end: by themselves, because the job hangs,
// or because the time is over. It ends only processes that it has started.

#pragma once

#include "loopback/options.h"

namespace loopback {

/** `argv` is passed on to the ranks. Returns the exit code. */
int RunLauncher(const Options& options, int argc, char** argv);

}  // namespace loopback
