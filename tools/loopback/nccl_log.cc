#include "loopback/nccl_log.h"

#include <strings.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "loopback/parse.h"

namespace loopback {
namespace {

struct Subsystem {
  const char* name;
  unsigned long bits;
};

constexpr Subsystem kSubsystems[] = {
    {"INIT", 0x1},         {"COLL", 0x2},   {"P2P", 0x4},        {"SHM", 0x8},    {"NET", 0x10},    {"GRAPH", 0x20},
    {"TUNING", 0x40},      {"ENV", 0x80},   {"ALLOC", 0x100},    {"CALL", 0x200}, {"PROXY", 0x400}, {"NVLS", 0x800},
    {"BOOTSTRAP", 0x1000}, {"REG", 0x2000}, {"PROFILE", 0x4000}, {"RAS", 0x8000}, {"ALL", ~0ul},
};
constexpr unsigned long kDefaultSubsystems = 0x1 | 0x1000 | 0x80;  // INIT, BOOTSTRAP, ENV

unsigned long BitsOf(const std::string& name) {
  for (const Subsystem& subsystem : kSubsystems) {
    if (strcasecmp(name.c_str(), subsystem.name) == 0) return subsystem.bits;
  }
  return 0;
}

/** "INIT,PROFILE" adds to nothing; "^NET" takes away from everything. */
unsigned long ParseSubsystems() {
  const char* text = getenv("NCCL_DEBUG_SUBSYS");
  if (text == nullptr) return kDefaultSubsystems;
  if (*text == '^') {
    unsigned long mask = ~0ul;
    for (const std::string& name : Split(text + 1, ',')) mask &= ~BitsOf(name);
    return mask;
  }
  unsigned long mask = 0;
  for (const std::string& name : Split(text, ',')) mask |= BitsOf(name);
  return mask;
}

int32_t ParseLevel() {
  const char* text = getenv("NCCL_DEBUG");
  if (text == nullptr) return nccl_abi::kLogWarn;
  if (strcasecmp(text, "INFO") == 0) return nccl_abi::kLogInfo;
  if (strcasecmp(text, "TRACE") == 0) return nccl_abi::kLogTrace;
  return nccl_abi::kLogWarn;
}

/** "host:pid:tid [device] NCCL INFO ", and the place in the source for a warning. */
void WritePrefix(char* prefix, size_t size, int32_t level, const char* file, int line) {
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  if (level == nccl_abi::kLogWarn) {
    snprintf(prefix, size, "%s:%d:%d [0] %s:%d NCCL WARN ", host, getpid(), gettid(), file, line);
  } else {
    snprintf(prefix, size, "%s:%d:%d [0] NCCL INFO ", host, getpid(), gettid());
  }
}

}  // namespace

void NcclLog(int32_t level, unsigned long subsys, const char* file, int line, const char* format, ...) {
  static const int32_t maxLevel = ParseLevel();
  static const unsigned long mask = ParseSubsystems();
  if (level > maxLevel || (level > nccl_abi::kLogWarn && (subsys & mask) == 0)) return;

  char prefix[512];
  WritePrefix(prefix, sizeof prefix, level, file, line);
  char message[1536];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const std::string text = std::string(prefix) + message + "\n";
  // One write, so that lines of several ranks do not mix.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace loopback
