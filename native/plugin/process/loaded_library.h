// Which of the loaded libraries a function is in, and what that library says of itself.

#pragma once

#include <link.h>
#include <stdint.h>

namespace nccl_trace {

/** A library or the program itself. Valid as long as it is loaded. */
class LoadedLibrary {
 public:
  /** The one that has `address`. There may be none. */
  explicit LoadedLibrary(const void* address);

  bool Has(const void* address) const;
  /** Whether the name of its file contains `part`. The program itself has no name here. */
  bool IsNamed(const char* part) const;
  /** What its own ncclGetVersion gives, as 23007 for 2.30.7. 0: it exports none, or that fails. */
  uint32_t NcclVersion() const;

 private:
  dl_phdr_info info_ = {};
};

}  // namespace nccl_trace
