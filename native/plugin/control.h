// Requests of other processes to record less, or all of it again: two words in the rank file, which are no more
// trustworthy than whoever may write there. For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_CONTROL_H_
#define NCCL_TRACE_NATIVE_PLUGIN_CONTROL_H_

#include "plugin/image.h"

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

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_CONTROL_H_
