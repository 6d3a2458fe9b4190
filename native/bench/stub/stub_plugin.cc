// A plugin that asks for the recorder's default events and only counts them. A job with it shows how much NCCL itself
// spends on reporting events.

#include "nccl/profiler_abi.h"

extern "C" {
// Not exact with several threads.
__attribute__((visibility("default"))) uint64_t stubStarts, stubStops;
}

namespace {

using namespace nccl_abi;

// Handles and contexts must not be NULL.
char something;

Result Init(void** context, uint64_t, int* mask, const char*, int, int, int, Logger) {
  *context = &something;
  *mask = kGroup | kColl | kP2p | kProxyOp | kProxyStep | kGroupApi | kCollApi | kP2pApi | kKernelLaunch;
  return kSuccess;
}
Result StartEvent(void*, void** handle, Descriptor*) {
  *handle = &something;
  ++stubStarts;
  return kSuccess;
}
Result StopEvent(void*) {
  ++stubStops;
  return kSuccess;
}
Result RecordEventState(void*, EventState, StateArgs*) { return kSuccess; }
Result Finalize(void*) { return kSuccess; }

}  // namespace

/** A test calls the recorder as if from here: then this library is the NCCL. */
extern "C" __attribute__((visibility("default"))) int ncclGetVersion(int* version) {
  *version = 23102;
  return kSuccess;
}

extern "C" __attribute__((visibility("default")))
const Profiler ncclProfiler_v6 = {"nothing", Init, StartEvent, StopEvent, RecordEventState, Finalize};
