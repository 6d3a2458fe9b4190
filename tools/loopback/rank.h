// Runs one rank: communicators, plugin, threads, workload, and the orderly end.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_RANK_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_RANK_H_

#include "loopback/options.h"

namespace loopback {

/** Returns the exit code. */
int RunRank(const Options& options);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_RANK_H_
