// The end of a child that was forked while its parent had threads.

#pragma once

#include <cstdlib>

namespace nccl_trace_test {
inline bool is_forked = false;
}  // namespace nccl_trace_test

// LeakSanitizer asks it before its check at exit. In such a child the check would wait for ever if another thread of the
// parent held the allocator at the fork.
extern "C" int __lsan_is_turned_off();
extern "C" [[gnu::weak, gnu::visibility("default")]] int __lsan_is_turned_off() { return nccl_trace_test::is_forked; }

namespace nccl_trace_test {

/** Runs all exit hooks. */
[[noreturn]] inline void ExitForked() {
  is_forked = true;
  exit(0);
}

}  // namespace nccl_trace_test
