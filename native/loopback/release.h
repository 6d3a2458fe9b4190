// What differs between the releases of NCCL, by the newest profiler version each of them knows. The rest of the
// program asks these rules, never for a version.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_RELEASE_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_RELEASE_H_

#include "loopback/event_masks.h"

namespace loopback {

struct Release {
  const char* name;
  /** The event types it can make, and which mask bits make it make them. */
  int types;
  EventMasks masks;

  // Proxy.
  /** Until 2.26: an operation starts when it first progresses, has states 0 to 7, and states of steps say nothing. */
  bool opDetails = false;
  /** 2.23: steps are counted in buffer slots, not in transfers. */
  bool rawSteps = false;
  /** 2.24 to 2.26: of receives used up at once all but the first may keep their events. */
  bool wrongRecvStops = false;
  /** Since 2.28: a step of an operation without handle starts all the same. */
  bool orphanSteps = false;
  /** Since 2.27: kernels are told in the GPU's time. */
  bool kernelTimes = false;
  /** Since 2.27: a network plugin can tell of its events before they end. */
  bool netUpdates = false;
  /** Since 2.31: symmetric-memory kernels are told of, where kernels are asked for. */
  bool symmetricKernels = false;
  /** Since 2.31: a thread of its own watches kernels. */
  bool kernelThread = false;

  // Host.
  /** Until 2.25: the mask is read when a kernel's tasks are announced, not when they are called for. */
  bool maskPerPlan = false;
  /** Until 2.25: tasks are stopped whether the plugin gave them a handle or not. */
  bool stopsWithoutHandle = false;

  /** Since 2.29: broadcasts become AllGatherVs, unless NCCL_ALLGATHERV_ENABLE is 0. */
  bool allGatherV = false;

  // Communicators.
  /** Until 2.27: an init that fails ends profiling for all; a communicator without context is finalized too. */
  bool strictContexts = false;
};

/** `abi` 1 to 7. */
const Release& ReleaseKnowing(int abi);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_RELEASE_H_
