// The place that one NCCL thread records into. A callback finds its producer through the library's only thread-local
// variable, and everything else through the producer. So a callback reads only a few words of shared memory, which never
// change.
//
// A thread's first callback takes a producer (Recorder::Attach), the thread's end releases it (a pthread key's
// destructor), and the next thread continues in the same rings under a new lease. Threads beyond the pool share the
// last producer, whose ring is the overflow ring and which has no private memory.

#pragma once

#include <atomic>

#include "plugin/events/connection_ordinals.h"
#include "plugin/record/ctrl_edges.h"
#include "plugin/record/last_starts.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

struct alignas(rank_file::kAreaAlignment) Producer {
  Ring* steps;              // ProxySteps, their states and stops
  Ring* rest;               // everything else. The same ring if the thread is no proxy
  LastStarts* last_starts;  // null: repeated starts are not found
  ConnectionOrdinals connections;
  CtrlEdges ctrl;

  // Compare-and-swap (acquire) in Attach, release in Retire: the next owner sees all stores of the last one.
  std::atomic<uint32_t> taken;
  uint64_t leases[2];

  bool shared() const { return rest->shared; }
  Ring& RingFor(uint64_t handle) const { return steps->Owns(handle) ? *steps : *rest; }
};

/**
 * The thread's producer and the path of its callbacks (Path in ring.h) in one word, because a library gets one word of
 * thread-local memory for free. The word is the address, its negative if only the slow path works, or 0.
 */
struct CurrentProducer {
  intptr_t word;

  /** Null: take the slow path. */
  Producer* fast() const { return reinterpret_cast<Producer*>(word > 0 ? word : 0); }
  /** Null: the thread has none yet. */
  Producer* any() const { return reinterpret_cast<Producer*>(word > 0 ? word : -word); }

  void Set(Producer& producer, bool is_usual) {
    const intptr_t address = reinterpret_cast<intptr_t>(&producer);
    word = is_usual ? address : -address;
  }
};

/** Empty until the thread's first callback, and again after a fork. */
extern __thread CurrentProducer current_producer __attribute__((visibility("hidden")));

}  // namespace nccl_trace
