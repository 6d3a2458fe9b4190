// The name of a ring file identifies its process. Checks whether that process still exists. For the recorder's thread
// only.

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace nccl_trace {

/**
 * Pids are reused, so the start time (clock ticks since boot) is part of the name. A pid of another pid namespace cannot be
 * checked.
 */
struct ProcessName {
  uint64_t pid_namespace;
  uint64_t pid;
  uint64_t start;
  uint64_t tag;  // in the handles that it gave NCCL
};

constexpr size_t kProcessNameBytes = 96;

/** "4026531836-1234-567890-8101000000000000" and `suffix`. */
void FormatProcessName(const ProcessName& process, const char* suffix, char (&text)[kProcessNameBytes]);

/** False unless `text` is exactly what FormatProcessName writes. */
bool ParseProcessName(const char* text, const char* suffix, ProcessName& process);

enum class Sign { kAlive, kGone, kOtherStart, kUnknown };

/**
 * kGone is certain: no thread of the process is left, so its memory does not change. A zombie is gone. A process whose
 * first thread has ended while others run is not gone. kOtherStart: a process has its pid and another start. It is a later
 * one, or the same one in another time namespace: its files tell (mapped_by.h). kUnknown: the process is of another pid namespace, or did not know
 * its own namespace or start.
 */
Sign LookFor(const ProcessName& process, uint64_t own_pid_namespace);

/** Fields of /proc/<pid>/stat. */
struct ProcessStat {
  char state;
  uint64_t threads;
  uint64_t start;
};

/** `process`: a pid or "self". False: there is no such process, or it cannot be read. */
bool ReadProcessStat(const char* process, ProcessStat& stat);

}  // namespace nccl_trace
