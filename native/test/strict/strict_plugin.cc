// A plugin of one version (STRICT_VERSION) that checks what NCCL promises and writes down what it sees, in a form that is
// the same in each run of the same work: each event with all above it and its states, and how often.
//
//   STRICT_LOG=FOLDER   writes FOLDER/v<version>-rank<RANK>.txt when it is unloaded. Lines of broken promises begin with !
//   STRICT_MASK=N       what it asks for (default: all of its version but ProxyCtrl, whose number depends on time)
//   STRICT_DO=NAMES     what it does wrong, or otherwise than most: see Does(...)
//
// Handles are checked before they are used, so any number may come.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"

namespace {

using namespace nccl_abi;

constexpr int kVersion = STRICT_VERSION;
template <int version>
struct Types {
  using Table = nccl_abi::Profiler;  // v5 and v6
};
template <>
struct Types<1> {
  using Table = v1::Profiler;
};
template <>
struct Types<2> {
  using Table = v2::Profiler;
};
template <>
struct Types<3> {
  using Table = v3::Profiler;
};
template <>
struct Types<4> {
  using Table = v4::Profiler;
};
template <>
struct Types<7> {
  using Table = v7::Profiler;
};
using Exported = Types<kVersion>::Table;
template <typename Descriptor>
Descriptor PointedTo(Result (*)(void*, void**, Descriptor*));
template <typename Args>
Args PointedTo(Result (*)(void*, EventState, Args*));
using Descriptor = decltype(PointedTo(static_cast<decltype(Exported::startEvent)>(nullptr)));
using Args = decltype(PointedTo(static_cast<decltype(Exported::recordEventState)>(nullptr)));

constexpr int kTypes[] = {0, 0x3F, 0x3F, 0xFF, 0xFF, 0xFFF, 0x7FFF, 0xFFFF};
constexpr int kLastState[] = {0, 18, 18, 18, 22, 24, 30, 31};
constexpr const char* kNames[] = {"Group",    "Coll",      "P2p",      "ProxyOp",    "ProxyStep", "ProxyCtrl",
                                  "KernelCh", "NetPlugin", "GroupApi", "CollApi",    "P2pApi",    "KernelLaunch",
                                  "CeColl",   "CeSync",    "CeBatch",  "KernelPhase"};
// What may be above each type. Before v5 the calls are no events.
constexpr uint64_t kAbove[] = {0,
                               kVersion >= 5 ? kCollApi : kGroup,
                               kVersion >= 5 ? kP2pApi : kGroup,
                               kColl | kP2p,
                               kProxyOp,
                               0,
                               kColl | kP2p,
                               kProxyStep,
                               0,
                               kGroupApi,
                               kGroupApi,
                               kGroupApi,
                               kCollApi,
                               kCeColl,
                               kCeColl,
                               kKernelCh};

struct Context {
  std::string name;
  bool is_open = true;
};
struct Event {
  uint64_t type;
  bool is_foreign;  // an operation of another process, and its steps
  std::string path, states;
  int last_state = -1, stops = 0;
  uint32_t seen = 0;  // states, by bit
};

struct Plugin {
  std::mutex mutex;
  std::set<Context*> contexts;
  std::set<Event*> events;
  std::map<std::string, int> wrong;
  int inits = 0, left_mask = 0;
};
Plugin& self = *new Plugin;

bool Does(const char* name) {
  const char* what = getenv("STRICT_DO");
  return what != nullptr && (',' + std::string(what) + ',').find(',' + std::string(name) + ',') != std::string::npos;
}
Result Done() { return static_cast<Result>(Does("errors") ? 1 : 0); }
void Wrong(const std::string& what) { ++self.wrong[what]; }
void Check(bool holds, const std::string& what) {
  if (!holds) Wrong(what);
}

std::string Text(const char* text) { return text != nullptr ? text : "null"; }
std::string Text(uint64_t number) { return std::to_string(number); }

/** The fields that do not depend on the run. Templates, because each version has other members. */
template <typename D>
std::string FieldsOf(const D& d) {
  std::string text = kNames[__builtin_ctzll(d.type)];
  const auto add = [&](auto value) { text += ' ' + Text(value); };
  switch (d.type) {
    case kColl:
      add(d.coll.func), add(d.coll.datatype), add(d.coll.algo), add(d.coll.proto), add(d.coll.count);
      add(d.coll.seqNumber), add(d.coll.nWarps), add(uint64_t(d.coll.root)), add(uint64_t(d.coll.sendBuff != nullptr));
      if constexpr (kVersion >= 4) {
        add(d.coll.nChannels);
      } else {
        add(d.coll.name), add(uint64_t{d.coll.commHash != 0}), add(d.coll.nMaxChannels);
      }
      if constexpr (kVersion >= 7) add(d.coll.kernelVariant), add(uint64_t{d.coll.isSymColl}), add(d.coll.userTag);
      break;
    case kP2p:
      add(d.p2p.func), add(d.p2p.datatype), add(d.p2p.count), add(uint64_t(d.p2p.peer));
      if constexpr (kVersion >= 5) add(d.p2p.nChannels);  // NCCL's adapter for v4 does not set it
      if constexpr (kVersion <= 3) add(d.p2p.name), add(uint64_t{d.p2p.commHash != 0});
      break;
    case kProxyOp: {
      const auto& op = d.proxyOp;
      for (int each : {int{op.channelId}, op.peer, op.nSteps, op.chunkSize, op.isSend, int{op.pid == getpid()}})
        add(uint64_t(each));
      break;
    }
    case kProxyStep:
      add(uint64_t(d.proxyStep.step));
      break;
    default:
      break;
  }
  if constexpr (kVersion >= 3) {
    if (d.type == kKernelCh) add(d.kernelCh.channelId);
    if (d.type == kNetPlugin) add(uint64_t(d.netPlugin.id));
  }
  if constexpr (kVersion >= 5) {
    if (d.type == kGroupApi) add(uint64_t{d.groupApi.graphCaptured}), add(uint64_t(d.groupApi.groupDepth));
    if (d.type == kCollApi) add(d.collApi.func), add(d.collApi.count), add(uint64_t{d.collApi.graphCaptured});
    if (d.type == kP2pApi) add(d.p2pApi.func), add(d.p2pApi.datatype), add(uint64_t{d.p2pApi.graphCaptured});
    if (d.type == kKernelLaunch) add(uint64_t{d.kernelLaunch.stream != nullptr});
  }
  if constexpr (kVersion >= 7) {
    if (d.type == kCeColl)
      add(d.ceColl.func), add(d.ceColl.seqNumber), add(d.ceColl.syncStrategy), add(d.ceColl.userTag);
    if (d.type == v7::kKernelPhase) add(d.kernelPhase.phaseName), add(d.kernelPhase.phaseId);
  }
  return text;
}

template <typename D>
void* GroupOf(const D& d) {
  if constexpr (kVersion >= 5) {
    if (d.type == kColl) return d.coll.parentGroup;
    if (d.type == kP2p) return d.p2p.parentGroup;
  }
  return nullptr;
}

template <typename Set>
auto Known(const Set& set, void* pointer) {
  const auto found = set.find(static_cast<typename Set::value_type>(pointer));
  return found != set.end() ? *found : nullptr;
}

Result Open(void** context, int* mask, const std::string& name) {
  if (Does("slow-init")) usleep(300'000);
  if (Does("cycle")) {
    auto* other =
        static_cast<nccl_abi::Profiler*>(dlsym(dlopen(getenv("NCCL_PROFILER_PLUGIN"), RTLD_NOW), "ncclProfiler_v6"));
    void* inner = nullptr;
    other->init(&inner, 1, mask, "inner", 1, 1, 0, nullptr);
  }
  std::lock_guard<std::mutex> lock(self.mutex);
  const bool is_second = self.inits++ == 1;
  if (Does("init-error") || (is_second && Does("second-init-error"))) return static_cast<Result>(3);
  if (Does("refuse")) return kSuccess;
  Check(__atomic_load_n(mask, __ATOMIC_RELAXED) == self.left_mask, "the mask is not as it was left");
  if (!Does("null-context")) {
    Context* made = new Context{name + " " + std::to_string(self.inits)};
    self.contexts.insert(made);
    *context = made;
  }
  const char* asked = getenv("STRICT_MASK");
  self.left_mask =
      asked != nullptr ? static_cast<int>(strtol(asked, nullptr, 0)) : kTypes[kVersion] & ~static_cast<int>(kProxyCtrl);
  __atomic_store_n(mask, self.left_mask, __ATOMIC_RELAXED);
  return kSuccess;
}

[[maybe_unused]] Result Init3(void** context, int* mask) { return Open(context, mask, "comm"); }
[[maybe_unused]] Result Init4(void** context, int* mask, const char* name, uint64_t hash, int nodes, int ranks,
                              int rank, Logger logger) {
  Check(hash != 0 && nodes >= 1 && rank >= 0 && rank < ranks && logger != nullptr, "init's arguments");
  logger(kLogInfo, kLogSubsysInit, "strict", 1, "strict: %d of %d", rank, ranks);
  return Open(context, mask, Text(name));
}
[[maybe_unused]] Result Init5(void** context, uint64_t hash, int* mask, const char* name, int nodes, int ranks,
                              int rank, Logger logger) {
  return Init4(context, mask, name, hash, nodes, ranks, rank, logger);
}

Result Start(void* context, void** handle, Descriptor* d) {
  std::lock_guard<std::mutex> lock(self.mutex);
  if (Does("null-handles")) {
    *handle = nullptr;
    return Done();
  }
  if (Does("no-handles")) return Done();
  const uint64_t type = d->type;
  if ((type & (type - 1)) != 0 || (type & static_cast<uint64_t>(kTypes[kVersion])) == 0) {
    Wrong("type " + Text(type));
    *handle = nullptr;
    return Done();
  }
  const std::string fields = FieldsOf(*d);
  if (Does("some-null-handles") && type != kGroup && std::hash<std::string>()(fields) % 3 == 0) {
    *handle = nullptr;
    return Done();
  }
  const uint64_t above = kAbove[__builtin_ctzll(type)];
  Event* const parent = Known(self.events, d->parentObj);
  Context* const comm = Known(self.contexts, context);
  const bool is_foreign = type == kProxyOp ? d->proxyOp.pid != getpid() : parent != nullptr && parent->is_foreign;
  if (!is_foreign) {
    Check(Does("null-context") ? context == nullptr : comm != nullptr, "context of " + fields);
    Check(comm == nullptr || comm->is_open || type == kProxyCtrl, "closed context of " + fields);
    Check(d->parentObj == nullptr || parent != nullptr, "unknown parent of " + fields);
  }
  Check(parent == nullptr || (parent->type & above) != 0, "parent " + (parent ? parent->path : "") + " of " + fields);
  Event* const group = Known(self.events, GroupOf(*d));
  Check(group == nullptr ? GroupOf(*d) == nullptr : group->type == kGroup, "group of " + fields);
  const std::string top = is_foreign ? "another process" : comm != nullptr ? comm->name : "no comm";
  std::string path = fields + (group != nullptr ? " in " + group->path : "") + " < " + (parent ? parent->path : top);
  Event* const made = new Event{type, is_foreign, std::move(path), ""};
  self.events.insert(made);
  *handle = made;
  return Done();
}

Event* EventOf(void* handle, const char* what) {
  Event* const event = Known(self.events, handle);
  Check(event != nullptr || handle == nullptr, what);
  return event;
}

Result Stop(void* handle) {
  std::lock_guard<std::mutex> lock(self.mutex);
  if (Event* event = EventOf(handle, "stop of an unknown handle")) ++event->stops;
  return Done();
}

/** The size that comes with a state of a step; empty before v4, which has none. */
template <typename StateArgs>
std::string SizeOf(const StateArgs* args, EventState state) {
  if constexpr (kVersion >= 4) {
    if (state == kStepSendWait || state == kStepRecvFlushWait) return '=' + Text(args->proxyStep.transSize);
  }
  return "";
}

Result State(void* handle, EventState state, Args* args) {
  std::lock_guard<std::mutex> lock(self.mutex);
  Event* const event = EventOf(handle, "state of an unknown handle");
  Check(state >= 0 && state <= kLastState[kVersion], "state " + std::to_string(state));
  if (event == nullptr) return Done();
  // Repeated while NCCL polls. Those of an operation come in an order that depends on time.
  event->seen |= uint32_t{1} << state;
  if (event->last_state == state || event->type == kProxyOp) return Done();
  event->last_state = state;
  event->states += ' ' + std::to_string(state) + SizeOf(args, state);
  return Done();
}

Result Finalize(void* context) {
  std::lock_guard<std::mutex> lock(self.mutex);
  Context* const comm = Known(self.contexts, context);
  Check(comm != nullptr && comm->is_open, "finalize of a context that is not open");
  if (comm != nullptr) comm->is_open = false;
  return Done();
}

/** Steps are started again and again while a buffer is not ready, so equal starts of a parent count once. */
__attribute__((destructor)) void WriteLog() {
  const char* folder = getenv("STRICT_LOG");
  if (folder == nullptr) return;
  std::map<std::string, int> lines;
  for (const Event* event : self.events) {
    ++lines[event->path + " :" + event->states + " seen " + Text(event->seen) + " stops " +
            std::to_string(event->stops)];
  }
  int open = 0;
  for (const Context* context : self.contexts) open += context->is_open;
  const char* rank = getenv("RANK");
  FILE* file =
      fopen((std::string(folder) + "/v" + std::to_string(kVersion) + "-rank" + Text(rank) + ".txt").c_str(), "a");
  if (file == nullptr) return;
  fprintf(file, "%d inits, %zu contexts, %d open\n", self.inits, self.contexts.size(), open);
  for (const auto& [what, times] : self.wrong) fprintf(file, "! %d x %s\n", times, what.c_str());
  for (const auto& [line, times] : lines) fprintf(file, "%d x %s\n", times, line.c_str());
  fclose(file);
}

auto InitOf() {
  if constexpr (kVersion <= 3) {
    return Init3;
  } else if constexpr (kVersion == 4) {
    return Init4;
  } else {
    return Init5;
  }
}

}  // namespace

#define STRICT_SYMBOL_OF(version) ncclProfiler_v##version
#define STRICT_SYMBOL(version) STRICT_SYMBOL_OF(version)
extern "C" {
__attribute__((visibility("default")))
Exported STRICT_SYMBOL(STRICT_VERSION) = {"strict", InitOf(), Start, Stop, State, Finalize};
__attribute__((constructor)) static void ForgetFinalize() {
  if (Does("no-finalize")) STRICT_SYMBOL(STRICT_VERSION).finalize = nullptr;
}
}
