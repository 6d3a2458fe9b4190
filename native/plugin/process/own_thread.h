// Starts the recorder's own threads, where the job does not need the last ones.

#pragma once

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/process/old_libc.h"

namespace nccl_trace {

/**
 * Starts a detached thread with the caller's signal mask. We set its stack size, because the job's limit may be 24 KB,
 * or 10 GB that mlockall makes resident. False: no thread could be made.
 */
inline bool StartThread(void* (*main)(void*), void* argument) {
  constexpr size_t kStackBytes = size_t{1} << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, main, argument);
  if (error == EINVAL) {
    // The stack also holds the thread-local variables of all libraries. If they are too large for our size, use the job's.
    pthread_attr_destroy(&attributes);
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, main, argument);
  }
  pthread_attr_destroy(&attributes);
  return error == 0;
}

/**
 * True if there may be `wanted` more threads: for the user (ulimit -u), and in the control groups (pids.max). Ours would be the one too many for NCCL, which fails without its own. If the
 * limit is large, or does not hold for us, nothing is counted.
 */
bool HasRoomForThreads(uint64_t wanted);

}  // namespace nccl_trace
