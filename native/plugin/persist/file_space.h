// Checks before stores go into a mapped file: its file system must not turn a store into a network round trip or a
// SIGBUS, and all its blocks must exist. For the recorder's thread only.

#pragma once

#include <stdint.h>

namespace nccl_trace {

/** Whether stores into a mapping of `fd` are safe on its file system. */
bool MayBeMapped(int fd);

/**
 * Makes room for `bytes` zeros from the beginning on, in a file that is written and never mapped (a store into such room
 * may need more of it). False: errno says why, and part of the room may be there.
 */
bool Reserve(int fd, uint64_t bytes);

/** Writes `bytes` zeros from `from` on. False: errno says why, and part of them may be there. */
bool WriteZeros(int fd, uint64_t from, uint64_t bytes);

}  // namespace nccl_trace
