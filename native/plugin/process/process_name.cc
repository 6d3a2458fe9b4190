#include "plugin/process/process_name.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "plugin/process/small_file.h"

namespace nccl_trace {
namespace {

/** Reads a number and the character after it. Not by sscanf, which would bind us to a newer C library. */
bool TakeNumber(const char*& text, int base, char end, uint64_t& number) {
  const char* const begin = text;
  number = 0;
  for (;; ++text) {
    int digit = *text - '0';
    if (base == 16 && *text >= 'a' && *text <= 'f') digit = *text - 'a' + 10;
    if (digit < 0 || digit >= base) break;
    if (__builtin_mul_overflow(number, static_cast<uint64_t>(base), &number) ||
        __builtin_add_overflow(number, static_cast<uint64_t>(digit), &number)) {
      return false;
    }
  }
  return text != begin && *text == end && (end == '\0' || *++text != '\0');
}

}  // namespace

void FormatProcessName(const ProcessName& process, const char* suffix, char (&text)[kProcessNameBytes]) {
  snprintf(text, sizeof(text), "%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%016" PRIx64 "%s", process.pid_namespace,
           process.pid, process.start, process.tag, suffix);
}

bool ParseProcessName(const char* text, const char* suffix, ProcessName& process) {
  const char* at = text;
  const bool parsed = TakeNumber(at, 10, '-', process.pid_namespace) && TakeNumber(at, 10, '-', process.pid) &&
                      TakeNumber(at, 10, '-', process.start) && TakeNumber(at, 16, suffix[0], process.tag);
  if (!parsed) return false;
  char again[kProcessNameBytes];
  FormatProcessName(process, suffix, again);
  return strcmp(text, again) == 0;
}

bool ReadProcessStat(const char* process, ProcessStat& stat) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%.32s/stat", process);
  char text[1024];
  if (!ReadSmallFile(path, text, sizeof(text))) return false;
  // The second field, the program's name in parentheses, may contain any character. Read from its end.
  const char* at = strrchr(text, ')');
  if (at == nullptr || at[1] != ' ' || at[2] == '\0') return false;
  stat.state = at[2];
  const auto number = [&](int wanted) {
    const char* field = at + 2;
    for (int i = 3; field != nullptr && i < wanted; ++i) {
      field = strchr(field, ' ');
      if (field != nullptr) ++field;
    }
    uint64_t value = 0;
    for (; field != nullptr && *field >= '0' && *field <= '9'; ++field) {
      value = value * 10 + static_cast<uint64_t>(*field - '0');
    }
    return value;
  };
  stat.threads = number(20);
  stat.start = number(22);
  return true;
}

Sign LookFor(const ProcessName& process, uint64_t own_pid_namespace) {
  if (process.pid_namespace != own_pid_namespace) return Sign::kUnknown;
  if (process.pid_namespace == 0 || process.start == 0) return Sign::kUnknown;  // the process did not know them itself
  const auto is_there = [&] { return kill(static_cast<pid_t>(process.pid), 0) == 0 || errno != ESRCH; };
  if (process.pid == 0 || process.pid > INT32_MAX || !is_there()) return Sign::kGone;
  char pid[24];
  snprintf(pid, sizeof(pid), "%" PRIu64, process.pid);
  ProcessStat stat;
  if (!ReadProcessStat(pid, stat)) return is_there() ? Sign::kAlive : Sign::kGone;
  if ((stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1) return Sign::kGone;
  return stat.start == process.start ? Sign::kAlive : Sign::kOtherStart;
}

}  // namespace nccl_trace
