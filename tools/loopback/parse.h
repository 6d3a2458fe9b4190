// Parses sizes, times and counts. A text that it cannot parse is a UsageError that quotes it.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace loopback {

/** The command line is wrong. Ends the program with exit code 2. */
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** Of ranks, iterations and steps: what an option can name. */
constexpr int kMost = 1 << 30;

int64_t ParseInt(const std::string& text, int64_t least, int64_t most, const std::string& what);
double ParseDouble(const std::string& text, const std::string& what);
/** "4M", "512K", "1G", "12" (bytes). */
size_t ParseSize(const std::string& text);
/** "5ms", "20us", "3s": nanoseconds. */
int64_t ParseTime(const std::string& text);

/** Reads an environment variable as NCCL does. Unset or empty: `otherwise`. */
int64_t EnvNumber(const char* name, int64_t otherwise);

std::vector<std::string> Split(const std::string& text, char separator);
std::string Trim(const std::string& text);

}  // namespace loopback
