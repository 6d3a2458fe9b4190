// One of the other plugins: its library, its table, its mask.

#pragma once

#include <stdint.h>

#include <atomic>

#include "nccl/profiler_common.h"
#include "plugin/record/communicators.h"

namespace nccl_trace::chain {

/** A table of any version. They differ in what the pointers point to. */
using AnyTable = nccl_abi::Table<void*, void, void>;

struct OtherPlugin {
  void* library;
  const AnyTable* table;
  int version;  // of the table
  int mask;     // what it asks for. NCCL's has one for all communicators, so this is one, too, and never reset
  std::atomic<bool> takes;  // false: it gets no events (any more)
  char name[256];           // as given

  /**
   * Opens the library and takes its newest table up to `running`. Returns null, or why not. A name without '/' is searched
   * as NCCL searches its own plugin.
   */
  const char* Load(int running);
  void Unload();

  nccl_abi::Result Init(const CommunicatorInfo& info, void** context, nccl_abi::Logger logger);
};

}  // namespace nccl_trace::chain
