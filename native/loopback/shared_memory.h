// Memory that all rank processes see: made by the launcher, without a name, before it starts them. What lies where
// follows from the options. Pages that nobody touches cost nothing.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_SHARED_MEMORY_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_SHARED_MEMORY_H_

#include <cstddef>

namespace loopback {

struct Options;

/** What a job needs: windows, connections that are handed over, who has come to connect. */
size_t SharedBytes(const Options& options);

/** A file descriptor that survives exec. Ends the process if there is no such memory. */
int MakeSharedMemory(size_t bytes);

/** A rank's view of it, for as long as the process lives. */
char* MapSharedMemory(int fd, size_t bytes);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_SHARED_MEMORY_H_
