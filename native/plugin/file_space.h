// What must hold of a file before stores go straight into it: its file system must not turn a store into a network
// round trip or a SIGBUS, and all its blocks must be there. For the recorder's thread only.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_FILE_SPACE_H_
#define NCCL_TRACE_NATIVE_PLUGIN_FILE_SPACE_H_

#include <stdint.h>

namespace nccl_trace {

/** Whether the file system of `fd` is one that we trust with stores. */
bool MayBeMapped(int fd);

/**
 * Makes room for `bytes` zeros from the beginning on, for a file that is written to and never mapped: a store to such room
 * may still need more. False: errno says why; some of it may be there.
 */
bool Reserve(int fd, uint64_t bytes);

/** Writes `bytes` zeros from the beginning on. False: errno says why; some of it may be there. */
bool WriteZeros(int fd, uint64_t bytes);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_FILE_SPACE_H_
