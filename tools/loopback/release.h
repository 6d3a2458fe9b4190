// The differences between releases of NCCL, by the newest profiler version that each knows. The rest of the program uses
// these rules and no version numbers.

#pragma once

#include "loopback/event_masks.h"

namespace loopback {

struct Release {
  /** As ncclGetVersion gives it: 23007 is 2.30.7. */
  int version;
  /** The event types that it has, and the mask bits for each. */
  int types;
  EventMasks masks;

  // Proxy.
  /** Until 2.26: an operation starts when it first progresses, has states 0 to 7, and states of steps say nothing. */
  bool opDetails = false;
  /** 2.23: steps are counted in buffer slots, not in transfers. */
  bool rawSteps = false;
  /** Since 2.28: steps start even if their operation has no handle. */
  bool orphanSteps = false;
  /** Since 2.27: kernels have the GPU's time. */
  bool kernelTimes = false;
  /** Since 2.27: a network plugin can update its events before they end. */
  bool netUpdates = false;
  /** Since 2.31: symmetric-memory kernels are reported, if kernels are. */
  bool symmetricKernels = false;
  /** Since 2.31: a thread of its own watches kernels. */
  bool kernelThread = false;

  // Host.
  /** Until 2.25: the mask is read when a kernel's tasks are announced, not at the call. */
  bool maskPerPlan = false;
  /** Until 2.25: tasks are stopped even without a handle. */
  bool stopsWithoutHandle = false;

  /** Since 2.29: broadcasts become AllGatherVs, unless NCCL_ALLGATHERV_ENABLE is 0. */
  bool allGatherV = false;

  // Communicators.
  /** Until 2.27: a failed init ends profiling for all. A communicator without context is finalized, too. */
  bool strictContexts = false;
};

/** `abi` 1 to 7. */
const Release& ReleaseKnowing(int abi);

}  // namespace loopback
