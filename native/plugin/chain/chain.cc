#include "plugin/chain/chain.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/abi/callbacks.h"
#include "plugin/chain/handle_map.h"
#include "plugin/chain/interfaces.h"
#include "plugin/chain/other_plugin.h"
#include "plugin/events/events.h"
#include "plugin/process/old_libc.h"

namespace nccl_trace::chain {
namespace {

constexpr const char* kVariable = "NCCL_TRACE_CHAIN";

/** Not more than the recorder knows: it counts further ones and gives them one context for all. */
struct Comm {
  std::atomic<uint32_t> number;
  std::atomic<bool> is_ready;
  bool is_live;
  uint8_t opened;  // by plugin: its init has succeeded, so its finalize will come
  void* contexts[kMostPlugins];
  std::atomic<pthread_t> thread;  // that calls init
  std::atomic<int> initialising;  // 1 + the plugin whose init runs
};

/** An event's parent. A parent of another process (PXN) is only a number, and is handed on as it is. */
struct Parent {
  void* given;
  bool is_foreign;
  bool is_known;
  Row row;

  void* Of(int plugin) const { return is_foreign ? given : is_known ? row.theirs[plugin] : nullptr; }
};

class Chain {
 public:
  nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                        nccl_abi::Logger logger);
  void Close(void* context);

  bool RunsAs(int oldest, int newest) const { return running_ >= oldest && running_ <= newest; }
  uint32_t running() const { return static_cast<uint32_t>(running_); }
  uint32_t recorder_mask() const { return static_cast<uint32_t>(Load(recorder_mask_)); }
  uint64_t NewNumber(uint32_t bit, bool is_muted) { return map_.NewNumber(recorder.hot.tag, kKinds[bit], is_muted); }
  Parent Look(void* given);
  void HandStart(uint64_t number, void* context, uint64_t type, uint32_t bit, const Parent& parent, uint32_t recorded,
                 void* descriptor);
  void HandState(uint64_t number, nccl_abi::EventState state, void* args);
  void HandStop(uint64_t number);

 private:
  // Indexed by the number of the type's bit.
  static constexpr Kind kKinds[kUnknownBit + 1] = {Kind::kHost, Kind::kHost, Kind::kHost, Kind::kOps,  Kind::kSteps,
                                                   Kind::kOps,  Kind::kOps,  Kind::kOps,  Kind::kHost, Kind::kHost,
                                                   Kind::kHost, Kind::kHost, Kind::kHost, Kind::kHost, Kind::kHost,
                                                   Kind::kOps,  Kind::kOps};
  static constexpr uint64_t kParents = nccl_abi::kGroup | nccl_abi::kColl | nccl_abi::kP2p | nccl_abi::kGroupApi |
                                       nccl_abi::kCollApi | nccl_abi::kP2pApi | nccl_abi::kCeColl;
  /** A flag in a step's mask: the plugin has not taken the step's operation, so NCCL would report no states to it. */
  static constexpr uint32_t kWithoutStates = nccl_abi::kProxyCtrl;

  static Life LifeOf(uint64_t type, const void* descriptor);
  void LoadOthers(nccl_abi::Logger logger);
  void ReadNames(nccl_abi::Logger logger);
  bool IsCycle();
  Comm* Take(void*& context);
  Comm* Find(void* context);
  void InitOthers(Comm& comm, const CommunicatorInfo& info, nccl_abi::Logger logger);
  void LeaveOut(OtherPlugin& plugin, const char* why, nccl_abi::Logger logger);
  void Unload();
  void Publish();
  static void SyncMasks();
  static void OnForkInChild();
  static void Say(nccl_abi::Logger logger, const char* format, ...) __attribute__((format(printf, 2, 3)));

  pthread_mutex_t mutex_;
  int running_;  // the version that NCCL speaks, by the first communicator
  int count_;
  bool has_names_;
  bool is_usable_[kMostPlugins];
  OtherPlugin plugins_[kMostPlugins];
  HandleMap map_;
  uint32_t live_;
  uint32_t next_number_;
  Comm comms_[kMaxCommunicators];
  int recorder_mask_;  // what the recorder believes to be NCCL's
  int* mask_of_nccl_;
  int published_;
  nccl_abi::Logger logger_;
  char text_[256];
};

Chain chain;

// ---------------------------------------------------------------------------------------------------------------------
// Communicators

nccl_abi::Result Chain::Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                             nccl_abi::Logger logger) {
  *context = nullptr;
  pthread_mutex_lock(&mutex_);
  if (IsCycle()) {
    pthread_mutex_unlock(&mutex_);
    return nccl_abi::kSuccess;
  }
  if (live_++ == 0) {
    running_ = info.abi;
    LoadOthers(logger);
  }
  pthread_mutex_unlock(&mutex_);

  abi::Open(info, known_events, context, &recorder_mask_, logger);

  pthread_mutex_lock(&mutex_);
  recorder.NameHandles();
  Comm* comm = Take(*context);
  if (*context == nullptr) --live_;  // NCCL will not finalize it
  pthread_mutex_unlock(&mutex_);
  if (comm == nullptr) {
    Say(logger, "this communicator is not handed on: the process has more than %u", kMaxCommunicators);
  } else if (info.abi != running_) {
    Say(logger, "this communicator is not handed on: there is another NCCL in this process");
  } else {
    InitOthers(*comm, info, logger);
    comm->is_ready.store(true, std::memory_order_release);
  }

  pthread_mutex_lock(&mutex_);
  mask_of_nccl_ = mask;
  Publish();
  pthread_mutex_unlock(&mutex_);
  return nccl_abi::kSuccess;
}

void Chain::Close(void* context) {
  Comm* comm = Find(context);
  if (comm != nullptr) {
    pthread_mutex_lock(&mutex_);
    const uint8_t opened = comm->opened;
    comm->opened = 0;
    pthread_mutex_unlock(&mutex_);
    for (int i = 0; i < count_; ++i) {
      if ((opened >> i & 1) != 0) plugins_[i].table->finalize(comm->contexts[i]);
    }
  }
  abi::Finalize(context);
  pthread_mutex_lock(&mutex_);
  const bool was_live = comm != nullptr ? comm->is_live : IsOurContext(Number(context));
  if (comm != nullptr) comm->is_live = false;
  if (was_live && live_ > 0 && --live_ == 0) Unload();
  pthread_mutex_unlock(&mutex_);
}

/** A plugin that is called from here calls us: it hands on itself, and would never end. */
bool Chain::IsCycle() {
  const pthread_t self = pthread_self();
  for (Comm& comm : comms_) {
    const int plugin = comm.initialising.load(std::memory_order_relaxed) - 1;
    if (plugin < 0 || comm.thread.load(std::memory_order_relaxed) != self) continue;
    LeaveOut(plugins_[plugin], "it calls nccl-trace itself, which would never end", logger_);
    return true;
  }
  return false;
}

/** `context`: the recorder's, or made here if the recorder does not record. Null: there is no room. */
Comm* Chain::Take(void*& context) {
  uint32_t number = context != nullptr ? NumberOf(Number(context)) : next_number_;
  if (number == rank_file::kCommNone) return nullptr;
  if (context == nullptr) {
    for (uint32_t tried = 0; comms_[number % kMaxCommunicators].is_live; ++tried, ++number) {
      if (tried == kMaxCommunicators) return nullptr;
    }
    context =
        reinterpret_cast<void*>(recorder.hot.context_prefix | uint64_t{number} << rank_file::kHandlePositionShift);
  }
  next_number_ = number + 1;
  Comm& comm = comms_[number % kMaxCommunicators];
  comm.is_ready.store(false, std::memory_order_relaxed);
  comm.number.store(number, std::memory_order_relaxed);
  comm.is_live = true;
  comm.opened = 0;
  for (void*& each : comm.contexts) each = nullptr;
  return &comm;
}

Comm* Chain::Find(void* context) {
  if (!IsOurContext(Number(context))) return nullptr;
  const uint32_t number = NumberOf(Number(context));
  Comm& comm = comms_[number % kMaxCommunicators];
  return comm.number.load(std::memory_order_relaxed) == number ? &comm : nullptr;
}

void Chain::InitOthers(Comm& comm, const CommunicatorInfo& info, nccl_abi::Logger logger) {
  comm.thread.store(pthread_self(), std::memory_order_relaxed);
  for (int i = 0; i < count_; ++i) {
    OtherPlugin& plugin = plugins_[i];
    if (!plugin.takes.load(std::memory_order_relaxed)) continue;
    comm.initialising.store(i + 1, std::memory_order_relaxed);
    void* context = nullptr;
    const nccl_abi::Result result = plugin.Init(info, &context, logger);
    comm.initialising.store(0, std::memory_order_relaxed);
    char why[64];
    if (result != nccl_abi::kSuccess) {
      snprintf(why, sizeof(why), "its init failed with error %d", static_cast<int>(result));
      LeaveOut(plugin, why, logger);
    } else if (context == nullptr && Load(plugin.mask) == 0) {
      LeaveOut(plugin, "its init asked for nothing", logger);
    } else {
      comm.contexts[i] = context;
      if (context != nullptr || running_ <= 4) comm.opened |= static_cast<uint8_t>(1 << i);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Libraries

void Chain::LoadOthers(nccl_abi::Logger logger) {
  logger_ = logger;
  if (!has_names_) {
    ReadNames(logger);
    pthread_atfork(nullptr, nullptr, OnForkInChild);
  }
  has_names_ = true;
  const bool has_room = map_.Make(kMaxLayoutRings - 1);
  text_[0] = '\0';
  for (int i = 0; i < count_; ++i) {
    OtherPlugin& plugin = plugins_[i];
    const char* why = has_room ? nullptr : "not enough memory";
    if (is_usable_[i] && why == nullptr) why = plugin.Load(running_);
    for (int other = 0; other < i && why == nullptr && is_usable_[i]; ++other) {
      if (plugins_[other].library != plugin.library) continue;
      plugin.Unload();
      why = "it is named twice";
    }
    if (is_usable_[i] && why != nullptr) LeaveOut(plugin, why, logger);
    plugin.takes.store(is_usable_[i], std::memory_order_relaxed);
    const char* slash = strrchr(plugin.name, '/');
    const size_t used = strlen(text_);
    char version[16] = "left out";
    if (is_usable_[i]) snprintf(version, sizeof(version), "v%d", plugin.version);
    snprintf(text_ + used, sizeof(text_) - used, "%s%.60s(%s)", i > 0 ? ":" : "",
             slash != nullptr ? slash + 1 : plugin.name, version);
  }
  recorder.beside = {text_, SyncMasks};
}

void Chain::ReadNames(nccl_abi::Logger logger) {
  const char* rest = getenv(kVariable);
  while (rest != nullptr && *rest != '\0') {
    const size_t length = strcspn(rest, ":");
    const int shown = static_cast<int>(length < sizeof(plugins_[0].name) ? length : sizeof(plugins_[0].name) - 1);
    if (length > static_cast<size_t>(shown)) {
      Say(logger, "%.64s... is left out: its path has more than %zu bytes", rest, sizeof(plugins_[0].name) - 1);
    } else if (length > 0 && count_ == kMostPlugins) {
      Say(logger, "%.*s is left out: at most %d plugins", shown, rest, kMostPlugins);
    } else if (length > 0) {
      snprintf(plugins_[count_].name, sizeof(plugins_[0].name), "%.*s", shown, rest);
      is_usable_[count_++] = true;
    }
    rest += length + (rest[length] == ':');
  }
}

/** Nothing is recorded in the child. The others go on as without us. Another thread may have held the mutex. */
void Chain::OnForkInChild() {
  chain.mutex_ = PTHREAD_MUTEX_INITIALIZER;
  chain.map_.ForgetAfterFork();
  Store(chain.recorder_mask_, 0);
  chain.Publish();
}

void Chain::LeaveOut(OtherPlugin& plugin, const char* why, nccl_abi::Logger logger) {
  plugin.takes.store(false, std::memory_order_relaxed);
  is_usable_[&plugin - plugins_] = false;
  Say(logger, "%.255s is left out: %.512s", plugin.name, why);
}

/** The last communicator has ended: no calls come until the next init. */
void Chain::Unload() {
  mask_of_nccl_ = nullptr;  // libnccl may be unloaded now
  if (map_.lost() > 0) {
    Say(logger_, "%llu events of the other plugins were forgotten while they were open",
        static_cast<unsigned long long>(map_.lost()));
  }
  for (int i = 0; i < count_; ++i) plugins_[i].Unload();
  map_.Clear();
}

void Chain::Say(nccl_abi::Logger logger, const char* format, ...) {
  char text[1024];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  if (logger == nullptr) {  // before v4
    fprintf(stderr, "nccl-trace: %s: %s\n", kVariable, text);
  } else {
    logger(nccl_abi::kLogWarn, nccl_abi::kLogSubsysProfile | nccl_abi::kLogSubsysInit, "nccl-trace", 0,
           "nccl-trace: %s: %s", kVariable, text);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Masks. NCCL has one for all plugins: what any of them asks for.

void Chain::Publish() {
  int all = Load(recorder_mask_);
  for (int i = 0; i < count_; ++i) {
    if (plugins_[i].takes.load(std::memory_order_relaxed)) all |= Load(plugins_[i].mask);
  }
  published_ = all;
  if (mask_of_nccl_ != nullptr) Store(*mask_of_nccl_, all);
}

/**
 * Plugins may change their masks at any time, and NCCL's RAS NCCL's, which without us would be theirs. The recorder's thread
 * calls it once a second.
 */
void Chain::SyncMasks() {
  if (pthread_mutex_trylock(&chain.mutex_) != 0) return;
  if (chain.mask_of_nccl_ != nullptr) {
    const int now = Load(*chain.mask_of_nccl_);
    if (now != chain.published_) {
      Store(chain.recorder_mask_, now);
      for (OtherPlugin& plugin : chain.plugins_) Store(plugin.mask, now);
    }
    chain.Publish();
  }
  pthread_mutex_unlock(&chain.mutex_);
}

// ---------------------------------------------------------------------------------------------------------------------
// Events

Parent Chain::Look(void* given) {
  Parent parent;
  parent.given = given;
  parent.is_foreign = given != nullptr && !rank_file::HandleIsOurs(Number(given), recorder.hot.tag);
  parent.is_known = given != nullptr && !parent.is_foreign && map_.Find(Number(given), parent.row);
  return parent;
}

/** NCCL names captured calls as parents at each replay. */
Life Chain::LifeOf(uint64_t type, const void* descriptor) {
  const auto& d = *static_cast<const nccl_abi::Descriptor*>(descriptor);
  if ((type & kParents) == 0) return Life::kShort;
  const bool is_captured = (type == nccl_abi::kGroupApi && d.groupApi.graphCaptured) ||
                           (type == nccl_abi::kCollApi && d.collApi.graphCaptured) ||
                           (type == nccl_abi::kP2pApi && d.p2pApi.graphCaptured);
  return is_captured ? Life::kCaptured : Life::kLong;
}

void Chain::HandStart(uint64_t number, void* context, uint64_t type, uint32_t bit, const Parent& parent,
                      uint32_t recorded, void* descriptor) {
  const Comm* comm = Find(context);
  // Contexts of other processes (PXN) are handed on as they are, old ones of ours not at all.
  if (comm != nullptr ? !comm->is_ready.load(std::memory_order_acquire) : IsOurContext(Number(context))) return;
  Head& head = *static_cast<Head*>(descriptor);
  void** const group_place = GroupOf(running_, type, descriptor);
  void* const given_group = group_place != nullptr ? *group_place : nullptr;
  Parent group = {};
  if (group_place != nullptr) group = Look(given_group);
  const Life life = LifeOf(type, descriptor);
  bool is_taken = life != Life::kShort;
  Row row = {};
  row.SetMask(kRecorder, recorded);
  for (int i = 0; i < count_; ++i) {
    OtherPlugin& plugin = plugins_[i];
    const uint32_t mask = parent.is_known ? parent.row.MaskOf(1 + i) : static_cast<uint32_t>(Load(plugin.mask));
    // Before v5 the parent was what is the second one now.
    void* const own_parent = group_place != nullptr && plugin.version < 5 ? group.Of(i) : parent.Of(i);
    const bool is_step = type == nccl_abi::kProxyStep;
    row.SetMask(1 + i, !is_step ? mask : own_parent == nullptr ? mask | kWithoutStates : mask & ~kWithoutStates);
    if (!plugin.takes.load(std::memory_order_relaxed) || !IsReported(running_, bit, mask)) continue;
    if (plugin.version < running_ && (type & kTypes[plugin.version]) == 0) continue;
    if (own_parent == nullptr && NeedsParent(running_, type)) continue;
    head.parent = own_parent;
    if (group_place != nullptr) *group_place = group.Of(i);
    OldDescriptors room;
    void* const own_context = comm != nullptr ? comm->contexts[i] : context;
    plugin.table->startEvent(own_context, &row.theirs[i],
                             DescriptorFor(plugin.version, running_, type, descriptor, room));
    is_taken = true;
  }
  head.parent = parent.given;
  if (group_place != nullptr) *group_place = given_group;
  if (is_taken) map_.Insert(number, life, row);
}

void Chain::HandState(uint64_t number, nccl_abi::EventState state, void* args) {
  Row row;
  if (!map_.Find(number, row)) return;
  const bool is_step_state = (state >= nccl_abi::kStepSendGpuWait && state <= nccl_abi::kStepRecvGpuWait) ||
                             state == nccl_abi::kStepSendPeerWait;
  for (int i = 0; i < count_; ++i) {
    const OtherPlugin& plugin = plugins_[i];
    if (row.theirs[i] == nullptr || !plugin.takes.load(std::memory_order_relaxed)) continue;
    if (is_step_state && (row.MaskOf(1 + i) & kWithoutStates) != 0) continue;
    AnyStateArgs room;
    void* own_args = args;
    if (!StateFor(plugin.version, running_, state, own_args, room)) continue;
    plugin.table->recordEventState(row.theirs[i], state, own_args);
  }
}

void Chain::HandStop(uint64_t number) {
  Row row;
  if (!map_.Find(number, row, true)) return;
  for (int i = 0; i < count_; ++i) {
    const OtherPlugin& plugin = plugins_[i];
    if (row.theirs[i] == nullptr || !plugin.takes.load(std::memory_order_relaxed)) continue;
    plugin.table->stopEvent(row.theirs[i]);
  }
}

/** Whether the event was asked for by other plugins only. The recorder never sees its number. */
bool IsOnlyOthers(void* handle) {
  const uint64_t number = Number(handle);
  return rank_file::HandleIsOurs(number, recorder.hot.tag) && rank_file::HandleRing(number) == kOwnRing &&
         (number & rank_file::kHandleMuted) == 0;
}

/** The versions that have this descriptor. */
template <typename Descriptor>
constexpr int kOldest = 5;
template <>
constexpr int kOldest<nccl_abi::v1::Descriptor> = 1;
template <>
constexpr int kOldest<nccl_abi::v2::Descriptor> = 2;
template <>
constexpr int kOldest<nccl_abi::v3::Descriptor> = 3;
template <>
constexpr int kOldest<nccl_abi::v4::Descriptor> = 4;
template <>
constexpr int kOldest<nccl_abi::v7::Descriptor> = 7;

/** The recorder's part of a start. Returns the number that NCCL gets. */
template <typename Descriptor>
uint64_t Record(void* context, Descriptor& d, uint64_t type, uint32_t bit) {
  void** const group = GroupOf(kOldest<Descriptor>, type, &d);
  void* const given_parent = d.parentObj;
  void* const given_group = group != nullptr ? *group : nullptr;
  if (Unlikely(IsOnlyOthers(given_parent))) d.parentObj = nullptr;
  if (Unlikely(IsOnlyOthers(given_group))) *group = nullptr;
  void* handle = nullptr;
  abi::StartEvent(context, &handle, &d);
  d.parentObj = given_parent;
  if (group != nullptr) *group = given_group;
  // The recorder has one number for all muted events.
  return IsMuted(Number(handle)) ? chain.NewNumber(bit, true) : Number(handle);
}

}  // namespace

bool IsWanted() {
  const char* value = getenv(kVariable);
  return value != nullptr && value[0] != '\0';
}

nccl_abi::Result Open(const CommunicatorInfo& info, int known_events, void** context, int* mask,
                      nccl_abi::Logger logger) {
  return chain.Open(info, known_events, context, mask, logger);
}

template <typename Descriptor>
nccl_abi::Result StartEvent(void* context, void** handle, Descriptor* descriptor) {
  constexpr int kNewestOfIt = kOldest<Descriptor> == 5 ? 6 : kOldest<Descriptor>;
  if (Unlikely(!chain.RunsAs(kOldest<Descriptor>, kNewestOfIt))) return abi::StartEvent(context, handle, descriptor);
  const uint64_t type = descriptor->type;
  const uint32_t bit = BitOf(type);
  const Parent parent = chain.Look(descriptor->parentObj);
  const uint32_t mask = parent.is_known ? parent.row.MaskOf(kRecorder) : chain.recorder_mask();
  const bool is_recorded = IsReported(static_cast<int>(chain.running()), bit, mask);
  const uint64_t number = is_recorded ? Record(context, *descriptor, type, bit) : chain.NewNumber(bit, false);
  *handle = reinterpret_cast<void*>(number);
  chain.HandStart(number, context, type, bit, parent, mask, descriptor);
  return nccl_abi::kSuccess;
}
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::v1::Descriptor*);
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::v2::Descriptor*);
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::v3::Descriptor*);
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::v4::Descriptor*);
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::Descriptor*);
template nccl_abi::Result StartEvent(void*, void**, nccl_abi::v7::Descriptor*);

nccl_abi::Result StopEvent(void* handle) {
  if (!IsOnlyOthers(handle)) abi::StopEvent(handle);
  if (handle != nullptr) chain.HandStop(Number(handle));
  return nccl_abi::kSuccess;
}

template <typename StateArgs>
nccl_abi::Result RecordEventState(void* handle, nccl_abi::EventState state, StateArgs* args) {
  if (!IsOnlyOthers(handle)) abi::RecordEventState(handle, state, args);
  if (handle != nullptr) chain.HandState(Number(handle), state, args);
  return nccl_abi::kSuccess;
}
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgsBeforeV4*);
template nccl_abi::Result RecordEventState(void*, nccl_abi::EventState, nccl_abi::StateArgs*);

nccl_abi::Result Finalize(void* context) {
  chain.Close(context);
  return nccl_abi::kSuccess;
}

}  // namespace nccl_trace::chain
