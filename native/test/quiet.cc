// A callback makes no system call, no allocation, no lock and no page fault, except the first one of a thread. A seccomp
// filter counts the system calls of the calling thread, replaced functions of the C library count allocations and locks,
// the kernel counts faults.
//
//   quiet <plugin.so> <folder> <thousands of callbacks> flight|stream
//
// Prints SKIPPED instead of PASSED where this machine does not let us count.

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "test/nccl.h"

using namespace nccl_trace_test;

namespace {

__thread bool is_watched;
volatile uint64_t system_calls;
uint64_t allocations;
uint64_t locks;

void OnSystemCall(int, siginfo_t*, void*) { system_calls = system_calls + 1; }

/** Afterwards every system call of this thread is counted and not executed, except the handler's return and its end. */
bool TrapSystemCalls() {
  struct sigaction action = {};
  action.sa_sigaction = OnSystemCall;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, reinterpret_cast<unsigned long>(&program)) == 0;
}

/** NCCL's side, with counts. */
struct Caller {
  Nccl& nccl;
  void* context;
  uint64_t calls = 0;

  uint64_t Start(Descriptor d, void* of) {
    ++calls;
    return nccl.Start(of, d);
  }
  uint64_t Start(const Descriptor& d) { return Start(d, context); }
  void State(uint64_t handle, int state, uint64_t value = 0) {
    ++calls;
    nccl.State(handle, state, value);
  }
  void Stop(uint64_t handle) {
    ++calls;
    nccl.Stop(handle);
  }
};

/** Callbacks of a progress thread: repeats that are counted, and the end of such a run. */
void ProxyCallbacks(Caller& caller, uint64_t i) {
  const uint64_t op = caller.Start(ProxyOp(0, static_cast<int>(i & 31), 2, (i & 1) != 0));
  const uint64_t step = caller.Start(ProxyStep(op, static_cast<int>(i)));
  caller.Start(ProxyStep(op, static_cast<int>(i)));
  caller.Start(ProxyStep(op, static_cast<int>(i)));
  caller.State(step, 8);
  for (int repeat = 0; repeat < 4; ++repeat) caller.State(step, nccl_abi::kStepSendPeerWait);
  caller.State(step, 9, 4096);
  Descriptor net = Describe(nccl_abi::kNetPlugin, step);
  net.netPlugin.id = 7;
  caller.Stop(caller.Start(net));
  caller.Stop(step);
  caller.State(op, nccl_abi::kOpInProgress);
  caller.Stop(op);
  for (const int state : {nccl_abi::kCtrlIdle, nccl_abi::kCtrlActive, nccl_abi::kCtrlSleep}) {
    const uint64_t edge = caller.Start(Describe(nccl_abi::kProxyCtrl));
    caller.State(edge, state);
    caller.Stop(edge);
  }
  // An operation of another process, by PXN.
  caller.Stop(caller.Start(ProxyOp(0x7F00'0000'1000, 3, 5, true), reinterpret_cast<void*>(0x7F00'0000'2000)));
}

/** Callbacks of an API thread and of NCCL's own threads. */
void HostCallbacks(Caller& caller, uint64_t i) {
  const uint64_t api = caller.Start(Describe(nccl_abi::kGroupApi));
  caller.State(api, nccl_abi::kGroupStartApiStop);
  const uint64_t coll_api = caller.Start(Api(nccl_abi::kCollApi, api, "AllReduce"));
  const uint64_t p2p_api = caller.Start(Api(nccl_abi::kP2pApi, api, "Send"));
  const uint64_t launch = caller.Start(Describe(nccl_abi::kKernelLaunch, api));
  const uint64_t group = caller.Start(Describe(nccl_abi::kGroup));
  const uint64_t coll = caller.Start(Coll(coll_api, "AllReduce", i, group));
  const uint64_t p2p = caller.Start(P2p(p2p_api, "Send", 3));
  Descriptor kernel = Describe(nccl_abi::kKernelCh, coll);
  kernel.kernelCh.pTimer = ~uint64_t{i};
  const uint64_t running = caller.Start(kernel);
  caller.State(running, nccl_abi::kKernelChStop, ~uint64_t{i});
  for (const uint64_t handle : {running, p2p, coll, group, launch, p2p_api, coll_api, api}) caller.Stop(handle);
}

/** Callbacks with foreign handles, NULL and unknown types. */
void StrangeCallbacks(Caller& caller) {
  const uint64_t muted = ~uint64_t{0};
  caller.State(caller.Start(ProxyStep(muted, 1)), 8);
  caller.Stop(muted);
  caller.Stop(0);
  caller.Stop(caller.Start(Describe(uint64_t{1} << 40)));
}

void Callbacks(Nccl& nccl, void* context, uint64_t count) {
  Caller caller = {nccl, context};
  for (uint64_t i = 0; caller.calls < count; ++i) {
    ProxyCallbacks(caller, i);
    HostCallbacks(caller, i);
    StrangeCallbacks(caller);
  }
}

struct Seen {
  uint64_t system_calls, allocations, locks, faults;
};
Seen seen;
std::atomic<int> stage;  // 1: cannot count, 2: done

/** Cannot end once its system calls are trapped. It waits for the end of the process. */
void Watched(Nccl& nccl, void* context, uint64_t count) {
  Callbacks(nccl, context, 400'000);  // touches every page of the rings and every entry of the caches
  rusage before = {};
  rusage after = {};
  getrusage(RUSAGE_THREAD, &before);
  if (!TrapSystemCalls()) {
    stage = 1;
    return;
  }
  is_watched = true;
  Callbacks(nccl, context, count);
  is_watched = false;
  getrusage(RUSAGE_THREAD, &after);
  seen = {system_calls, allocations, locks,
          static_cast<uint64_t>(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt)};
  stage = 2;
  for (;;) {
  }
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {

void* __libc_malloc(size_t bytes);
void* malloc(size_t bytes) {
  if (is_watched) ++allocations;
  return __libc_malloc(bytes);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (is_watched) ++locks;
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return lock(mutex);
}

}  // extern "C"
#endif

int main(int argc, char** argv) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  puts("a sanitizer's own calls would be counted\nSKIPPED");
  return 0;
#endif
  CHECK_EQ(argc, 5);
  setenv("NCCL_TRACE_DIR", argv[2], 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 0);
  setenv("NCCL_TRACE_MODE", argv[4], 1);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("NCCL_TRACE_RING_MB", "4", 1);
  setenv("RANK", "0", 1);
  const uint64_t count = strtoull(argv[3], nullptr, 10) * 1'000;
  Nccl nccl(argv[1]);
  void* context = nccl.Init();
  std::thread([&] { Watched(nccl, context, count); }).detach();
  while (stage == 0) usleep(1'000);
  if (stage == 1) {
    puts("cannot count system calls\nSKIPPED");
    return 0;
  }
  printf("%" PRIu64 " callbacks: %" PRIu64 " system calls, %" PRIu64 " allocations, %" PRIu64 " locks, %" PRIu64
         " page faults\n",
         count, seen.system_calls, seen.allocations, seen.locks, seen.faults);
  CHECK_EQ(seen.system_calls, 0);
  CHECK_EQ(seen.allocations, 0);
  CHECK_EQ(seen.locks, 0);
  // A rank file on disk is written back, and the next store to each page is a fault.
  if (strncmp(argv[2], "/dev/shm/", 9) == 0) CHECK_EQ(seen.faults, 0);
  nccl.Finalize(context);
  Passed();
  fflush(stdout);
  _exit(0);
}
