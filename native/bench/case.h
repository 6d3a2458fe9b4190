// One measured case: fifty calls at a time, prepared outside the measured time.

#pragma once

#include <functional>
#include <vector>

namespace nccl_trace_bench {

constexpr int kHandles = 50;

struct Case {
  const char* name;
  int version;  // of the profiler interface; 0: a reference
  std::function<void()> prepare, run, clean;
  /** Off: `run` calls functions that do nothing. What is left is the loop, which is subtracted. */
  std::function<void(bool on)> record;

  std::vector<double> ns = {}, loop_ns = {};  // per call, of each batch
  double instructions = 0, branch_misses = 0;
};

}  // namespace nccl_trace_bench
