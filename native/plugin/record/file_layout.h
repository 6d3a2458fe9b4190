// Divides the budget of a rank file into rings and tables and gives each its place. Pure arithmetic.
//
//   half       steps rings       } divided among the proxy threads expected
//   an eighth  ops rings         }
//   9/32       host rings        1/16 for the first thread that calls, 1/32 for each of seven others
//   1/32       the overflow ring
//
// If several GPUs' threads call alike, each host ring has 1/32 and the overflow ring 1/16. The rest of the budget, and more
// for tiny ones, goes to the tables and fold entries.
//
// A process of one rank mostly calls from one thread. Recorded on a GPU: a job with tensor, data and pipeline parallelism
// filled 1/32 with calls in 2.8 s, while the largest steps ring had room for 14 s.

#pragma once

#include <stdint.h>

#include "format/rank_file.h"

namespace nccl_trace {

constexpr uint32_t kMaxProxyThreads = 8;
constexpr uint32_t kHostRings = 8;
constexpr uint32_t kMaxLayoutRings = 2 * kMaxProxyThreads + kHostRings + 1;
constexpr uint32_t kClockTables = 4;
constexpr uint32_t kClockIntervalsMs[kClockTables] = {1'000, 16'000, 256'000, 4'096'000};
constexpr uint32_t kMaxAreas = kMaxLayoutRings + 5 + kClockTables;
constexpr uint32_t kMaxCommunicators = 256;  // entries of the table
constexpr uint32_t kMaxLeases = 256;
static_assert(kMaxLayoutRings <= rank_file::kMaxRings, "handles number them");

/** The areas in the order of the directory: rings first, because ring numbers are their indices. */
struct FileLayout {
  uint32_t proxies;                                                 // proxy p has rings 2p (steps) and 2p + 1 (ops)
  uint32_t first_host;                                              // kHostRings of them
  uint32_t overflow;                                                // the last ring
  uint32_t communicators, strings, leases, heartbeat, first_clock;  // tables
  uint32_t control;
  uint32_t area_count;
  rank_file::AreaEntry areas[kMaxAreas];
  uint64_t file_bytes;  // a multiple of 4096: where chunks may begin
};

/**
 * How many progress threads to expect. A process of one rank has one per communicator that shares none (each process
 * group of PyTorch), and the first one, usually the world's, does most of the work. A process that drives all GPUs of a
 * node has one per GPU, with equal work.
 */
struct ExpectedProxies {
  uint32_t count;
  bool first_is_busiest;
};
constexpr uint32_t kProxiesOfOneRank = 4;

ExpectedProxies ExpectProxies(bool rank_known, int ranks, int nodes);

FileLayout MakeFileLayout(uint64_t budget, ExpectedProxies expected);

}  // namespace nccl_trace
