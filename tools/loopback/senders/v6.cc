// v6 (NCCL 2.29 and 2.30): v5 and events of the copy engines.

#include "loopback/sender_parts.h"

namespace loopback {
namespace {

using Profiler = nccl_abi::Profiler;
constexpr auto kStart = StartPrefix<Profiler, nccl_abi::Descriptor>;
constexpr auto kAdapt = AdaptPrefix<Profiler, nccl_abi::Descriptor, nccl_abi::kMaskV6>;

Result AdaptInit(const void* table, void** context, int* mask, const CommInfo& comm) {
  const Result result = InitHashSecond<Profiler>(table, context, mask, comm);
  __atomic_and_fetch(mask, ~static_cast<int>(nccl_abi::v7::kKernelPhase), __ATOMIC_RELAXED);
  return result;
}

bool AdaptState(const void* table, void* handle, EventState state, const StateValues* values) {
  if (state == nccl_abi::v7::kKernelPhaseStop) return false;
  Poisoned<nccl_abi::StateArgs> args;
  memset(&*args, 0, sizeof *args);
  SetArgs(*args, state, values);
  As<Profiler>(table).recordEventState(handle, state, &*args);
  return true;
}

}  // namespace

const Sender kSenderV6 = {FunctionsOf<Profiler>, InitHashSecond<Profiler>, kStart, State<Profiler>};
const Sender kAdapterV6 = {FunctionsOf<Profiler>, AdaptInit, kAdapt, AdaptState};

}  // namespace loopback
