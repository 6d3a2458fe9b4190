// Runs one rank: communicators, plugin, threads, workload, and the orderly end.

#pragma once

#include "loopback/options.h"

namespace loopback {

/** Returns the exit code. */
int RunRank(const Options& options);

}  // namespace loopback
