// References for callbacks: a bare tick read (through a function pointer, as a callback is called), the same with a
// plain 32-byte store into a ring, clock_gettime, and a recorder of the classic design: a pool with counted references.

#pragma once

#include <atomic>

#include "bench/case.h"
#include "nccl/profiler_abi.h"
#include "plugin/process/clock.h"

namespace nccl_trace_bench {

/** Events in a pool with counted references: an index for all threads, a count per event, the C library's clock. */
struct PoolEvent {
  std::atomic<int> references;
  PoolEvent* parent;
  uint64_t type, start, stop;
};

constexpr uint64_t kPoolEvents = 4096;
inline PoolEvent pool[kPoolEvents];
inline PoolEvent pool_parent;
inline std::atomic<uint64_t> pool_taken, pool_given;
inline uint64_t plain_ring[4096][4];
inline uint64_t plain_head;

using Reference = void (*)(void*& handle);

__attribute__((noinline)) inline void Nothing(void*& handle) { __asm__ volatile("" : : "r"(&handle)); }
__attribute__((noinline)) inline void BareTick(void*&) {
  const uint64_t tick = nccl_trace::ReadCounter();
  __asm__ volatile("" : : "r"(tick));
}
__attribute__((noinline)) inline void TickAndStore(void*& handle) {
  uint64_t* slot = plain_ring[plain_head & 4095];
  slot[0] = nccl_trace::ReadCounter();
  slot[1] = reinterpret_cast<uint64_t>(handle);
  slot[2] = 0;
  slot[3] = plain_head++;
}
__attribute__((noinline)) inline void ClockGettime(void*&) {
  const uint64_t ns = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  __asm__ volatile("" : : "r"(ns));
}
__attribute__((noinline)) inline void PoolStart(void*& handle) {
  const uint64_t number = pool_taken.fetch_add(1);
  if (number - pool_given.load() >= kPoolEvents) {
    pool_taken.fetch_sub(1);
    handle = nullptr;
    return;
  }
  PoolEvent& event = pool[number % kPoolEvents];
  event.references = 1;
  event.parent = &pool_parent;
  pool_parent.references.fetch_add(1);
  event.type = nccl_abi::kProxyStep;
  event.start = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  handle = &event;
}
__attribute__((noinline)) inline void PoolStop(void*& handle) {
  PoolEvent* event = static_cast<PoolEvent*>(handle);
  event->stop = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  if (event->references.fetch_sub(1) != 1) return;
  event->parent->references.fetch_sub(1);
  pool_given.fetch_add(1);
}

/** Their loop is the same loop with Nothing as the function. */
inline void AddReferences(std::vector<Case>& cases) {
  static void* handles[kHandles];
  const auto nothing = [] {};
  const auto each = [](Reference function) {
    return [function] {
      for (void*& handle : handles) function(handle);
    };
  };
  const auto add = [&](const char* name, std::function<void()> prepare, Reference function,
                       std::function<void()> clean) {
    static Reference current[16];
    static size_t count = 0;
    Reference* called = &current[count++];
    const auto run = [called] {
      for (void*& handle : handles) (*static_cast<Reference volatile*>(called))(handle);
    };
    const auto record = [called, function](bool on) { *called = on ? function : Nothing; };
    record(true);
    cases.push_back({name, 0, std::move(prepare), run, std::move(clean), record});
  };
  add("bare tick", nothing, BareTick, nothing);
  add("tick and store", nothing, TickAndStore, nothing);
  add("clock_gettime", nothing, ClockGettime, nothing);
  add("pool and references, start", nothing, PoolStart, each(PoolStop));
  add("pool and references, stop", each(PoolStart), PoolStop, nothing);
}

}  // namespace nccl_trace_bench
