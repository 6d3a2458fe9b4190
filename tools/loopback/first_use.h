// Connections at first use, as NCCL makes them by default: a call that needs connections blocks until every rank with
// an end of one has made its own call. If a rank never calls, the others stay inside their calls.
//
// The connections themselves are made at the start. Only the waiting is simulated here.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "loopback/options.h"
#include "loopback/task.h"

namespace loopback {

class FirstUse {
 public:
  /** `memory` is shared by all ranks, and zero at the start. */
  FirstUse(const Options& options, char* memory);

  /** Returns when all ranks that these tasks connect to have called theirs. Calls `meanwhile` while it waits. */
  void Connect(const std::vector<Task*>& tasks, const std::function<void()>& meanwhile);

  static size_t Bytes(const Options& options);

 private:
  static constexpr size_t kPlaces = 1 << 16;
  using Place = std::atomic<uint64_t>;

  void ComeAs(uint64_t key);
  bool HasCome(uint64_t key) const;

  const bool on_;
  Place* const places_;
  std::set<uint64_t> connected_;
};

}  // namespace loopback
