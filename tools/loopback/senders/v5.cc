// v5 (NCCL 2.28): events of the calls.

#include "loopback/sender_parts.h"

namespace loopback {
namespace {

using Profiler = nccl_abi::Profiler;
constexpr auto kStart = StartPrefix<Profiler, nccl_abi::Descriptor>;
constexpr auto kAdapt = AdaptPrefix<Profiler, nccl_abi::Descriptor, nccl_abi::kMaskV5>;

/** Removes newer events from the mask, at init only. */
Result AdaptInit(const void* table, void** context, int* mask, const CommInfo& comm) {
  const Result result = InitHashSecond<Profiler>(table, context, mask, comm);
  if (result == nccl_abi::kSuccess) __atomic_and_fetch(mask, nccl_abi::kMaskV5, __ATOMIC_RELAXED);
  return result;
}

}  // namespace

const Sender kSenderV5 = {FunctionsOf<Profiler>, InitHashSecond<Profiler>, kStart, State<Profiler>};
const Sender kAdapterV5 = {FunctionsOf<Profiler>, AdaptInit, kAdapt, AdaptState<Profiler, nccl_abi::kGroupEndApiStart>};

}  // namespace loopback
