// NCCL names its threads only with NCCL_SET_THREAD_NAME=1. Without it they have the program's name.

#pragma once

#include <pthread.h>

#include "loopback/parse.h"

namespace loopback {

/** Names the calling thread, one of NCCL's. */
inline void NameThread(const char* name) {
  if (EnvNumber("NCCL_SET_THREAD_NAME", 0) == 1) pthread_setname_np(pthread_self(), name);
}

}  // namespace loopback
