// Checks that stay on in release builds, and the last line that the driver looks for.

#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition) ((condition) ? void() : nccl_trace_test::Fail(__FILE__, __LINE__, #condition))
#define CHECK_EQ(left, right)                                                                       \
  nccl_trace_test::CheckEqual(__FILE__, __LINE__, #left " == " #right, static_cast<uint64_t>(left), \
                              static_cast<uint64_t>(right))

namespace nccl_trace_test {

[[noreturn]] inline void Fail(const char* file, int line, const char* what) {
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  exit(1);
}

inline void CheckEqual(const char* file, int line, const char* what, uint64_t left, uint64_t right) {
  if (left == right) return;
  fprintf(stderr, "%s:%d: %s: %" PRIu64 " (0x%" PRIx64 "), want %" PRIu64 " (0x%" PRIx64 ")\n", file, line, what, left,
          left, right, right);
  exit(1);
}

/** Prints the test's last line. */
inline int Passed() {
  puts("PASSED");
  return 0;
}

}  // namespace nccl_trace_test
