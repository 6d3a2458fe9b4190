// Requests of other processes to record less, or everything again: two words in the rank file. Anybody who may write the
// file may have written them. Changes that were made are recorded in a table of their own, because rings belong to NCCL's
// threads. For the recorder's thread only.

#pragma once

#include "plugin/record/image.h"

namespace nccl_trace {

struct ControlRequest {
  uint32_t number;
  uint32_t check;
  uint64_t word;
  uint32_t events;
  uint32_t sample;  // 0: as at the start
};

/** If the rings are not in the rank file, reads the request from `fd`. False: there is no rank file. */
bool ReadControl(const Image& image, int fd, ControlRequest& request);

/** True if the request is complete and made for this file. */
bool ChecksOut(const ControlRequest& request, uint64_t tag);

/** One change that was made. */
struct ControlChange {
  uint64_t before;  // tick: until then recorded as before
  uint64_t done;    // tick: from then on recorded as requested
  uint32_t events;
  uint32_t sample_every;
};

/** `number` counts from 0. The table keeps the newest. */
void WriteControlChange(const Image& image, const rank_file::AreaEntry& table, uint64_t number,
                        const ControlChange& change);

}  // namespace nccl_trace
