// A job of several ranks on one GPU, run by NCCL itself, with faults on request. README.md says how to build it and run it.
#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Op {
  std::string function;
  size_t bytes;
  int repeat;
};

/** What one rank does from an iteration on (slow-host, slow-gpu) or in it. */
struct Fault {
  std::string kind;
  int rank = -1;
  int iteration = 0;
  double ms = 0;
};

struct Options {
  int ranks = 2;
  bool threads = false;   // all ranks in one process
  bool one_node = false;  // shared memory and P2P, not sockets
  bool graph = false;
  bool quiet = false;
  int iterations = 20;
  int warmup = 3;
  int batch = 1;
  double timeout_s = 30;  // then all ranks are killed
  std::vector<std::vector<Op>> phases;
  std::vector<Fault> faults;
};

// What the ranks share, across processes as well as threads.
struct Shared {
  ncclUniqueId id;
  std::atomic<int> id_ready;
  std::atomic<int> arrived[64];
};

[[noreturn]] void Fail(const std::string& what) {
  fprintf(stderr, "gpu_job: %s\n", what.c_str());
  exit(2);
}

void Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) Fail(std::string(what) + ": " + cudaGetErrorString(error));
}
void Check(ncclResult_t error, const char* what) {
  if (error != ncclSuccess) Fail(std::string(what) + ": " + ncclGetErrorString(error));
}
#define CHECK(call) Check((call), #call)

int64_t Now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// Keeps one multiprocessor busy for so long. A kernel that hangs is one of ten minutes: the GPU gets free again.
__global__ void Spin(uint64_t ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

// The values of %globaltimer that differ, one after the other.
__global__ void GlobalTimer(unsigned long long* values, int count) {
  unsigned long long last = 0, now;
  for (int i = 0; i < count;) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now != last) values[i++] = last = now;
  }
}

__global__ void Fill(float* data, size_t count, float value) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) data[i] = value;
}

size_t Bytes(const std::string& text) {
  char* end;
  double value = strtod(text.c_str(), &end);
  if (*end == 'K') value *= 1024;
  if (*end == 'M') value *= 1024 * 1024;
  return static_cast<size_t>(value);
}

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (;;) {
    size_t to = text.find(by, from);
    parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

std::vector<Op> ParseOps(const std::string& text) {
  std::vector<Op> ops;
  for (const std::string& part : Split(text, ',')) {
    auto name = Split(part, ':');
    if (name.size() != 2) Fail("an operation is function:bytes[*times], not " + part);
    auto size = Split(name[1], '*');
    ops.push_back({name[0], Bytes(size[0]), size.size() > 1 ? atoi(size[1].c_str()) : 1});
  }
  return ops;
}

Fault ParseFault(const std::string& text) {
  auto part = Split(text, ':');
  if (part.size() < 3) Fail("a fault is kind:rank:iteration[:ms], not " + text);
  return {part[0], atoi(part[1].c_str()), atoi(part[2].c_str()), part.size() > 3 ? atof(part[3].c_str()) : 0};
}

class Rank {
 public:
  Rank(const Options& options, Shared* shared, int rank) : options_(options), shared_(shared), rank_(rank) {}

  void Run() {
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    size_t most = 0;
    for (const auto& ops : options_.phases) {
      for (const Op& op : ops) {
        if (op.function != "compute") most = std::max(most, op.bytes);
      }
    }
    room_ = most * (1 + options_.ranks);
    CHECK(cudaMalloc(&send_, room_));
    CHECK(cudaMalloc(&receive_, room_));
    Fill<<<64, 256, 0, stream_>>>(send_, room_ / 4, 1.0f);
    Spin<<<1, 1, 0, stream_>>>(1000);
    CHECK(cudaStreamSynchronize(stream_));
    if (rank_ == 0) {
      CHECK(ncclGetUniqueId(&shared_->id));
      shared_->id_ready = 1;
    }
    while (!shared_->id_ready) usleep(200);
    Meet(0);
    CHECK(ncclCommInitRank(&comm_, options_.ranks, shared_->id, rank_));
    Meet(1);
    Say("begins");
    for (const auto& ops : options_.phases) Phase(ops);
    Verify();
    Say("done");
    if (options_.threads) Meet(3);
    CHECK(ncclCommDestroy(comm_));
  }

 private:
  void Phase(const std::vector<Op>& ops) {
    for (int i = 0; i < options_.warmup; ++i) {
      Iterate(ops, -1);
      CHECK(cudaStreamSynchronize(stream_));
    }
    cudaGraphExec_t graph = options_.graph ? Capture(ops) : nullptr;
    std::vector<int64_t> took;
    int64_t began = Now();
    for (int i = 0; i < options_.iterations; ++i) {
      if (i % options_.batch == 0) began = Now();
      if (graph != nullptr) {
        Before(i);
        CHECK(cudaGraphLaunch(graph, stream_));
        After(i);
      } else {
        Iterate(ops, i);
      }
      if ((i + 1) % options_.batch == 0) {
        CHECK(cudaStreamSynchronize(stream_));
        took.push_back((Now() - began) / options_.batch);
      }
    }
    CHECK(cudaStreamSynchronize(stream_));
    if (graph != nullptr) CHECK(cudaGraphExecDestroy(graph));  // ncclCommDestroy waits for it
    if (rank_ == 0) Print(took);
  }

  void Meet(int which) {
    ++shared_->arrived[which];
    while (shared_->arrived[which] < options_.ranks) usleep(100);
  }

  void Say(const std::string& what) {
    if (!options_.quiet)
      fprintf(stdout, "{\"realtime\":%lld,\"monotonic\":%lld,\"rank\":%d,\"pid\":%d,\"what\":\"%s\"}\n",
              (long long)Now(CLOCK_REALTIME), (long long)Now(), rank_, getpid(), what.c_str());
    fflush(stdout);
  }

  const Fault* FaultAt(const char* kind, int iteration) const {
    for (const Fault& fault : options_.faults) {
      if (fault.kind == kind && fault.rank == rank_ && iteration >= 0 && iteration >= fault.iteration) return &fault;
    }
    return nullptr;
  }

  bool Once(const char* kind, int iteration) {
    const Fault* fault = FaultAt(kind, iteration);
    if (fault == nullptr || fault->iteration != iteration) return false;
    Say(std::string("fault ") + kind + " in iteration " + std::to_string(iteration));
    return true;
  }

  void Before(int iteration) {
    if (const Fault* fault = FaultAt("slow-host", iteration)) usleep(static_cast<useconds_t>(fault->ms * 1000));
    if (const Fault* fault = FaultAt("slow-gpu", iteration))
      Spin<<<1, 1, 0, stream_>>>(static_cast<uint64_t>(fault->ms * 1e6));
    if (Once("hang-gpu", iteration)) Spin<<<1, 1, 0, stream_>>>(600'000'000'000);
    if (Once("skip", iteration)) sleep(600);
  }

  void After(int iteration) {
    if (Once("kill", iteration)) {
      usleep(300);
      kill(getpid(), SIGKILL);
    }
    if (Once("stop", iteration)) kill(getpid(), SIGSTOP);
    if (Once("exit", iteration)) _exit(3);
    if (Once("gpu-error", iteration)) {
      Fill<<<1, 32, 0, stream_>>>(reinterpret_cast<float*>(8), 1024, 0.0f);
      cudaError_t error = cudaStreamSynchronize(stream_);
      Say(std::string("the GPU said: ") + cudaGetErrorString(error));
      abort();
    }
  }

  void Iterate(const std::vector<Op>& ops, int iteration) {
    Before(iteration);
    size_t count = ops.size();
    bool reversed = Once("order", iteration);
    for (size_t i = 0; i < count; ++i) {
      Op op = ops[reversed ? count - 1 - i : i];
      if (i == 0 && Once("size", iteration)) op.bytes /= 2;
      for (int k = 0; k < op.repeat; ++k) Call(op);
    }
    After(iteration);
  }

  void Call(const Op& op) {
    size_t n = op.bytes / sizeof(float);
    int ranks = options_.ranks;
    if (op.function == "allreduce") {
      CHECK(ncclAllReduce(send_, receive_, n, ncclFloat, ncclSum, comm_, stream_));
    } else if (op.function == "reducescatter") {
      CHECK(ncclReduceScatter(send_, receive_, n / ranks, ncclFloat, ncclSum, comm_, stream_));
    } else if (op.function == "allgather") {
      CHECK(ncclAllGather(send_, receive_, n / ranks, ncclFloat, comm_, stream_));
    } else if (op.function == "broadcast") {
      CHECK(ncclBroadcast(send_, receive_, n, ncclFloat, 0, comm_, stream_));
    } else if (op.function == "reduce") {
      CHECK(ncclReduce(send_, receive_, n, ncclFloat, ncclSum, 0, comm_, stream_));
    } else if (op.function == "sendrecv") {
      CHECK(ncclGroupStart());
      CHECK(ncclSend(send_, n, ncclFloat, (rank_ + 1) % ranks, comm_, stream_));
      CHECK(ncclRecv(receive_, n, ncclFloat, (rank_ + ranks - 1) % ranks, comm_, stream_));
      CHECK(ncclGroupEnd());
    } else if (op.function == "alltoall") {
      CHECK(ncclGroupStart());
      for (int peer = 0; peer < ranks; ++peer) {
        CHECK(ncclSend(send_ + peer * (n / ranks), n / ranks, ncclFloat, peer, comm_, stream_));
        CHECK(ncclRecv(receive_ + peer * (n / ranks), n / ranks, ncclFloat, peer, comm_, stream_));
      }
      CHECK(ncclGroupEnd());
    } else if (op.function == "grouped") {
      CHECK(ncclGroupStart());
      for (int i = 0; i < 4; ++i) {
        CHECK(ncclAllReduce(send_ + i * (n / 4), receive_ + i * (n / 4), n / 4, ncclFloat, ncclSum, comm_, stream_));
      }
      CHECK(ncclGroupEnd());
    } else if (op.function == "compute") {  // bytes are microseconds
      Spin<<<1, 1, 0, stream_>>>(op.bytes * uint64_t{1000});
    } else {
      Fail("no such operation: " + op.function);
    }
  }

  cudaGraphExec_t Capture(const std::vector<Op>& ops) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    Iterate(ops, -1);
    CHECK(cudaStreamEndCapture(stream_, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
  }

  // An AllReduce of ones is the number of ranks everywhere: the work was real.
  void Verify() {
    size_t n = std::min<size_t>(room_ / 4, 1 << 20);
    Call({"allreduce", n * 4, 1});
    std::vector<float> host(n);
    CHECK(cudaMemcpyAsync(host.data(), receive_, n * 4, cudaMemcpyDeviceToHost, stream_));
    CHECK(cudaStreamSynchronize(stream_));
    for (float value : host) {
      if (value != static_cast<float>(options_.ranks)) Fail("wrong data");
    }
  }

  void Print(std::vector<int64_t> took) {
    if (took.empty()) return;
    std::sort(took.begin(), took.end());
    auto at = [&](double q) { return took[static_cast<size_t>(q * (took.size() - 1))] / 1000.0; };
    printf("{\"iterations\":%d,\"us\":{\"p10\":%.2f,\"p50\":%.2f,\"p90\":%.2f,\"max\":%.2f}}\n", options_.iterations,
           at(0.1), at(0.5), at(0.9), at(1));
    fflush(stdout);
  }

  const Options& options_;
  Shared* shared_;
  int rank_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  float* send_ = nullptr;
  float* receive_ = nullptr;
  size_t room_ = 0;
};

void PrintGlobalTimer() {
  constexpr int kCount = 2048;
  unsigned long long* device;
  std::vector<unsigned long long> values(kCount);
  CHECK(cudaMalloc(&device, kCount * 8));
  for (int round = 0; round < 2; ++round) {
    int64_t before = Now(CLOCK_REALTIME);
    GlobalTimer<<<1, 1>>>(device, kCount);
    CHECK(cudaMemcpy(values.data(), device, kCount * 8, cudaMemcpyDeviceToHost));
    int64_t after = Now(CLOCK_REALTIME);
    std::vector<unsigned long long> gaps;
    for (int i = 1; i < kCount; ++i) gaps.push_back(values[i] - values[i - 1]);
    std::sort(gaps.begin(), gaps.end());
    printf(
        "globaltimer: gaps min %llu p50 %llu p99 %llu max %llu ns; low bits %llu; first - realtime before %lld ns, "
        "last - realtime after %lld ns\n",
        gaps.front(), gaps[gaps.size() / 2], gaps[gaps.size() * 99 / 100], gaps.back(), values[0] & 1023,
        (long long)(values[0] - before), (long long)(values.back() - after));
  }
}

// Waits for the ranks; ends with SIGKILL what has not ended in time. 0 if all ranks ended well.
int Watch(const std::vector<pid_t>& ranks, const Options& options) {
  int64_t until = Now() + static_cast<int64_t>(options.timeout_s * 1e9);
  std::vector<bool> over(ranks.size());
  int bad = 0;
  size_t left = ranks.size();
  while (left > 0) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      int status;
      if (over[i] || waitpid(ranks[i], &status, WNOHANG) != ranks[i]) continue;
      over[i] = true;
      --left;
      if (status != 0) {
        printf("{\"realtime\":%lld,\"rank\":%zu,\"status\":%d,\"signal\":%d}\n", (long long)Now(CLOCK_REALTIME), i,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        bad = 1;
      }
    }
    if (Now() > until) {
      printf("{\"realtime\":%lld,\"what\":\"time is over, all are killed\"}\n", (long long)Now(CLOCK_REALTIME));
      for (size_t i = 0; i < ranks.size(); ++i) {
        if (!over[i]) kill(ranks[i], SIGKILL);
      }
      until = INT64_MAX;
    }
    usleep(2000);
  }
  return bad;
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : (Fail(name + " needs a value"), std::string()); };
    if (name == "--ranks")
      options.ranks = atoi(value().c_str());
    else if (name == "--iterations")
      options.iterations = atoi(value().c_str());
    else if (name == "--warmup")
      options.warmup = atoi(value().c_str());
    else if (name == "--batch")
      options.batch = atoi(value().c_str());
    else if (name == "--timeout")
      options.timeout_s = atof(value().c_str());
    else if (name == "--ops")
      options.phases.push_back(ParseOps(value()));
    else if (name == "--fault")
      options.faults.push_back(ParseFault(value()));
    else if (name == "--threads")
      options.threads = true;
    else if (name == "--one-node")
      options.one_node = true;
    else if (name == "--graph")
      options.graph = true;
    else if (name == "--quiet")
      options.quiet = true;
    else if (name == "--globaltimer") {
      PrintGlobalTimer();
      exit(0);
    } else
      Fail("no such option: " + name);
  }
  if (options.phases.empty()) options.phases.push_back(ParseOps("allreduce:1M"));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = Parse(argc, argv);
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) Fail("mmap");
  new (shared) Shared();
  auto standard = [](const char* name, const char* value) { setenv(name, value, 0); };
  standard("NCCL_SOCKET_IFNAME", "lo");
  standard("NCCL_IB_DISABLE", "1");
  standard("NCCL_MNNVL_ENABLE", "0");
  standard("NCCL_NVLS_ENABLE", "0");
  standard("NCCL_RAS_ENABLE", "0");
  standard("CUDA_MODULE_LOADING", "EAGER");
  if (!options.one_node) {
    standard("NCCL_NET", "Socket");
    standard("NCCL_P2P_DISABLE", "1");
    standard("NCCL_SHM_DISABLE", "1");
  }
  if (options.threads || options.one_node) standard("NCCL_MULTI_RANK_GPU_ENABLE", "1");
  std::vector<pid_t> processes;
  for (int rank = 0; rank < (options.threads ? 1 : options.ranks); ++rank) {
    pid_t pid = fork();
    if (pid < 0) Fail("fork");
    if (pid > 0) {
      processes.push_back(pid);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (options.threads) {
      std::vector<std::thread> ranks;
      for (int r = 0; r < options.ranks; ++r) ranks.emplace_back([&, r] { Rank(options, shared, r).Run(); });
      for (std::thread& thread : ranks) thread.join();
    } else {
      std::string number = std::to_string(rank);
      setenv("RANK", number.c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(options.ranks).c_str(), 1);
      setenv("LOCAL_RANK", number.c_str(), 1);
      if (!options.one_node) setenv("NCCL_HOSTID", ("host-" + number).c_str(), 1);
      Rank(options, shared, rank).Run();
    }
    exit(0);
  }
  return Watch(processes, options);
}
