// NCCL_TRACE_CHAIN: other profiler plugins in the same process. NCCL has one slot, and its calls come here. Each goes to the
// recorder, then to the others, which see what they would see alone: only what they asked for, and their own contexts and
// handles.
//
// These functions are in the exported tables instead of abi/callbacks.h if the variable was set when the library was
// loaded. Without it nothing here runs.
//
// Threads: as recorder.h. The mutex orders loading, unloading and the table of communicators. As in NCCL no lock is held
// while a plugin's init or finalize runs, so those of several communicators run at the same time.
//
// The others are loaded before the first communicator begins, and unloaded when the last one has ended. A bad one costs a
// line in the log and nothing else.

#pragma once

#include "nccl/profiler_common.h"
#include "plugin/record/communicators.h"

namespace nccl_trace::chain {

/** True if the environment names other plugins. */
bool IsWanted();

nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger);
template <typename Descriptor>
nccl_abi::Result StartEvent(void* context, void** handle, Descriptor* descriptor);
nccl_abi::Result StopEvent(void* handle);
template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args);
nccl_abi::Result Finalize(void* context);

}  // namespace nccl_trace::chain
