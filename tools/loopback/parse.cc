#include "loopback/parse.h"

#include <cerrno>
#include <cstdlib>

#include "loopback/clock.h"

namespace loopback {
namespace {

/** The number at the beginning; `unit` is what follows it. */
double LeadingNumber(const std::string& text, std::string& unit, const char* what) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0)) throw UsageError("'" + text + "' is not a " + what);
  unit = end;
  return value;
}

}  // namespace

int64_t ParseInt(const std::string& text, int64_t least, int64_t most, const std::string& what) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = strtoll(text.c_str(), &end, 0);
  if (end == text.c_str() || *end != 0 || errno != 0 || value < least || value > most) {
    throw UsageError(what + " wants a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                     ", not '" + text + "'");
  }
  return value;
}

double ParseDouble(const std::string& text, const std::string& what) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != 0) throw UsageError(what + " wants a number, not '" + text + "'");
  return value;
}

size_t ParseSize(const std::string& text) {
  std::string unit;
  const double value = LeadingNumber(text, unit, "size (try 4M, 512K, 64)");
  if (unit.empty()) return value;
  if (unit == "K") return value * (1 << 10);
  if (unit == "M") return value * (1 << 20);
  if (unit == "G") return value * (1 << 30);
  throw UsageError("'" + text + "' is not a size: units are K, M, G");
}

int64_t ParseTime(const std::string& text) {
  std::string unit;
  const double value = LeadingNumber(text, unit, "time (try 5ms, 20us, 1s)");
  if (unit == "us") return value * kMicrosecond;
  if (unit == "ms") return value * kMillisecond;
  if (unit == "s") return value * kSecond;
  throw UsageError("'" + text + "' is not a time: units are us, ms, s");
}

int64_t EnvNumber(const char* name, int64_t otherwise) {
  const char* const text = getenv(name);
  return text == nullptr || *text == 0 ? otherwise : strtoll(text, nullptr, 0);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.push_back(Trim(text.substr(begin, end == std::string::npos ? end : end - begin)));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

}  // namespace loopback
