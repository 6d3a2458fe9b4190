// The edge to NCCL's interface: what the tables of plugin.cc consist of.
//
// A version's descriptors are read in a file of its own (v*.cc), by the functions of starts.h. That they are
// compiled one by one matters: all versions in one unit are too much for the compiler, which then stops to inline.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_ABI_CALLBACKS_H_
#define NCCL_TRACE_NATIVE_PLUGIN_ABI_CALLBACKS_H_

#include "nccl/profiler_common.h"
#include "plugin/record/communicators.h"

namespace nccl_trace::abi {

/** `known_events`: what this version can deliver. `logger`: null before v4. */
nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger);

/** For the descriptor of each version; v5 and v6 have the same. */
template <typename Descriptor>
nccl_abi::Result StartEvent(void* context, void** handle, Descriptor* descriptor);

nccl_abi::Result StopEvent(void* handle);

/** For the arguments before v4, and since. */
template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args);

nccl_abi::Result Finalize(void* context);

}  // namespace nccl_trace::abi

#endif  // NCCL_TRACE_NATIVE_PLUGIN_ABI_CALLBACKS_H_
