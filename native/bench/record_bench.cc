// What one callback costs, through the table that NCCL calls, on one pinned thread.
//
//   record_bench <plugin.so> [rounds]      NCCL_TRACE_DIR and the other settings come from the environment
//
// Every round runs one batch of 1000 calls of each case, so that all cases see the same machine; a batch is twenty
// times fifty calls, with the handles they need made outside the measured time. Printed: one JSON object with the
// median over all rounds, in nanoseconds per call, of each case.
//
// Four references: a bare tick read (through a function pointer, as a callback is called), the same with a plain 32-byte
// store into a ring, clock_gettime, and a recorder of the classic design: a pool with counted references.

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "nccl/profiler_abi.h"
#include "plugin/clock.h"

namespace {

using nccl_abi::Descriptor;
using nccl_abi::Profiler;

constexpr int kHandles = 50;
constexpr int kPiecesPerBatch = 20;

const Profiler* profiler;
void* context;

void* Start(Descriptor& descriptor) {
  void* handle = nullptr;
  profiler->startEvent(context, &handle, &descriptor);
  return handle;
}
void State(void* handle, int state) {
  nccl_abi::StateArgs args = {};
  args.proxyStep.transSize = 524288;
  profiler->recordEventState(handle, static_cast<nccl_abi::EventState>(state), &args);
}

Descriptor Describe(uint64_t type, void* parent) {
  Descriptor d;
  memset(static_cast<void*>(&d), 0, sizeof(d));
  d.type = type;
  d.parentObj = parent;
  return d;
}

Descriptor ProxyStep(void* parent, int step) {
  Descriptor d = Describe(nccl_abi::kProxyStep, parent);
  d.proxyStep.step = step;
  return d;
}

Descriptor Coll(void* parent) {
  Descriptor d = Describe(nccl_abi::kColl, parent);
  d.coll.func = "AllReduce";
  d.coll.datatype = "ncclFloat32";
  d.coll.algo = "RING";
  d.coll.proto = "SIMPLE";
  return d;
}

Descriptor P2p() {
  Descriptor d = Describe(nccl_abi::kP2p, nullptr);
  d.p2p.func = "Send";
  d.p2p.datatype = "ncclInt8";
  d.p2p.peer = 1;
  return d;
}

Descriptor Api(uint64_t type) {
  Descriptor d = Describe(type, nullptr);
  if (type == nccl_abi::kCollApi) {
    d.collApi.func = "AllReduce";
    d.collApi.datatype = "ncclFloat32";
  } else {
    d.p2pApi.func = "Send";
    d.p2pApi.datatype = "ncclInt8";
  }
  return d;
}

Descriptor ProxyOp() {
  Descriptor d = Describe(nccl_abi::kProxyOp, nullptr);
  d.proxyOp.peer = 1;
  return d;
}

// ---------------------------------------------------------------------------------------------------------------------
// References

uint64_t plain_ring[4096][4];
uint64_t plain_head;

__attribute__((noinline)) nccl_abi::Result BareTick(void*) {
  return nccl_trace::ReadCounter() == 1 ? nccl_abi::kSuccess : nccl_abi::Result{};
}
__attribute__((noinline)) nccl_abi::Result TickAndStore(void* handle) {
  uint64_t* slot = plain_ring[plain_head & 4095];
  slot[0] = nccl_trace::ReadCounter();
  slot[1] = reinterpret_cast<uint64_t>(handle);
  slot[2] = 0;
  slot[3] = plain_head++;
  return nccl_abi::kSuccess;
}
__attribute__((noinline)) nccl_abi::Result ClockGettime(void*) {
  return nccl_trace::ReadClockNs(CLOCK_MONOTONIC) == 1 ? nccl_abi::kSuccess : nccl_abi::Result{};
}
/** Events of a pool, which its children keep: an index for all threads, a count per event, the time of the C library. */
struct PoolEvent {
  std::atomic<int> references;
  PoolEvent* parent;
  uint64_t type, start, stop;
};
PoolEvent pool[4096];
std::atomic<uint64_t> pool_taken, pool_given;
PoolEvent pool_parent;

__attribute__((noinline)) nccl_abi::Result PoolStart(void** handle, PoolEvent* parent) {
  const uint64_t number = pool_taken.fetch_add(1);
  if (number - pool_given.load() >= 4096) {
    pool_taken.fetch_sub(1);
    *handle = nullptr;
    return nccl_abi::kSuccess;
  }
  PoolEvent& event = pool[number % 4096];
  event.references = 1;
  event.parent = parent;
  parent->references.fetch_add(1);
  event.type = nccl_abi::kProxyStep;
  event.start = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  *handle = &event;
  return nccl_abi::kSuccess;
}
__attribute__((noinline)) nccl_abi::Result PoolStop(void* handle) {
  PoolEvent* event = static_cast<PoolEvent*>(handle);
  event->stop = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  if (event->references.fetch_sub(1) != 1) return nccl_abi::kSuccess;
  event->parent->references.fetch_sub(1);
  pool_given.fetch_add(1);
  return nccl_abi::kSuccess;
}
nccl_abi::Result (*volatile pool_start)(void**, PoolEvent*) = PoolStart;
nccl_abi::Result (*volatile pool_stop)(void*) = PoolStop;

nccl_abi::Result (*volatile bare_tick)(void*) = BareTick;
nccl_abi::Result (*volatile tick_and_store)(void*) = TickAndStore;
nccl_abi::Result (*volatile get_time)(void*) = ClockGettime;

// ---------------------------------------------------------------------------------------------------------------------
// Cases

struct Bench {
  std::array<void*, kHandles> handles;
  std::array<Descriptor, kHandles> descriptors;
  std::array<void*, 16> ops;
  int step = 0;
};
Bench bench;

/** Fifty steps of sixteen operations, as a progress thread has them in flight. */
void MakeSteps() {
  for (int i = 0; i < kHandles; ++i) {
    Descriptor d = ProxyStep(bench.ops[static_cast<size_t>(i) % bench.ops.size()], bench.step++);
    bench.handles[static_cast<size_t>(i)] = Start(d);
  }
}
void StopHandles() {
  for (void* handle : bench.handles) profiler->stopEvent(handle);
}
void StatesOfHandles(int state) {
  for (void* handle : bench.handles) State(handle, state);
}
void Fill(const Descriptor& descriptor) { bench.descriptors.fill(descriptor); }
void StartDescriptors() {
  for (size_t i = 0; i < kHandles; ++i) bench.handles[i] = Start(bench.descriptors[i]);
}

struct Case {
  const char* name;
  std::function<void()> prepare, run, clean;
  std::vector<double> ns = {};
};

std::vector<Case> MakeCases() {
  const auto nothing = [] {};
  const auto reference = [](auto& function) {
    return [&function] {
      for (void* handle : bench.handles) function(handle);
    };
  };
  const auto start = [&](const char* name, const Descriptor& d) {
    return Case{name, [d] { Fill(d); }, StartDescriptors, StopHandles};
  };
  const auto state = [](const char* name, int before, int state) {
    return Case{name,
                [before] {
                  MakeSteps();
                  if (before != 0) StatesOfHandles(before);
                },
                [state] { StatesOfHandles(state); }, StopHandles};
  };
  return {
      {"bare tick", nothing, reference(bare_tick), nothing},
      {"tick and store", nothing, reference(tick_and_store), nothing},
      {"clock_gettime", nothing, reference(get_time), nothing},
      {"pool and references, start", nothing,
       [] {
         for (void*& handle : bench.handles) pool_start(&handle, &pool_parent);
       },
       [] {
         for (void* handle : bench.handles) pool_stop(handle);
       }},
      {"pool and references, stop",
       [] {
         for (void*& handle : bench.handles) pool_start(&handle, &pool_parent);
       },
       [] {
         for (void* handle : bench.handles) pool_stop(handle);
       },
       nothing},
      start("GroupApi start", Describe(nccl_abi::kGroupApi, nullptr)),
      start("CollApi start", Api(nccl_abi::kCollApi)),
      start("P2pApi start", Api(nccl_abi::kP2pApi)),
      start("KernelLaunch start", Describe(nccl_abi::kKernelLaunch, nullptr)),
      start("Group start", Describe(nccl_abi::kGroup, nullptr)),
      {"Coll start",
       [] {
         for (Descriptor& d : bench.descriptors) {
           d = Coll(nullptr);
           d.coll.seqNumber = static_cast<uint64_t>(bench.step++);
         }
       },
       StartDescriptors, StopHandles},
      start("P2p start", P2p()),
      start("ProxyOp start", ProxyOp()),
      {"ProxyStep start",
       [] {
         for (size_t i = 0; i < kHandles; ++i) {
           bench.descriptors[i] = ProxyStep(bench.ops[i % bench.ops.size()], bench.step++);
         }
       },
       StartDescriptors, StopHandles},
      start("ProxyCtrl start", Describe(nccl_abi::kProxyCtrl, nullptr)),
      start("KernelCh start", Describe(nccl_abi::kKernelCh, nullptr)),
      start("NetPlugin start", Describe(nccl_abi::kNetPlugin, nullptr)),
      state("state, first of its step", 0, 8),
      state("state, next", 8, 20),
      {"step stop",
       [] {
         MakeSteps();
         StatesOfHandles(8);
       },
       StopHandles, nothing},
      {"folded repeat",
       [] {
         MakeSteps();
         StatesOfHandles(20);
         StatesOfHandles(20);
       },
       [] { StatesOfHandles(20); }, StopHandles},
      {"folded repeated start",
       [] {
         Fill(ProxyStep(bench.ops[0], bench.step++));
         StartDescriptors();
       },
       StartDescriptors, [] { profiler->stopEvent(bench.handles[0]); }},
      {"muted state", [] { bench.handles.fill(reinterpret_cast<void*>(~uint64_t{0})); }, [] { StatesOfHandles(20); },
       nothing},
      {"muted start", [] { Fill(ProxyStep(reinterpret_cast<void*>(~uint64_t{0}), 1)); }, StartDescriptors, nothing},
      // A whole step, one after the other, five callbacks each.
      {"step life (5 callbacks)", nothing,
       [] {
         for (size_t i = 0; i < kHandles / 5; ++i) {
           Descriptor d = ProxyStep(bench.ops[i % bench.ops.size()], bench.step++);
           void* handle = Start(d);
           State(handle, 8);
           State(handle, 20);
           State(handle, 9);
           profiler->stopEvent(handle);
         }
       },
       nothing},
  };
}

double Batch(Case& c, double ns_per_tick) {
  uint64_t ticks = 0;
  for (int piece = 0; piece < kPiecesPerBatch; ++piece) {
    c.prepare();
    const uint64_t before = nccl_trace::ReadCounter();
    c.run();
    ticks += nccl_trace::ReadCounter() - before;
    c.clean();
  }
  return static_cast<double>(ticks) * ns_per_tick / (kHandles * kPiecesPerBatch);
}

double MeasureNsPerTick() {
  const uint64_t ns0 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t tick0 = nccl_trace::ReadCounter();
  while (nccl_trace::ReadClockNs(CLOCK_MONOTONIC) - ns0 < 50'000'000) {
  }
  const uint64_t ns1 = nccl_trace::ReadClockNs(CLOCK_MONOTONIC);
  return static_cast<double>(ns1 - ns0) / static_cast<double>(nccl_trace::ReadCounter() - tick0);
}

void PinToThisCpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof(one), &one);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: record_bench <plugin.so> [rounds]\n");
    return 2;
  }
  const int rounds = argc > 2 ? atoi(argv[2]) : 300;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  profiler = static_cast<const Profiler*>(dlsym(library, "ncclProfiler_v6"));
  int mask = 0;
  profiler->init(&context, 1, &mask, "bench", 1, 2, 0, nullptr);
  if (context == nullptr) return 1;
  // After init, so that the recorder's thread keeps the other cores.
  PinToThisCpu();

  const double ns_per_tick = MeasureNsPerTick();
  for (void*& op : bench.ops) {
    Descriptor d = ProxyOp();
    op = Start(d);  // also makes this thread a proxy
  }
  std::vector<Case> cases = MakeCases();
  for (int round = -2; round < rounds; ++round) {
    for (Case& c : cases) {
      const double ns = Batch(c, ns_per_tick);
      if (round >= 0) c.ns.push_back(ns);
    }
  }
  profiler->finalize(context);

  printf("{\"rounds\":%d,\"cases\":[", rounds);
  for (size_t i = 0; i < cases.size(); ++i) {
    printf("%s{\"name\":\"%s\",\"ns\":%.2f}", i == 0 ? "" : ",", cases[i].name, Median(cases[i].ns));
  }
  puts("]}");
  return 0;
}
