// Memory that all ranks share. The launcher makes it, without a name, before it starts them. The options decide its
// layout. Untouched pages cost nothing.

#pragma once

#include <cstddef>

namespace loopback {

struct Options;

/** Bytes for windows, for connections that are handed over (PXN), and for connecting at first use. */
size_t SharedBytes(const Options& options);

/** Returns a descriptor that survives exec. Ends the process if there is no memory. */
int MakeSharedMemory(size_t bytes);

/** Maps it into a rank, for the life of the process. */
char* MapSharedMemory(int fd, size_t bytes);

}  // namespace loopback
