// NCCL's side for tests: loads the plugin as NCCL does and calls it with poisoned descriptors.

#pragma once

#include <dlfcn.h>

#include <cstdarg>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "nccl/profiler_abi.h"
#include "test/check.h"

namespace nccl_trace_test {

using nccl_abi::Descriptor;
using nccl_abi::Profiler;

/** The plugin's messages through NCCL's logger. */
struct LogLines {
  std::mutex mutex;
  std::vector<std::string> infos, warnings;
};
inline LogLines& Lines() {
  static LogLines lines;
  return lines;
}

/** True if there is no warning, except that on a busy machine the file may be more than 1.7 s late. */
inline bool IsAllWell() {
  for (const std::string& warning : Lines().warnings) {
    if (warning.find("not there after 1.7 s") == std::string::npos) return false;
  }
  return true;
}

/** True if the machine was so busy that init did not get the ring file in 1.7 s and uses memory. */
inline bool IsTooLate() {
  return !Lines().warnings.empty() && IsAllWell() &&
         Lines().infos.at(0).find("recording into memory") != std::string::npos;
}

__attribute__((format(printf, 5, 6))) inline void Logger(int32_t level, unsigned long subsystem, const char*, int,
                                                         const char* format, ...) {
  CHECK_EQ(subsystem, nccl_abi::kLogSubsysProfile | nccl_abi::kLogSubsysInit);
  char text[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  const std::lock_guard<std::mutex> lock(Lines().mutex);
  (level == nccl_abi::kLogWarn ? Lines().warnings : Lines().infos).push_back(text);
}

class Nccl {
 public:
  explicit Nccl(const char* library, const char* table = "ncclProfiler_v6") {
    library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) fprintf(stderr, "%s\n", dlerror());
    CHECK(library_ != nullptr);
    table_ = static_cast<const Profiler*>(dlsym(library_, table));
    CHECK(table_ != nullptr);
  }

  const Profiler& table() const { return *table_; }
  int mask() const { return __atomic_load_n(&mask_, __ATOMIC_RELAXED); }
  void StoreMask(int mask) { __atomic_store_n(&mask_, mask, __ATOMIC_RELAXED); }
  void Unload() { dlclose(library_); }

  void* Init(uint64_t id = 0xC0FFEE, const char* name = "test", int ranks = 4, int rank = 1, int nodes = 2) {
    void* context = reinterpret_cast<void*>(0xBAD);
    CHECK_EQ(table_->init(&context, id, &mask_, name, nodes, ranks, rank, Logger), 0);
    return context;
  }
  void Finalize(void* context) { CHECK_EQ(table_->finalize(context), 0); }

  uint64_t Start(void* context, Descriptor& descriptor) {
    void* handle = nullptr;
    CHECK_EQ(table_->startEvent(context, &handle, &descriptor), 0);
    return reinterpret_cast<uint64_t>(handle);
  }
  void State(uint64_t handle, int state, const uint64_t* value = nullptr) {
    nccl_abi::StateArgs args;
    if (value != nullptr) memcpy(&args, value, sizeof(args));
    CHECK_EQ(table_->recordEventState(reinterpret_cast<void*>(handle), static_cast<nccl_abi::EventState>(state),
                                      value != nullptr ? &args : nullptr),
             0);
  }
  void State(uint64_t handle, int state, uint64_t value) { State(handle, state, &value); }
  void Stop(uint64_t handle) { CHECK_EQ(table_->stopEvent(reinterpret_cast<void*>(handle)), 0); }

 private:
  void* library_;
  const Profiler* table_;
  int mask_ = 0;
};

/** Has garbage in the bytes that NCCL leaves undefined. */
inline Descriptor Describe(uint64_t type, uint64_t parent = 0, int rank = 1) {
  Descriptor descriptor;
  memset(static_cast<void*>(&descriptor), 0xA5, sizeof(descriptor));
  descriptor.type = type;
  descriptor.parentObj = reinterpret_cast<void*>(parent);
  descriptor.rank = rank;
  return descriptor;
}

inline Descriptor Coll(uint64_t parent, const char* func, uint64_t sequence, uint64_t group = 0) {
  Descriptor d = Describe(nccl_abi::kColl, parent);
  d.coll.seqNumber = sequence;
  d.coll.func = func;
  d.coll.sendBuff = reinterpret_cast<void*>(0x1000);
  d.coll.recvBuff = reinterpret_cast<void*>(0x2000);
  d.coll.count = 1 << 20;
  d.coll.root = 2;
  d.coll.datatype = "ncclFloat32";
  d.coll.nChannels = 8;
  d.coll.nWarps = 16;
  d.coll.algo = "RING";
  d.coll.proto = "SIMPLE";
  d.coll.parentGroup = reinterpret_cast<void*>(group);
  return d;
}

inline Descriptor P2p(uint64_t parent, const char* func, int peer) {
  Descriptor d = Describe(nccl_abi::kP2p, parent);
  d.p2p.func = func;
  d.p2p.buff = reinterpret_cast<void*>(0x3000);
  d.p2p.datatype = "ncclInt8";
  d.p2p.count = 77;
  d.p2p.peer = peer;
  d.p2p.nChannels = 2;
  d.p2p.parentGroup = nullptr;
  return d;
}

inline Descriptor ProxyOp(uint64_t parent, int channel, int peer, bool is_send) {
  Descriptor d = Describe(nccl_abi::kProxyOp, parent);
  d.proxyOp.pid = 4242;
  d.proxyOp.channelId = static_cast<uint8_t>(channel);
  d.proxyOp.peer = peer;
  d.proxyOp.nSteps = 28;
  d.proxyOp.chunkSize = 1 << 22;
  d.proxyOp.isSend = is_send;
  return d;
}

inline Descriptor ProxyStep(uint64_t parent, int step) {
  Descriptor d = Describe(nccl_abi::kProxyStep, parent);
  d.proxyStep.step = step;
  return d;
}

inline Descriptor Api(uint64_t type, uint64_t parent, const char* func) {
  Descriptor d = Describe(type, parent);
  if (type == nccl_abi::kCollApi) {
    d.collApi.func = func;
    d.collApi.count = 123456789;
    d.collApi.datatype = "ncclBfloat16";
    d.collApi.root = 3;
    d.collApi.stream = reinterpret_cast<void*>(0x5000);
    d.collApi.graphCaptured = true;
  } else {
    d.p2pApi.func = func;
    d.p2pApi.count = 55;
    d.p2pApi.datatype = "ncclInt8";
    d.p2pApi.stream = reinterpret_cast<void*>(0x6000);
    d.p2pApi.graphCaptured = false;
  }
  return d;
}

}  // namespace nccl_trace_test
