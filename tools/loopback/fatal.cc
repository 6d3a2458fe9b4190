#include "loopback/fatal.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <string>

namespace loopback {
namespace {

int g_ownRank = -1;  // set once, before there are threads

/** Writes once, so that lines of several ranks do not mix. */
void WriteLine(const char* format, va_list args) {
  char message[1024];
  vsnprintf(message, sizeof message, format, args);
  const std::string who = g_ownRank < 0 ? "" : "rank " + std::to_string(g_ownRank) + ": ";
  const std::string line = "loopback: " + who + message + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

void SetOwnRank(int rank) { g_ownRank = rank; }

void Say(const char* format, ...) {
  va_list args;
  va_start(args, format);
  WriteLine(format, args);
  va_end(args);
}

void Fatal(ExitCode code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  WriteLine(format, args);
  va_end(args);
  _exit(code);
}

}  // namespace loopback
