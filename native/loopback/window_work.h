// What a symmetric-memory kernel or the copy engines do: wait until all buffers may be used, handle the own block, in
// everybody's memory, wait until all have done so. Each of so many blocks handles its share.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_WINDOW_WORK_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_WINDOW_WORK_H_

#include "loopback/scheduler.h"

namespace loopback {

/** A kernel without connections; also plays the copy engines, with one block. */
std::unique_ptr<Kernel> MakeWindowKernel(Task& task, int nBlocks);

/** The same with operations for the one who watches kernels. */
Schedule MakeSymmetricSchedule(Task& task, int nBlocks);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_WINDOW_WORK_H_
