// NCCL's debug log: the function that a plugin gets in init. Warnings are always printed. Other lines follow NCCL_DEBUG
// and NCCL_DEBUG_SUBSYS as in NCCL, so a plugin's INFO line appears here if it would appear there. Writes to stderr,
// because stdout belongs to --json.

#pragma once

#include "nccl/profiler_abi.h"

namespace loopback {

void NcclLog(int32_t level, unsigned long subsys, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

/** An INFO line of NCCL's own, of its subsystem INIT. */
template <typename... Args>
void LogInit(const char* format, Args... args) {
  NcclLog(nccl_abi::kLogInfo, nccl_abi::kLogSubsysInit, "loopback", 0, format, args...);
}

}  // namespace loopback
