// What a callback does not do once its thread is known: no system call, no allocation, no page fault. The system calls of
// the calling thread are counted by a seccomp filter, allocations by a malloc in front of the C library's, faults by the
// kernel.
//
//   quiet <plugin.so> <folder> <thousands of callbacks> flight|stream
//
// Prints SKIPPED instead of PASSED where this machine does not let us count.

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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

void OnSystemCall(int, siginfo_t*, void*) { system_calls = system_calls + 1; }

/** From now on every system call of this thread but the return from the handler, and its end, is counted and not done. */
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

/** Each kind of callback, as a progress thread and an API thread make them. */
void Callbacks(Nccl& nccl, void* context, uint64_t count) {
  Descriptor d;
  for (uint64_t i = 0; i < count; i += 12) {
    const uint64_t op = nccl.Start(context, d = ProxyOp(0, static_cast<int>(i & 7), 2, true));
    const uint64_t step = nccl.Start(context, d = ProxyStep(op, static_cast<int>(i)));
    nccl.State(step, 8);
    nccl.State(step, nccl_abi::kStepSendPeerWait);
    nccl.State(step, nccl_abi::kStepSendPeerWait);
    nccl.State(step, 9, 4096);
    nccl.Stop(step);
    nccl.Stop(op);
    const uint64_t coll = nccl.Start(context, d = Coll(0, "AllReduce", i));
    nccl.Stop(nccl.Start(context, d = Api(nccl_abi::kCollApi, coll, "AllReduce")));
    nccl.Stop(coll);
  }
}

struct Seen {
  uint64_t system_calls, allocations, faults;
};
Seen seen;
std::atomic<int> stage;  // 1: cannot count, 2: done

/** Cannot end any more once its system calls are trapped: it waits for the process to. */
void Watched(Nccl& nccl, void* context, uint64_t count) {
  Callbacks(nccl, context, 400'000);  // every page of the rings, every entry of the caches
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
  seen = {system_calls, allocations,
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
  printf("%" PRIu64 " callbacks: %" PRIu64 " system calls, %" PRIu64 " allocations, %" PRIu64 " page faults\n", count,
         seen.system_calls, seen.allocations, seen.faults);
  CHECK_EQ(seen.system_calls, 0);
  CHECK_EQ(seen.allocations, 0);
  // A rank file on disk is written back, and each page that is written again then is a fault.
  if (strncmp(argv[2], "/dev/shm/", 9) == 0) CHECK_EQ(seen.faults, 0);
  nccl.Finalize(context);
  Passed();
  fflush(stdout);
  _exit(0);
}
