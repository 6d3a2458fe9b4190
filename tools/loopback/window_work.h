// The work of a symmetric-memory kernel or of the copy engines: wait until all buffers may be used, handle the own block
// in all ranks' memory, wait until all ranks have done so. Each block of the kernel handles its share.

#pragma once

#include "loopback/scheduler.h"

namespace loopback {

/** A kernel without connections. With one block it also simulates the copy engines. */
std::unique_ptr<Kernel> MakeWindowKernel(Task& task, int nBlocks);

/** The same, with operations for the watcher of kernels. */
Schedule MakeSymmetricSchedule(Task& task, int nBlocks);

}  // namespace loopback
