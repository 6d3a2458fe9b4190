// Slowness on request: --slow WHAT:RANK:AMOUNT[WHEN], which may be repeated.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loopback {

enum class Slow {
  kHost,     // the rank calls late, by a time
  kGpu,      // each kernel begins late in its stream, by a time: something else runs before it
  kSlice,    // each slice takes its GPU longer, by a time
  kProxy,    // its proxy thread does not run for a time after each round in which it did something
  kNic,      // limits all that the rank sends and receives, bytes/s
  kLink,     // limits what it sends to the next rank of the world, bytes/s
  kChannel,  // the same, on channel 0 alone
};

struct Slowdown {
  Slow what;
  int rank;
  int64_t amount;  // ns, or bytes/s
  int every = 1;   // only each N-th iteration
  int from = 0;    // from this iteration on
  int to = INT32_MAX;

  bool In(int iteration) const {
    return iteration >= from && iteration <= to && (iteration - from) % every == every - 1;
  }
};

/** "host:3:20ms", "gpu:1:5ms/10" (each tenth), "host:2:20ms@40" (since), "host:2:20ms@4-4" (from, to), "nic:0:50", "link:2:50" (MB/s). Throws UsageError. */
Slowdown ParseSlowdown(const std::string& text);

/** The delay in ns. 0: none. */
int64_t DelayOf(const std::vector<Slowdown>& all, Slow what, int rank, int iteration);
/** bytes/s; 0: no limit. */
int64_t RateOf(const std::vector<Slowdown>& all, Slow what, int rank);

}  // namespace loopback
