#include "plugin/events/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "plugin/process/event_names.h"
#include "plugin/process/loaded_library.h"
#include "plugin/process/old_libc.h"

namespace nccl_trace {

// Zeroed memory without constructor and destructor, because callbacks may come before main and after exit.
Recorder recorder;
__thread CurrentProducer current_producer;

namespace {

constexpr uint64_t kCloseWaitMs = 200;

/** 17 bits that no user-space pointer has in this combination. 15 of them are random. */
uint64_t MakeTag() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
    random = (ReadClockNs(CLOCK_REALTIME) ^ static_cast<uint64_t>(getpid()) << 32) * 0x9E3779B97F4A7C15u;
  }
  return (random & rank_file::kHandleTagMask) | rank_file::kHandleTagFixedBits;
}

/** Number of local ranks: from the launcher, else from the communicator, else the GPUs of a node. */
uint32_t LocalRanks(const Settings& settings, const CommunicatorInfo& info) {
  if (settings.rank.local_size > 0) return static_cast<uint32_t>(settings.rank.local_size);
  return info.ranks > 0 && info.nodes > 0 ? static_cast<uint32_t>((info.ranks - 1) / info.nodes + 1) : 8;
}

}  // namespace

void* Recorder::OpenCommunicator(const CommunicatorInfo& info, int known_events, int* mask, const Log& log) {
  if (state_.load(std::memory_order_acquire) == kForkedAway) return nullptr;
  pthread_mutex_lock(&mutex_);
  void* context = nullptr;
  if (state_.load(std::memory_order_relaxed) != kIdle || Start(info, log.logger != nullptr ? log.logger : mask, log)) {
    if (state_.load(std::memory_order_relaxed) == kRecording) {
      if (communicators_.live_count() == 0) {
        thread_.Request(rank_file::kRecording);
        thread_.Await(rank_file::kRecording, kCloseWaitMs);
      }
      const uint32_t number = communicators_.Open(info, hot.Tick());
      if (number == rank_file::kCommNone) {
        __atomic_fetch_add(&image_.header().communicators_lost, 1, __ATOMIC_RELAXED);
      }
      context = reinterpret_cast<void*>(hot.context_prefix | uint64_t{number} << rank_file::kHandlePositionShift);
      const bool is_first = mask_of_nccl_ == nullptr;
      mask_of_nccl_ = mask;
      known_events_ = known_events;
      mask_at_init_ = static_cast<int>(event_mask_ & static_cast<uint64_t>(known_events));
      const int stored = StoreMask();
      // Not by later ones: NCCL stores the mask of its RAS again after each init.
      if (is_first) told_mask_ = stored;
    }
  }
  pthread_mutex_unlock(&mutex_);
  return context;
}

void Recorder::CloseCommunicator(void* context) {
  if (state_.load(std::memory_order_acquire) != kRecording) return;
  const uint64_t handle = reinterpret_cast<uint64_t>(context);
  if (!IsOurs(handle)) return;  // NULL, or garbage
  pthread_mutex_lock(&mutex_);
  // False: finalized before.
  if (communicators_.Close(static_cast<uint32_t>(rank_file::HandlePosition(handle)), hot.Tick()) &&
      communicators_.live_count() == 0) {
    mask_of_nccl_ = nullptr;  // libnccl may be unloaded now
    thread_.Request(rank_file::kClosed);
    thread_.Await(rank_file::kClosed, kCloseWaitMs);
  }
  pthread_mutex_unlock(&mutex_);
}

void Recorder::NameHandles() {
  if (hot.tag == 0) UseTag(MakeTag());
}

void Recorder::UseTag(uint64_t tag) {
  hot.tag = tag;
  hot.context_prefix = tag | uint64_t{rank_file::kContextRing} << rank_file::kHandleRingShift;
}

/** NCCL's threads read the mask at any time, relaxed. Bits that were off at init stay off. */
int Recorder::StoreMask() {
  const int mask = mask_at_init_ & static_cast<int>(wanted_events_);
  __atomic_store_n(mask_of_nccl_, mask, __ATOMIC_RELAXED);
  return mask;
}

bool Recorder::ApplyControl(uint64_t events, uint64_t sample_every) {
  Recorder& self = recorder;
  // Not a plain lock: its holder may be waiting for this thread.
  if (pthread_mutex_trylock(&self.mutex_) != 0) return false;
  self.wanted_events_ = events & self.event_mask_;
  if (self.mask_of_nccl_ != nullptr) self.told_mask_ = self.StoreMask();
  self.hot.SampleEach(sample_every);
  pthread_mutex_unlock(&self.mutex_);
  return true;
}

bool Recorder::FindForeignEvents(uint64_t& events) {
  Recorder& self = recorder;
  if (self.beside.sync_masks != nullptr) self.beside.sync_masks();
  if (pthread_mutex_trylock(&self.mutex_) != 0) return false;
  const int mask =
      self.mask_of_nccl_ != nullptr ? __atomic_load_n(self.mask_of_nccl_, __ATOMIC_RELAXED) : self.told_mask_;
  const bool is_foreign = mask != self.told_mask_;
  self.told_mask_ = mask;
  // What NCCL cannot report anyway stays as it is.
  events = static_cast<uint32_t>(mask) | (self.event_mask_ & ~static_cast<uint64_t>(self.known_events_));
  pthread_mutex_unlock(&self.mutex_);
  return is_foreign;
}

/** Called by the first init of this process. False: nothing is recorded, now or later. */
bool Recorder::Start(const CommunicatorInfo& info, const void* caller, const Log& log) {
  Complaints complaints;
  ReadSettings(order_.settings, info.abi, complaints);
  order_.settings.chain = beside.text;
  for (int i = 0; i < complaints.count(); ++i) log.Warn(complaints[i]);
  if (order_.settings.event_mask == 0) {
    log.Info("nccl-trace: recording nothing, as asked (NCCL_TRACE_EVENTS or NCCL_PROFILE_EVENT_MASK)");
    state_.store(kStoodAside, std::memory_order_relaxed);
    return false;
  }
  order_.layout =
      MakeFileLayout(order_.settings.ring_bytes, ExpectProxies(order_.settings.rank.rank >= 0, info.ranks, info.nodes));
  order_.tag = MakeTag();
  order_.local_ranks = LocalRanks(order_.settings, info);
  order_.event_mask = event_mask_ = wanted_events_ = order_.settings.event_mask;
  const LoadedLibrary nccl(caller);
  const bool is_rccl = nccl.IsNamed("rccl");
  hot.has_user_tags = info.abi == 7 && !is_rccl;
  order_.nccl_version = is_rccl ? 0 : nccl.NcclVersion();  // RCCL's numbers are those of other code
  order_.apply = ApplyControl;
  order_.find_foreign_events = FindForeignEvents;

  scratch_ = static_cast<Scratch*>(MapAnonymous(sizeof(Scratch)));
  const bool can_start = scratch_ != nullptr && pthread_key_create(&exit_key_, OnThreadExit) == 0 &&
                         pthread_atfork(nullptr, nullptr, OnForkInChild) == 0 && thread_.Start(order_);
  if (!can_start) {
    StandAside(log, "not enough memory or thread keys");
    return false;
  }
  const Image image = thread_.AwaitImage();
  if (image.base == nullptr) {
    StandAside(log, "not enough memory for the rings (NCCL_TRACE_RING_MB)");
    return false;
  }
  UseImage(image);
  Announce(log);
  // Release: a thread that sees kRecording sees everything above (partner: Attach).
  state_.store(kRecording, std::memory_order_release);
  return true;
}

void Recorder::StandAside(const Log& log, const char* why) {
  char text[256];
  snprintf(text, sizeof(text), "nccl-trace: not recording: %s", why);
  log.Warn(text);
  state_.store(kStoodAside, std::memory_order_relaxed);
}

void Recorder::UseImage(const Image& image) {
  const FileLayout& layout = order_.layout;
  image_ = image;
  owner_ = getpid();
  UseTag(order_.tag);
  hot.SampleEach(order_.settings.sample_every);
  hot.tick_source = thread_.tick_source();
  hot.edge_ticks = thread_.abandoned() ? 0 : thread_.tick_hz() / 10'000;

  rank_file::FileHeader& header = image.header();
  const auto table = [&](uint32_t area) -> const rank_file::AreaEntry& { return layout.areas[area]; };
  const auto& communicators = table(layout.communicators);
  communicators_.Use(image.slots(communicators), image.live(communicators), communicators.capacity);
  const auto& strings = table(layout.strings);
  strings_.Use(image.slots(strings), image.live(strings), strings.capacity, &header.strings_lost);
  const auto& leases = table(layout.leases);
  leases_.Use(image.slots(leases), image.live(leases), leases.capacity, &header.leases_lost);
  UseRings(image);
}

void Recorder::UseRings(const Image& image) {
  const FileLayout& layout = order_.layout;
  for (uint32_t i = 0; i <= layout.overflow; ++i) {
    const rank_file::AreaEntry& area = layout.areas[i];
    Ring& ring = scratch_->rings[i];
    ring.slots = image.slots(area);
    ring.mask = area.capacity - 1;
    ring.live = image.live(area);
    ring.folds = image.folds(area);
    ring.fold_mask = area.fold_capacity - 1;
    ring.handle_prefix = rank_file::MakeHandle(hot.tag, i, 0);
    ring.shared = i == layout.overflow;
    ring.index = i;
  }
  for (uint32_t i = 0; i < layout.proxies; ++i) {
    Producer& producer = scratch_->proxies[i];
    producer.steps = &scratch_->rings[2 * i];
    producer.rest = &scratch_->rings[2 * i + 1];
    producer.last_starts = &scratch_->proxy_starts[i];
    producer.connections.Use(scratch_->proxy_connections[i], 4096);
  }
  for (uint32_t i = 0; i < kHostRings; ++i) {
    Producer& producer = scratch_->hosts[i];
    producer.steps = producer.rest = &scratch_->rings[layout.first_host + i];
    producer.last_starts = &scratch_->host_starts[i];
    producer.connections.Use(scratch_->host_connections[i], 1024);
  }
  scratch_->overflow.steps = scratch_->overflow.rest = &scratch_->rings[layout.overflow];
}

/** One line that says whether and where this process records. */
void Recorder::Announce(const Log& log) {
  char text[4600];
  char what[160];
  char rings[64 + sizeof(RingFile::path)];
  DescribeRecording(what, sizeof(what));
  const bool in_ring_file = image_.placement == rank_file::kInRingFile;
  const char* in_memory = in_ring_file ? thread_.ring_file().path : "memory";
  if (in_ring_file) {
    snprintf(rings, sizeof(rings), "rings in %s, copied every 2 s", in_memory);
  } else {
    snprintf(rings, sizeof(rings), "rings in %s",
             image_.placement == rank_file::kInFile ? "the file" : "memory, copied every 2 s");
  }
  if (!thread_.abandoned() && thread_.ring_file().failed != nullptr) {
    snprintf(text, sizeof(text), "nccl-trace: NCCL_TRACE_RING_DIR=%s cannot be used (%s); %s",
             order_.settings.ring_directory, thread_.ring_file().failed, rings);
    log.Warn(text);
  }
  if (thread_.late()) {
    snprintf(text, sizeof(text),
             "nccl-trace: the rank file below %.2048s is not there after 1.7 s; recording into %s meanwhile",
             order_.settings.directory, in_memory);
    log.Warn(text);
    snprintf(text, sizeof(text), "nccl-trace: recording into %s, %s", in_memory, what);
  } else if (thread_.file().error != 0) {
    snprintf(text, sizeof(text), "nccl-trace: could not %s %.3800s: %s; recording into %s%s", thread_.file().failed,
             thread_.file().path, strerror(thread_.file().error), in_memory,
             in_ring_file ? "" : ", which a crash will lose");
    log.Warn(text);
    snprintf(text, sizeof(text), "nccl-trace: recording into %s, %s", in_memory, what);
  } else {
    snprintf(text, sizeof(text), "nccl-trace: recording to %.3800s, %s, %s", thread_.file().path, what, rings);
  }
  const char* const shared = thread_.late() || thread_.abandoned() ? "" : thread_.file().shared;
  if (shared[0] != '\0') {
    const size_t length = strlen(text);
    snprintf(text + length, sizeof(text) - length, "; %s", shared);
    log.Warn(text);
  } else {
    log.Info(text);
  }
  if (!thread_.has_thread()) {
    log.Warn(
        "nccl-trace: the limit of processes (ulimit -u, or pids.max of the control group) leaves no room for a thread "
        "of the recorder: no heartbeats, "
        "and the "
        "rank file is written when the last communicator or the process ends");
  }
  const Retention& retention = order_.settings.retention;
  if (retention.keep[0] == '\0') return;
  snprintf(text, sizeof(text), "nccl-trace: removing old runs from %.2048s: NCCL_TRACE_KEEP=%s%s%s",
           order_.settings.directory, retention.keep, retention.even[0] != '\0' ? ", NCCL_TRACE_PRUNE_EVEN=" : "",
           retention.even);
  log.Info(text);
}

/** Mode, mask and bytes. In stream mode also the limit and the codec of the chunks. */
void Recorder::DescribeRecording(char* text, uint64_t size) const {
  const auto megabytes = [](uint64_t bytes) { return static_cast<unsigned long long>(bytes >> 20); };
  const unsigned long long mask = event_mask_;
  const unsigned long long bytes = order_.layout.file_bytes;
  if (!thread_.streams()) {
    snprintf(text, size, "mode flight, mask 0x%llx, %llu bytes", mask, bytes);
  } else if (order_.settings.max_bytes == 0) {
    snprintf(text, size, "mode stream, mask 0x%llx, %llu bytes and %s chunks without limit", mask, bytes,
             ChunkCodec::kName);
  } else {
    snprintf(text, size, "mode stream, mask 0x%llx, %llu bytes and %s chunks up to %llu MB", mask, bytes,
             ChunkCodec::kName, megabytes(order_.settings.max_bytes));
  }
}

Producer* Recorder::Attach(bool proxy) {
  if (state_.load(std::memory_order_acquire) != kRecording) return nullptr;
  Producer* producer = TakeProducer(proxy);
  current_producer.Set(*producer, !producer->shared() && hot.tick_source == kCounterSource);
  if (producer->shared()) {
    __atomic_fetch_add(&image_.header().threads_overflowed, 1, __ATOMIC_RELAXED);
    return producer;
  }
  BeginLeases(*producer);
  pthread_setspecific(exit_key_, producer);
  return producer;
}

/** A proxy thread prefers proxy rings. All threads may use the pool. The rest share the overflow ring. */
Producer* Recorder::TakeProducer(bool proxy) {
  const auto take = [](Producer& producer) {
    uint32_t free = 0;
    return producer.taken.compare_exchange_strong(free, 1, std::memory_order_acquire);
  };
  for (uint32_t i = 0; proxy && i < order_.layout.proxies; ++i) {
    if (take(scratch_->proxies[i])) return &scratch_->proxies[i];
  }
  for (Producer& host : scratch_->hosts) {
    if (take(host)) return &host;
  }
  return &scratch_->overflow;
}

void Recorder::BeginLeases(Producer& producer) {
  const uint64_t tick = hot.Tick();
  producer.connections.Clear();
  producer.ctrl = {};
  producer.leases[0] = leases_.Begin(*producer.rest, tick);
  producer.leases[1] = producer.steps != producer.rest ? leases_.Begin(*producer.steps, tick) : Leases::kNone;
}

void Recorder::Retire(Producer& producer) {
  const uint64_t tick = hot.Tick();
  leases_.End(producer.leases[0], *producer.rest, tick);
  leases_.End(producer.leases[1], *producer.steps, tick);
  producer.taken.store(0, std::memory_order_release);
}

/** Runs on the ending thread. If a callback follows, it attaches again, and the C library calls this again. */
void Recorder::OnThreadExit(void* producer) {
  current_producer = {};
  if (recorder.state_.load(std::memory_order_acquire) == kRecording) {
    recorder.Retire(*static_cast<Producer*>(producer));
  }
}

/** Runs at exit() or return from main without finalize. In a forked child the state is kForkedAway. */
void Recorder::OnProcessExit() {
  if (recorder.state_.load(std::memory_order_acquire) != kRecording) return;
  if (getpid() != recorder.owner_) return;  // a child for which no fork handler ran
  recorder.thread_.Leave();
}

__attribute__((destructor)) void CloseAtExit() { Recorder::OnProcessExit(); }

/**
 * The child has our memory but not our thread. It must not write into the parent's file, not even in a destructor. Only
 * async-signal-safe calls are allowed here, right after a fork.
 */
void Recorder::OnForkInChild() {
  Recorder& self = recorder;
  current_producer = {};
  if (self.state_.load(std::memory_order_relaxed) != kRecording) {
    self.state_.store(kForkedAway, std::memory_order_relaxed);  // the fork may have happened during Start,
    self.thread_.ForgetAfterFork();                             // so there may be sockets and a file
    return;
  }
  self.state_.store(kForkedAway, std::memory_order_relaxed);
  if (self.mask_of_nccl_ != nullptr) __atomic_store_n(self.mask_of_nccl_, 0, __ATOMIC_RELAXED);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  mmap(self.image_.base, self.image_.bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  mmap(self.scratch_, sizeof(Scratch), PROT_READ | PROT_WRITE, flags, -1, 0);
  self.thread_.ForgetAfterFork();
}

}  // namespace nccl_trace
