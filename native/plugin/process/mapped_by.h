// Asks the kernel whether a process has a file in its memory. A start time alone does not tell a process from a later one with
// its pid: in another time namespace it is another number. For the recorder's thread and its helpers only.

#pragma once

#include <stdint.h>

namespace nccl_trace {

/** Also true if the kernel does not tell us. `fd`: the file. */
bool MayBeMappedBy(uint64_t pid, int fd);

}  // namespace nccl_trace
