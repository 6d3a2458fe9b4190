// Reads the user's settings from the environment at the first init. A bad value gives one warning and the default.

#pragma once

#include <limits.h>
#include <stdint.h>

#include "format/rank_file.h"

namespace nccl_trace {

/** Keeps warnings in fixed memory, because settings are read before there is a logger. */
class Complaints {
 public:
  static constexpr int kMost = 16;
  /** Like printf. More than kMost are dropped. */
  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...);
  int count() const { return count_; }
  const char* operator[](int i) const { return texts_[i]; }

 private:
  int count_ = 0;
  char texts_[kMost][384];
};

/** The rank as the environment gives it. -1: unknown. */
struct RankFacts {
  int32_t rank;
  int32_t world_size;
  int32_t local_rank;
  int32_t local_size;  // ranks on this node
};

/** NCCL_TRACE_RING_DIR: unset, "none", or a folder. */
enum class RingPlace { kChoose, kInRankFile, kGiven };
// Limited, because the path of a ring file must fit into the rank file's header.
constexpr uint32_t kRingDirectoryBytes = 128;

/** NCCL_TRACE_KEEP and NCCL_TRACE_PRUNE_EVEN: which old runs of the directory are removed at the start. */
struct Retention {
  uint64_t runs;       // keep so many of the newest, or
  uint64_t bytes;      // as many as take no more than this on the disk. Both 0: keep all
  bool even_young;     // also remove runs that were written less than a day ago
  bool even_unclosed;  // and runs of which a file was not closed in order
  char keep[32];       // as given, for people
  char even[32];
};

struct Settings {
  char directory[PATH_MAX];  // NCCL_TRACE_DIR
  char run_id[128];          // can be a file name. Empty: unknown
  char nccl_hostid[64];
  RingPlace ring_place;
  char ring_directory[kRingDirectoryBytes];  // for kGiven, an absolute path
  rank_file::Mode mode;                      // NCCL_TRACE_MODE
  uint64_t ring_bytes;                       // NCCL_TRACE_RING_MB
  uint64_t max_bytes;                        // NCCL_TRACE_MAX_MB: of the file on disk, in stream mode. 0: no limit
  uint64_t event_mask;                       // NCCL_TRACE_EVENTS or NCCL_PROFILE_EVENT_MASK, else the mode's default
  uint64_t sample_every;                     // NCCL_TRACE_SAMPLE
  Retention retention;
  RankFacts rank;
  const char* chain;  // of NCCL_TRACE_CHAIN, what was loaded. null: nothing was asked for
};

/** `abi` is the version of the profiler interface that NCCL speaks. Some releases cannot stand every event. */
void ReadSettings(Settings& settings, uint8_t abi, Complaints& complaints);

/** Settings in force, as NAME=value separated by spaces. */
void DescribeSettings(const Settings& settings, char* text, uint64_t size);

}  // namespace nccl_trace
