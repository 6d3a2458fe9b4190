// v7 (NCCL 2.31): user tags, phases of kernels.

#include "loopback/sender_parts.h"

namespace loopback {
namespace {

using Profiler = nccl_abi::v7::Profiler;

}  // namespace

const Sender kSenderV7 = {FunctionsOf<Profiler>, InitHashSecond<Profiler>, StartPrefix<Profiler, EventFields>,
                          State<Profiler>};

}  // namespace loopback
