// Notices reads that do not come back: a server that hangs, a disk that is dying. The thread that reads is in the kernel and cannot be called
// back, and while it is the main thread, no signal is heard. So a thread of its own counts seconds, names the file, and in the end ends the
// program.

#ifndef NCCL_TRACE_NATIVE_ADDON_STALLS_H_
#define NCCL_TRACE_NATIVE_ADDON_STALLS_H_

#include <string>

namespace addon {

/** The calling thread begins to read. `name`: how the file is shown. */
void ReadBegins(const std::string& name);

/** The calling thread's read has come back. */
void ReadEnds();

/** From now on files are not named, in any thread: the user asked for aliases. */
void HideNames();

}  // namespace addon

#endif  // NCCL_TRACE_NATIVE_ADDON_STALLS_H_
