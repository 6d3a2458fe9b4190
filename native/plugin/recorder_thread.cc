#include "plugin/recorder_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/control.h"
#include "plugin/futex.h"
#include "plugin/own_thread.h"
#include "plugin/ring.h"
#include "plugin/saved_rings.h"

namespace nccl_trace {
namespace {

// Init returns within 2 s, and what there is instead of a file takes its time as well.
constexpr uint64_t kInitWaitMs = 1'700;
constexpr uint64_t kLeaveWaitMs = 200;
constexpr uint64_t kLeaveWaitIfInMemoryMs = 2'000;
constexpr uint64_t kBeatNs = 1'000'000'000;
constexpr uint64_t kBeatsPerCopy = kCopyIntervalMs / 1'000;
constexpr uint64_t kBeatsPerRetry = 30;
constexpr uint64_t kCalibrationNs = 10'000'000;
constexpr int kNice = 10;
constexpr int kFirstTries = 64;
constexpr int kTries = 16;
constexpr uint64_t kForeverNs = ~uint64_t{0};

/**
 * Main has ended by pthread_exit, and so have all other threads: the process would go on for ours alone. When ours ends as
 * well the C library calls exit(0), as it would have done without us.
 */
bool IsLeftAlone() {
  ProcessStat self;
  return ReadProcessStat("self", self) && self.state == 'Z' && self.threads == 2;
}

void SleepUntil(uint64_t monotonic_ns) {
  timespec until;
  until.tv_sec = static_cast<time_t>(monotonic_ns / 1'000'000'000u);
  until.tv_nsec = static_cast<long>(monotonic_ns % 1'000'000'000u);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace

bool RecorderThread::Start(const Order& order) {
  order_ = order;
  file_.fd = ring_file_.lock = -1;
  copy_.Use(-1, &order_.plan);
  if (streams() && !(drainer_.Allocate() && chunks_.Allocate())) return false;
  life_.store(rank_file::kCreating, std::memory_order_relaxed);
  wanted_life_.store(rank_file::kRecording, std::memory_order_relaxed);

  // The new thread inherits the mask: a SIGXFSZ of our own writes, or the application's SIGALRM, never runs a handler
  // there, from its first instruction on.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &job_mask_);
  const bool has_begun = StartThread(Main, this);
  sigprocmask(SIG_SETMASK, &job_mask_, nullptr);
  return has_begun;
}

Image RecorderThread::AwaitImage() {
  const uint64_t deadline = DeadlineIn(kInitWaitMs);
  for (;;) {
    const uint32_t phase = phase_.load(std::memory_order_acquire);
    if (phase == kReady) return image_;
    if (!WaitWhile(phase_, phase, deadline)) return GoOnWithoutFile();
  }
}

/** The disk is not coming. Record without it, and let the thread find out whenever it can. */
Image RecorderThread::GoOnWithoutFile() {
  const auto take_ring_file = [this] {
    uint32_t ring_ready = kRingReady;
    return phase_.compare_exchange_strong(ring_ready, kLate, std::memory_order_acq_rel) || ring_ready == kReady;
  };
  if (take_ring_file()) return image_;
  uint32_t undecided = 0;
  tick_source_.compare_exchange_strong(undecided, rank_file::kTickMonotonic);
  const Image anonymous = AnonymousImage(order_.plan.file_bytes);
  // `abandoned_image_` must be complete before the phase says so (release; partner: TakeAbandonedImage's acquire).
  abandoned_image_ = anonymous;
  uint32_t starting = kStarting;
  if (phase_.compare_exchange_strong(starting, kAbandoned, std::memory_order_acq_rel)) return anonymous;
  // It came in the last moment.
  if (anonymous.base != nullptr) munmap(anonymous.base, anonymous.bytes);
  take_ring_file();
  return image_;
}

void RecorderThread::Request(rank_file::Life life) {
  wanted_life_.store(life, std::memory_order_relaxed);
  // Release: the thread that sees the new count sees the wish (partner: the acquire load in Loop).
  wake_.fetch_add(1, std::memory_order_release);
  WakeAll(wake_);
  beacons_.Wake();
}

bool RecorderThread::Await(rank_file::Life life, uint64_t milliseconds) {
  const uint64_t deadline = DeadlineIn(milliseconds);
  for (;;) {
    const uint32_t now = life_.load(std::memory_order_acquire);
    if (now == life) return true;
    if (!WaitWhile(life_, now, deadline)) return false;
  }
}

void RecorderThread::Leave() {
  if (has_ended_) {
    CopyToFile();
    return GiveBack();
  }
  leaving_.store(1, std::memory_order_relaxed);
  Request(rank_file::kClosed);
  const bool all_is_in_memory = abandoned() && !has_copied_.load(std::memory_order_acquire);
  WaitWhile(left_, 0, DeadlineIn(all_is_in_memory ? kLeaveWaitIfInMemoryMs : kLeaveWaitMs));
}

void RecorderThread::ForgetAfterFork() {
  // The file must not stay open, and its disk space in use, for as long as a child lives.
  CloseIfStill(file_.fd, file_.identity);
  file_.fd = -1;
  ForgetRingFile(ring_file_);
  beacons_.ForgetAfterFork();
}

void* RecorderThread::Main(void* self) {
  static_cast<RecorderThread*>(self)->Run();
  return nullptr;
}

void RecorderThread::Run() {
  SettleThread();
  ChooseClock();
  host_ = CollectHostFacts();
  self_ = {host_.pid_namespace, static_cast<uint64_t>(getpid()), host_.process_start, order_.tag};
  OfferRingFile();
  CreateFile();
  OfferFile();
  if (image_.base == nullptr) return;
  UseFile();
  GiveWay();
  neighbours_.Use(&ring_file_, file_.real_path, &self_, &host_);
  Loop();
}

void RecorderThread::SettleThread() {
  prctl(PR_SET_NAME, "nccl-trace");
  // Started by a thread of NCCL's, which may be pinned to a core that it keeps busy: take the process's choice.
  cpu_set_t cpus;
  if (sched_getaffinity(getpid(), sizeof(cpus), &cpus) == 0) sched_setaffinity(0, sizeof(cpus), &cpus);
}

/** Not before: while init waits for its image this thread has to be as urgent as init is. A job may be nicer yet. */
void RecorderThread::GiveWay() {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  if (getpriority(PRIO_PROCESS, self) < kNice) setpriority(PRIO_PROCESS, self, kNice);
}

void RecorderThread::ChooseClock() {
  const uint32_t chosen = ChooseTickSource();
  uint32_t undecided = 0;
  tick_source_.compare_exchange_strong(undecided, chosen);
  start_ = SampleClocks(tick_source(), kFirstTries);
}

void RecorderThread::MeasureTicks() {
  SleepUntil(start_.monotonic + kCalibrationNs);
  tick_hz_ = MeasureTickHz(tick_source(), start_, SampleClocks(tick_source(), kFirstTries));
}

/** In memory, so nothing here waits for a disk: whatever becomes of the rank file, this is recorded and kept. */
void RecorderThread::OfferRingFile() {
  const Image image = CreateRingFile(order_.settings, self_, order_.plan.file_bytes, order_.local_ranks, ring_file_);
  MeasureTicks();
  if (image.base == nullptr) return;
  image_ = image;
  FinishHeader();
  uint32_t starting = kStarting;
  if (phase_.compare_exchange_strong(starting, kRingReady, std::memory_order_acq_rel)) {
    WakeAll(phase_);
    return;
  }
  RemoveRingFile(ring_file_);
  ForgetRingFile(ring_file_);
  ring_file_.path[0] = '\0';
  TakeAbandonedImage();
}

void RecorderThread::CreateFile() {
  FolderOf(order_.settings, folder_);
  if (image_.placement == rank_file::kInRingFile) {
    FirstPath(folder_, order_.settings, host_, file_.path);
    NameRankFile(image_, file_.path);
  }
  const FileUse use = image_.base == nullptr ? FileUse::kToBeMapped : FileUse::kWrittenOnly;
  CreateRankFile(folder_, order_.settings, host_, order_.plan.file_bytes, use, file_);
}

/** Without a ring file the rank file, mapped, or memory is offered to init; if init has gone on, its image is the one. */
void RecorderThread::OfferFile() {
  if (image_.base == nullptr && phase_.load(std::memory_order_acquire) == kStarting) {
    if (file_.fd >= 0) image_ = MapRankFile(file_, order_.plan.file_bytes);
    if (image_.base == nullptr) image_ = AnonymousImage(order_.plan.file_bytes);
    if (image_.base != nullptr) FinishHeader();
  }
  uint32_t phase = phase_.load(std::memory_order_acquire);
  while (phase == kStarting || phase == kRingReady) {
    if (!phase_.compare_exchange_weak(phase, kReady, std::memory_order_acq_rel)) continue;
    WakeAll(phase_);
    return;
  }
  if (phase == kAbandoned) TakeAbandonedImage();
}

void RecorderThread::TakeAbandonedImage() {
  if (image_.base == abandoned_image_.base) return;
  if (image_.base != nullptr) munmap(image_.base, image_.bytes);
  image_ = abandoned_image_;
  if (image_.base != nullptr) FinishHeader();
}

/** From here on the image is decided. */
void RecorderThread::UseFile() {
  if (file_.fd < 0) CountIoError();
  if (image_.placement != rank_file::kInFile) {
    copy_.Use(file_.fd, &order_.plan);
    if (!copy_.has_file()) return;
    if (image_.placement == rank_file::kInRingFile) NameRankFile(image_, file_.real_path);
    if (!copy_.CopyHeader(image_)) CountIoError();
  } else if (!streams()) {
    const int fd = file_.fd;
    file_.fd = -1;  // first: a fork in between must not close what may be another file by then
    close(fd);      // the mapping keeps it
  }
}

void RecorderThread::FinishHeader() {
  WriteHeader(image_, {&order_.settings, &host_, &order_.plan, order_.tag, order_.event_mask, tick_source(), tick_hz_,
                       start_, ring_file_.path});
  rank_file::FileHeader& header = image_.header();
  Store(header.mask_now, order_.event_mask);
  Store(header.sample_now, order_.settings.sample_every);
  // Last (release): whoever sees kRecording in the live file sees a complete header.
  __atomic_store_n(&header.life, static_cast<uint32_t>(rank_file::kRecording), __ATOMIC_RELEASE);
}

/** Ends when the process is about to. */
void RecorderThread::Loop() {
  uint64_t next_beat = 0;
  uint32_t handled = 0;
  if (streams()) {
    chunks_.Use(file_.fd, image_);
    drainer_.Use(image_, &order_.plan, &chunks_);
  }
  beacons_.Begin(host_, tick_source(), tick_hz_);
  beacon_tables_.Use(image_, order_.plan);
  BeaconExchange exchange;
  for (;;) {
    const uint32_t seen = wake_.load(std::memory_order_acquire);
    const auto wanted = static_cast<rank_file::Life>(wanted_life_.load(std::memory_order_relaxed));
    if (wanted != life_.load(std::memory_order_relaxed)) {
      Turn(wanted);
      next_beat = 0;
    } else if (wanted == rank_file::kClosed && seen != handled) {
      CopyToFile();  // asked again: there were callbacks after the last one
    }
    handled = seen;
    if (wanted == rank_file::kClosed && leaving_.load(std::memory_order_relaxed) != 0) GiveBack();

    const uint64_t now = ReadClockNs(CLOCK_MONOTONIC);
    if (now >= next_beat) {
      if (IsLeftAlone()) break;
      if (wanted == rank_file::kRecording) Beat();
      next_beat = now + kBeatNs;
    }
    while (beacons_.Turn(now, wanted == rank_file::kRecording, exchange)) beacon_tables_.Add(exchange);
    if (beacons_.TakeLoss()) CountIoError();
    // Also when closed: callbacks may still come.
    const uint64_t next_turn = streams() ? Drain(now) : kForeverNs;
    beacons_.WaitWhile(wake_, seen, next_turn < next_beat ? next_turn : next_beat);
  }
  if (life_.load(std::memory_order_relaxed) != rank_file::kClosed) Turn(rank_file::kClosed);
  // Exit handlers come next, on this thread, and may call back: Leave does the rest.
  has_ended_ = true;
  sigprocmask(SIG_SETMASK, &job_mask_, nullptr);
}

/** One chunk, so that requests and beats need not wait for a long backlog. Returns when to come back. */
uint64_t RecorderThread::Drain(uint64_t now) {
  switch (drainer_.Turn(now)) {
    case Drainer::Outcome::kDrained:
      return now;
    case Drainer::Outcome::kFailed:
      CountIoError();
      if (image_.placement == rank_file::kInFile && chunks_.is_lost()) FindChunksAgain();
      break;
    case Drainer::Outcome::kIdle:
      break;
  }
  return drainer_.NextTurn(now);
}

/** To kRecording (the first time, or again after the last communicator had gone), or to kClosed. */
void RecorderThread::Turn(rank_file::Life life) {
  if (life == rank_file::kClosed) {
    const ClockSample last = SampleClocks(tick_source(), kTries);
    WriteSample(order_.plan.heartbeat, heartbeats_++, last);
    WriteSample(order_.plan.first_clock, samples_[0]++, last);
    Store(image_.header().life, static_cast<uint32_t>(life));
    CopyToFile();
  } else {
    Store(image_.header().life, static_cast<uint32_t>(life));
    if (copy_.has_file() && !copy_.CopyChangingHeader(image_)) CountIoError();
  }
  life_.store(life, std::memory_order_release);  // partner: Await
  WakeAll(life_);
}

void RecorderThread::Beat() {
  const ClockSample now = SampleClocks(tick_source(), kTries);
  WriteSample(order_.plan.heartbeat, heartbeats_++, now);
  for (uint32_t i = 0; i < kClockTables; ++i) {
    if (beats_ % (kClockIntervalsMs[i] / 1'000) == 0) WriteSample(order_.plan.first_clock + i, samples_[i]++, now);
  }
  if (image_.placement != rank_file::kInFile) {
    if (!copy_.has_file()) {
      if (beats_ % kBeatsPerRetry == kBeatsPerRetry - 1) RetryFile();
    } else if (beats_ % kBeatsPerCopy == 0) {
      CopyToFile();
    } else if (!copy_.CopyTable(image_, order_.plan.heartbeat)) {
      CountIoError();
    }
  }
  AnswerControl();
  neighbours_.Look(now.boottime);
  ++beats_;
}

/** Whoever may write the rank file may have written anything there. */
void RecorderThread::AnswerControl() {
  rank_file::FileHeader& header = image_.header();
  ControlRequest request;
  if (!ReadControl(image_, copy_.fd(), request)) return;
  const uint64_t answered = Load(header.control_answered);
  if (request.number == answered || !ChecksOut(request, order_.tag)) return;
  const uint64_t sample = request.sample != 0 ? request.sample : order_.settings.sample_every;
  if ((request.events & ~order_.event_mask) != 0 || sample > INT32_MAX) {
    Store(header.control_refused, Load(header.control_refused) + 1);
  } else {
    // Before: from here on a missing record says nothing, also if we are killed in between.
    const uint64_t before = ReadTick(tick_source());
    Store(header.changed_tick, before);
    if (!order_.apply(request.events, sample)) return;
    const ControlChange change = {before, ReadTick(tick_source()), request.events, static_cast<uint32_t>(sample)};
    WriteControlChange(image_, order_.plan.areas[order_.plan.control], changes_++, change);
    Store(header.mask_now, uint64_t{request.events});
    Store(header.sample_now, sample);
  }
  Store(header.control_answered, uint64_t{request.number});
  // The table first: a header that tells of a change without its record would mean that one was lost.
  if (copy_.has_file() && !(copy_.CopyTable(image_, order_.plan.control) && copy_.CopyChangingHeader(image_))) {
    CountIoError();
  }
}

void RecorderThread::WriteSample(uint32_t area, uint64_t number, const ClockSample& sample) {
  constexpr uint32_t kParts = rank_file::kClockSampleSlots;
  const rank_file::AreaEntry& entry = order_.plan.areas[area];
  const uint64_t position = number * kParts;
  rank_file::Slot* slots = &image_.slots(entry)[position & (entry.capacity - 1)];
  PutSlot(slots[0], rank_file::SlotMeta(rank_file::kClockSample, 0, kParts, position), sample.tick, sample.realtime,
          sample.monotonic);
  PutSlot(slots[1], rank_file::SlotMeta(rank_file::kClockSample, 1, kParts, position + 1), sample.bracket,
          sample.boottime, 0);
  Store(image_.live(entry)->head, position + kParts);
}

/** Rings that lie elsewhere. False: the file does not have all of it. */
bool RecorderThread::CopyToFile() {
  if (image_.placement == rank_file::kInFile) return true;
  return TryCopy() || (copy_.is_lost() && TryCopy());
}

/** The last time. A file that somebody has cut off meanwhile gets all that the rings still have. */
bool RecorderThread::CopyAllToFile() {
  if (!CopyToFile()) return false;
  if (copy_.IsWhole(image_)) return true;
  CountIoError();
  copy_.StartAgain();
  return CopyToFile() && copy_.IsWhole(image_);
}

bool RecorderThread::TryCopy() {
  if (!copy_.has_file()) RetryFile();
  if (!copy_.has_file()) return false;
  // The first write of a file that was only reserved: without room for it there would be copies below no header.
  if (!copy_.has_header() && !copy_.CopyHeader(image_)) {
    CountIoError();
    return false;
  }
  const uint64_t before = ReadTick(tick_source());
  if (!copy_.CopyAreas(image_, streams() ? &drainer_ : nullptr)) {
    CountIoError();
    return false;
  }
  Store(image_.header().copied_tick, before);
  has_copied_.store(true, std::memory_order_release);
  if (copy_.CopyChangingHeader(image_)) return true;
  CountIoError();
  return false;
}

/**
 * Once. What could not be copied stays in the ring file, for others to save; but where no file can ever be made, as init
 * said, nobody could.
 */
void RecorderThread::GiveBack() {
  if (left_.load(std::memory_order_relaxed) != 0) return;
  bool is_over = true;
  if (image_.placement == rank_file::kInRingFile) {
    is_over = CopyAllToFile() || (!copy_.has_file() && !copy_.is_lost() && IsNoPlace(file_.error));
    if (is_over) RemoveRingFile(ring_file_);
  }
  // A neighbour's rings, if that takes no longer than leaving may take.
  neighbours_.Await(DeadlineIn(kLeaveWaitMs));
  if (is_over) RemoveRingFile(ring_file_);  // the folder, if only they were in it
  left_.store(1, std::memory_order_release);
  WakeAll(left_);
}

/** The disk may have room again, or the mount be back. */
void RecorderThread::RetryFile() {
  if (copy_.is_lost()) return FindFileAgain();
  CreateRankFile(folder_, order_.settings, host_, order_.plan.file_bytes, FileUse::kWrittenOnly, file_);
  copy_.Use(file_.fd, &order_.plan);
  if (copy_.has_file() && image_.placement == rank_file::kInRingFile) NameRankFile(image_, file_.real_path);
  if (!copy_.has_file() || !copy_.CopyHeader(image_)) CountIoError();
  if (streams()) chunks_.Use(file_.fd, image_);
}

/** The job has closed our descriptor. The file is where it was, or there is none any more: a second one helps nobody. */
void RecorderThread::FindFileAgain() {
  const bool is_found = copy_.Reopen(file_.path);
  file_.fd = copy_.fd();
  if (!is_found || (!copy_.has_header() && !copy_.CopyHeader(image_))) CountIoError();
  if (streams()) chunks_.GoOnWith(file_.fd);
}

/** The same, where chunks alone need the descriptor: rings in the file are written through their mapping. */
void RecorderThread::FindChunksAgain() {
  const int fd = OpenAgain(file_.path, file_.identity);
  if (fd < 0) return;  // counted
  file_.fd = fd;
  chunks_.GoOnWith(fd);
}

void RecorderThread::CountIoError() {
  if (image_.base != nullptr) __atomic_fetch_add(&image_.header().io_errors, 1, __ATOMIC_RELAXED);
}

}  // namespace nccl_trace
