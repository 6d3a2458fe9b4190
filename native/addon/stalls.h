// Notices reads that do not return, because a server hangs or a disk is dying. The reading thread is in the kernel and cannot be stopped. If
// it is the main thread, signals are not handled either. So another thread counts seconds, names the file, and at last ends the program.

#pragma once

#include <string>

namespace addon {

/** The calling thread begins to read. `name`: how the file is shown. */
void ReadBegins(const std::string& name);

/** The calling thread's read has come back. */
void ReadEnds();

/** From now on no thread names a file, because the user asked for aliases (--redact). */
void HideNames();

}  // namespace addon
