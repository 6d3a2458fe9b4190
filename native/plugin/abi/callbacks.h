// The edge to NCCL's interface: the functions in the tables of plugin.cc.
//
// Each version has a file of its own (v*.cc), which reads its descriptors with the functions of starts.h. They must be
// compiled one by one: with all versions in one unit the compiler stops inlining.

#pragma once

#include "nccl/profiler_common.h"
#include "plugin/record/communicators.h"

namespace nccl_trace::abi {

/** `known_events`: the events this version can report. `logger`: null before v4. */
nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger);

/** One for the descriptor of each version. v5 and v6 share one. */
template <typename Descriptor>
nccl_abi::Result StartEvent(void* context, void** handle, Descriptor* descriptor);

nccl_abi::Result StopEvent(void* handle);

/** One for the arguments before v4, one for v4 and later. */
template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args);

nccl_abi::Result Finalize(void* context);

}  // namespace nccl_trace::abi
