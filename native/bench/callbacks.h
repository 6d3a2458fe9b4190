// The callbacks of one version of NCCL's interface, as cases.

#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/case.h"
#include "nccl/net_events.h"
#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"

namespace nccl_trace_bench {

template <int version>
struct Interface;
template <>
struct Interface<1> {
  using Table = nccl_abi::v1::Profiler;
};
template <>
struct Interface<2> {
  using Table = nccl_abi::v2::Profiler;
};
template <>
struct Interface<3> {
  using Table = nccl_abi::v3::Profiler;
};
template <>
struct Interface<4> {
  using Table = nccl_abi::v4::Profiler;
};
template <>
struct Interface<5> {
  using Table = nccl_abi::Profiler;
};
template <>
struct Interface<6> {
  using Table = nccl_abi::Profiler;
};
template <>
struct Interface<7> {
  using Table = nccl_abi::v7::Profiler;
};

template <typename Descriptor>
Descriptor PointedTo(nccl_abi::Result (*)(void*, void**, Descriptor*));
template <typename Args>
Args PointedTo(nccl_abi::Result (*)(void*, nccl_abi::EventState, Args*));

/** Names are texts, in v1 codes. */
inline void Name(const char*& field, const char* text, uint8_t) { field = text; }
inline void Name(uint8_t& field, const char*, uint8_t code) { field = code; }

template <int version>
class Callbacks {
 public:
  explicit Callbacks(void* library) {
    real_ = static_cast<const Table*>(dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
    int mask = 0;
    if constexpr (version <= 3) {
      real_->init(&context_, &mask);
    } else if constexpr (version == 4) {
      real_->init(&context_, &mask, "bench", version, 1, 2, 0, nullptr);
    } else {
      real_->init(&context_, version, &mask, "bench", 1, 2, 0, nullptr);
    }
    if (context_ == nullptr) exit(1);
    table_ = real_;
  }
  ~Callbacks() { real_->finalize(context_); }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  /** The first one also makes the calling thread a proxy. */
  void StartOperations() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      Descriptor d = ProxyOp(static_cast<int>(i));
      ops_[i] = Start(d);
    }
  }

  void AddCases(std::vector<Case>& cases) {
    using nccl_abi::EventType;
    if constexpr (version >= 5) {
      AddStart(cases, "GroupApi start", Describe(nccl_abi::kGroupApi, nullptr));
      AddStart(cases, "CollApi start", CollApi());
      AddStart(cases, "P2pApi start", P2pApi());
      AddStart(cases, "KernelLaunch start", Describe(nccl_abi::kKernelLaunch, nullptr));
    }
    AddStart(cases, "Group start", Describe(nccl_abi::kGroup, nullptr));
    Add(
        cases, "Coll start", [this] { FillWith([this](int) { return Coll(); }); }, StartAll(), StopAll());
    AddStart(cases, "P2p start", P2p());
    Add(
        cases, "ProxyOp start", [this] { FillWith([](int i) { return ProxyOp(i); }); }, StartAll(), StopAll());
    Add(
        cases, "ProxyStep start", [this] { FillWith([this](int i) { return ProxyStep(i); }); }, StartAll(), StopAll());
    AddStart(cases, "ProxyCtrl start", Describe(nccl_abi::kProxyCtrl, nullptr));
    if constexpr (version >= 3) {
      AddStart(cases, "KernelCh start", Describe(nccl_abi::kKernelCh, nullptr));
      AddStart(cases, "NetPlugin start", NetPlugin());
    }
    if constexpr (version >= 7) {
      AddStart(cases, "CeColl start", CeColl());
      AddStart(cases, "KernelPhase start", KernelPhase());
    }
    AddState(cases, "state, first of its step", 0, nccl_abi::kStepSendGpuWait);
    AddState(cases, "state, next", nccl_abi::kStepSendGpuWait, nccl_abi::kStepSendPeerWait);
    Add(cases, "step stop", StepsIn(nccl_abi::kStepSendGpuWait), StopAll(), [] {});
    Add(
        cases, "folded repeat",
        [this] {
          StepsIn(nccl_abi::kStepSendPeerWait)();
          AllEnter(nccl_abi::kStepSendPeerWait)();
        },
        AllEnter(nccl_abi::kStepSendPeerWait), StopAll());
    Add(
        cases, "folded repeated start",
        [this] {
          const Descriptor d = ProxyStep(0);
          FillWith([&](int) { return d; });
          StartAll()();
        },
        StartAll(), [this] { table_->stopEvent(handles_[0]); });
    Add(
        cases, "muted state", [this] { handles_.fill(reinterpret_cast<void*>(~uint64_t{0})); },
        AllEnter(nccl_abi::kStepSendPeerWait), [] {});
    Add(
        cases, "muted start",
        [this] {
          Descriptor d = ProxyStep(0);
          d.parentObj = reinterpret_cast<void*>(~uint64_t{0});
          FillWith([&](int) { return d; });
        },
        StartAll(), [] {});
    // A whole step, one after the other, five callbacks each.
    Add(
        cases, "step life (5 callbacks)", [] {},
        [this] {
          for (int i = 0; i < kHandles / 5; ++i) {
            Descriptor d = ProxyStep(i);
            void* handle = Start(d);
            State(handle, nccl_abi::kStepSendGpuWait);
            State(handle, nccl_abi::kStepSendPeerWait);
            State(handle, nccl_abi::kStepSendWait);
            table_->stopEvent(handle);
          }
        },
        [] {});
  }

 private:
  using Table = typename Interface<version>::Table;
  using Descriptor = decltype(PointedTo(std::declval<Table>().startEvent));
  using StateArgs = decltype(PointedTo(std::declval<Table>().recordEventState));
  using Work = std::function<void()>;

  // Callbacks that do nothing: what is left of a case then is its loop.
  static nccl_abi::Result NoStart(void*, void**, Descriptor*) { return nccl_abi::kSuccess; }
  static nccl_abi::Result NoStop(void*) { return nccl_abi::kSuccess; }
  static nccl_abi::Result NoState(void*, nccl_abi::EventState, StateArgs*) { return nccl_abi::kSuccess; }
  static constexpr Table kNone = {"none", nullptr, NoStart, NoStop, NoState, nullptr};

  // -------------------------------------------------------------------------------------------------------------------
  // Descriptors

  static Descriptor Describe(uint64_t type, void* parent) {
    Descriptor d;
    memset(static_cast<void*>(&d), 0, sizeof(d));
    d.type = static_cast<decltype(d.type)>(type);
    d.parentObj = parent;
    return d;
  }
  Descriptor Coll() {
    Descriptor d = Describe(nccl_abi::kColl, nullptr);
    d.coll.seqNumber = sequence_++;
    Name(d.coll.func, "AllReduce", nccl_abi::v1::kAllReduce);
    Name(d.coll.datatype, "ncclFloat32", nccl_abi::v1::kFloat32);
    Name(d.coll.algo, "RING", nccl_abi::v1::kRing);
    Name(d.coll.proto, "SIMPLE", nccl_abi::v1::kSimple);
    return d;
  }
  static Descriptor P2p() {
    Descriptor d = Describe(nccl_abi::kP2p, nullptr);
    Name(d.p2p.func, "Send", nccl_abi::v1::kSend);
    Name(d.p2p.datatype, "ncclInt8", nccl_abi::v1::kInt8);
    d.p2p.peer = 1;
    return d;
  }
  static Descriptor CollApi() {
    Descriptor d = Describe(nccl_abi::kCollApi, nullptr);
    d.collApi.func = "AllReduce";
    d.collApi.datatype = "ncclFloat32";
    return d;
  }
  static Descriptor P2pApi() {
    Descriptor d = Describe(nccl_abi::kP2pApi, nullptr);
    d.p2pApi.func = "Send";
    d.p2pApi.datatype = "ncclInt8";
    return d;
  }
  /** On sixteen channels in turn. */
  static Descriptor ProxyOp(int i) {
    Descriptor d = Describe(nccl_abi::kProxyOp, nullptr);
    d.proxyOp.channelId = static_cast<uint8_t>(i % 16);
    d.proxyOp.peer = 1;
    return d;
  }
  /** Of sixteen operations in turn, as a progress thread has them in flight. */
  Descriptor ProxyStep(int i) {
    Descriptor d = Describe(nccl_abi::kProxyStep, ops_[static_cast<size_t>(i) % ops_.size()]);
    d.proxyStep.step = step_++;
    return d;
  }
  static Descriptor NetPlugin() {
    static nccl_abi::NetIbV1 request = {1, 0, 7, 0, 100, 4096};
    Descriptor d = Describe(nccl_abi::kNetPlugin, nullptr);
    d.netPlugin.id = nccl_abi::kNetIdIbV1;
    d.netPlugin.data = &request;
    return d;
  }
  static Descriptor CeColl() {
    Descriptor d = Describe(nccl_abi::kCeColl, nullptr);
    d.ceColl.func = "AllGather";
    d.ceColl.datatype = "ncclFloat32";
    d.ceColl.syncStrategy = "MC";
    return d;
  }
  static Descriptor KernelPhase() {
    Descriptor d = Describe(nccl_abi::v7::kKernelPhase, nullptr);
    d.kernelPhase.phaseName = "Reduce";
    return d;
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Calls

  void* Start(Descriptor& descriptor) {
    void* handle = nullptr;
    table_->startEvent(context_, &handle, &descriptor);
    return handle;
  }
  void State(void* handle, int state) {
    StateArgs args;
    memset(static_cast<void*>(&args), 0, sizeof(args));
    table_->recordEventState(handle, static_cast<nccl_abi::EventState>(state), &args);
  }
  /** Copied, so that what a callback loads was stored in pieces at least as wide, as NCCL's compiler does it. */
  template <typename Make>
  void FillWith(const Make& make) {
    int i = 0;
    for (Descriptor& d : descriptors_) {
      made_ = make(i++);
      __asm__ volatile("" : "+m"(made_));
      d = made_;
    }
  }
  Work StartAll() {
    return [this] {
      for (size_t i = 0; i < kHandles; ++i) handles_[i] = Start(descriptors_[i]);
    };
  }
  Work StopAll() {
    return [this] {
      for (void* handle : handles_) table_->stopEvent(handle);
    };
  }
  Work AllEnter(int state) {
    return [this, state] {
      for (void* handle : handles_) State(handle, state);
    };
  }
  /** Fifty new steps in `state`; 0: in none yet. */
  Work StepsIn(int state) {
    return [this, state] {
      FillWith([this](int i) { return ProxyStep(i); });
      StartAll()();
      if (state != 0) AllEnter(state)();
    };
  }

  void Add(std::vector<Case>& cases, const char* name, Work prepare, Work run, Work clean) {
    const auto record = [this](bool on) { table_ = on ? real_ : &kNone; };
    cases.push_back({name, version, std::move(prepare), std::move(run), std::move(clean), record});
  }
  void AddStart(std::vector<Case>& cases, const char* name, const Descriptor& descriptor) {
    Add(
        cases, name, [this, descriptor] { descriptors_.fill(descriptor); }, StartAll(), StopAll());
  }
  void AddState(std::vector<Case>& cases, const char* name, int before, int state) {
    Add(cases, name, StepsIn(before), AllEnter(state), StopAll());
  }

  const Table* real_;
  const Table* table_;
  void* context_ = nullptr;
  std::array<void*, kHandles> handles_ = {};
  std::array<Descriptor, kHandles> descriptors_;
  Descriptor made_;
  std::array<void*, 16> ops_;
  int step_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace nccl_trace_bench
