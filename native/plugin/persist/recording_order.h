// The settings and the layout for the recorder's thread. Init makes it, and it is kept for the life of the process.

#pragma once

#include "plugin/process/settings.h"
#include "plugin/record/file_layout.h"

namespace nccl_trace {

struct RecordingOrder {
  Settings settings;
  FileLayout layout;
  uint64_t tag;
  uint64_t event_mask;
  uint32_t nccl_version;  // 0: unknown
  uint32_t local_ranks;
  /** Applies a control request. False: not now. */
  bool (*apply)(uint64_t events, uint64_t sample_every);
  /** True once each time others than the recorder changed NCCL's event mask: then `events` is what it asks for now. */
  bool (*find_foreign_events)(uint64_t& events);

  bool streams() const { return settings.mode == rank_file::kStream; }
};

}  // namespace nccl_trace
