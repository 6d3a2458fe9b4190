// Requests of other processes to record less, or all of it again: two words in the rank file, which are no more
// trustworthy than whoever may write there. What was done stands in a table of its own: rings belong to NCCL's threads.
// For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_THREAD_CONTROL_H_
#define NCCL_TRACE_NATIVE_PLUGIN_THREAD_CONTROL_H_

#include "plugin/record/image.h"

namespace nccl_trace {

struct ControlRequest {
  uint32_t number;
  uint32_t check;
  uint64_t word;
  uint32_t events;
  uint32_t sample;  // 0: as at the start
};

/** Where the rings are not in the rank file it is read from `fd`. False: there is no rank file. */
bool ReadControl(const Image& image, int fd, ControlRequest& request);

/** Whether somebody who knows this file made it, and completely. */
bool ChecksOut(const ControlRequest& request, uint64_t tag);

/** One change that was done. */
struct ControlChange {
  uint64_t before;  // tick: what was recorded until then was recorded as before
  uint64_t done;    // tick: from here on as asked
  uint32_t events;
  uint32_t sample_every;
};

/** Its `number`th, from 0; the newest are kept. */
void WriteControlChange(const Image& image, const rank_file::AreaEntry& table, uint64_t number,
                        const ControlChange& change);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_THREAD_CONTROL_H_
