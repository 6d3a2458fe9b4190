#include "plugin/thread/recorder_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/persist/rank_file_header.h"
#include "plugin/process/futex.h"
#include "plugin/process/own_thread.h"
#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kLeaveWaitMs = 200;
constexpr uint64_t kLeaveWaitIfInMemoryMs = 2'000;
constexpr uint64_t kBeatNs = 1'000'000'000;
constexpr uint64_t kCalibrationNs = 10'000'000;
constexpr uint64_t kLateNs = 1'000'000;
constexpr int kNice = 10;
constexpr int kFirstTries = 64;
constexpr uint64_t kForeverNs = ~uint64_t{0};
// NCCL starts up to a dozen per communicator, CUDA a few, and PyTorch its data loaders.
constexpr uint64_t kThreadsPerRank = 32;

/**
 * True if all other threads have ended (main by pthread_exit), so that only ours keeps the process alive. When ours ends,
 * the C library calls exit(0), as it would without us.
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

bool RecorderThread::Start(const RecordingOrder& order) {
  order_ = order;
  ring_file_.lock = -1;
  offer_.Use(&image_);
  if (!keeper_.Begin(&order_)) return false;
  life_.store(rank_file::kCreating, std::memory_order_relaxed);
  wanted_life_.store(rank_file::kRecording, std::memory_order_relaxed);

  // The new thread inherits the mask, so no handler of the application runs there, for instance for SIGALRM or for a
  // SIGXFSZ of our own writes.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &job_mask_);
  has_thread_ = HasRoomForThreads(kThreadsPerRank * order_.local_ranks) && StartThread(Main, this);
  if (!has_thread_) {
    keeper_.NeverWait();
    Prepare();
    if (image_.base != nullptr) RunOnce(rank_file::kRecording);
  }
  sigprocmask(SIG_SETMASK, &job_mask_, nullptr);
  return true;
}

void RecorderThread::Request(rank_file::Life life) {
  wanted_life_.store(life, std::memory_order_relaxed);
  if (!has_thread_) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    RunOnce(life);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  // Release: a thread that sees the new count sees wanted_life_ (partner: the acquire load in Loop).
  wake_.fetch_add(1, std::memory_order_release);
  WakeAll(wake_);
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
    keeper_.CopyRings();
    return Remove();
  }
  leaving_.store(1, std::memory_order_relaxed);
  Request(rank_file::kClosed);
  if (!has_thread_) return Remove();
  const bool all_is_in_memory = abandoned() && !keeper_.has_copied();
  WaitWhile(left_, 0, DeadlineIn(all_is_in_memory ? kLeaveWaitIfInMemoryMs : kLeaveWaitMs));
}

void RecorderThread::ForgetAfterFork() {
  keeper_.ForgetAfterFork();
  ForgetRingFile(ring_file_);
}

void* RecorderThread::Main(void* self) {
  static_cast<RecorderThread*>(self)->Run();
  return nullptr;
}

void RecorderThread::Run() {
  SettleThread();
  Prepare();
  if (image_.base == nullptr) return;
  GiveWay();
  neighbours_.Use(&ring_file_, file().real_path, &self_, &host_);
  old_runs_.Remove(&order_.settings, keeper_.folder(), &host_, order_.tag);
  Loop();
}

void RecorderThread::Prepare() {
  ChooseClock();
  host_ = CollectHostFacts();
  self_ = {host_.pid_namespace, static_cast<uint64_t>(getpid()), host_.process_start, order_.tag};
  OfferRingFile();
  keeper_.Create(image_, &offer_, &host_);
  OfferFile();
  if (image_.base == nullptr) return;
  keeper_.Use(image_, tick_source());
  heartbeat_.Use(image_, &order_.layout, tick_source());
  control_.Use(image_, &order_, &keeper_, tick_source());
}

void RecorderThread::SettleThread() {
  prctl(PR_SET_NAME, "nccl-trace");
  // The NCCL thread that started this one may be pinned to a core that it keeps busy. Use the process's affinity.
  cpu_set_t cpus;
  if (sched_getaffinity(getpid(), sizeof(cpus), &cpus) == 0) sched_setaffinity(0, sizeof(cpus), &cpus);
}

/**
 * Lowers the priority once init has its image. Until then this thread is as urgent as init. Changes nothing if the job's
 * priority is lower already.
 */
void RecorderThread::GiveWay() {
  const auto self = static_cast<id_t>(syscall(SYS_gettid));
  if (getpriority(PRIO_PROCESS, self) < kNice) setpriority(PRIO_PROCESS, self, kNice);
}

void RecorderThread::ChooseClock() {
  offer_.ChooseTicks(ChooseTickSource());
  start_ = SampleClocks(tick_source(), kFirstTries);
}

void RecorderThread::MeasureTicks() {
  SleepUntil(start_.monotonic + kCalibrationNs);
  tick_hz_ = MeasureTickHz(tick_source(), start_, SampleClocks(tick_source(), kFirstTries));
}

/** The ring file is in memory, so nothing here waits for a disk, and the records are kept even without a rank file. */
void RecorderThread::OfferRingFile() {
  const Image image = CreateRingFile(order_.settings, self_, order_.layout.file_bytes, order_.local_ranks, ring_file_);
  MeasureTicks();
  if (image.base == nullptr) return;
  image_ = image;
  FinishHeader();
  if (offer_.OfferRings()) return;
  RemoveRingFile(ring_file_);
  ForgetRingFile(ring_file_);
  ring_file_.path[0] = '\0';
  TakeAbandonedImage();
}

/** If there is no ring file, offers the mapped rank file or memory. If init has gone on, uses init's image. */
void RecorderThread::OfferFile() {
  if (image_.base == nullptr && offer_.IsAwaited()) {
    image_ = keeper_.Map();
    if (image_.base == nullptr) image_ = AnonymousImage(order_.layout.file_bytes);
    if (image_.base != nullptr) FinishHeader();
  }
  if (!offer_.OfferAll()) TakeAbandonedImage();
}

void RecorderThread::TakeAbandonedImage() {
  if (image_.base == offer_.abandoned_image().base) return;
  if (image_.base != nullptr) munmap(image_.base, image_.bytes);
  image_ = offer_.abandoned_image();
  if (image_.base != nullptr) FinishHeader();
}

void RecorderThread::FinishHeader() {
  WriteHeader(image_, {&order_.settings, &host_, &order_.layout, order_.tag, order_.event_mask, order_.nccl_version,
                       tick_source(), tick_hz_, start_, ring_file_.path});
  rank_file::FileHeader& header = image_.header();
  Store(header.mask_now, order_.event_mask);
  Store(header.sample_now, order_.settings.sample_every);
  // Last, with release: a reader that sees kRecording in the live file sees a complete header.
  __atomic_store_n(&header.life, static_cast<uint32_t>(rank_file::kRecording), __ATOMIC_RELEASE);
}

/** Returns only if this is the last thread. */
void RecorderThread::Loop() {
  uint64_t next_beat = 0;
  uint32_t handled = 0;
  bool copies_late = true;
  for (;;) {
    const uint32_t seen = wake_.load(std::memory_order_acquire);
    const auto wanted = static_cast<rank_file::Life>(wanted_life_.load(std::memory_order_relaxed));
    if (wanted != life_.load(std::memory_order_relaxed)) {
      RunOnce(wanted);
      next_beat = 0;
    } else if (wanted == rank_file::kClosed && seen != handled) {
      keeper_.CopyRings();  // requested again after the last copy: there were callbacks since
    }
    handled = seen;
    if (wanted == rank_file::kClosed && leaving_.load(std::memory_order_relaxed) != 0) Remove();

    const uint64_t now = ReadClockNs(CLOCK_MONOTONIC);
    if (now >= next_beat) {
      if (IsLeftAlone()) break;
      if (wanted == rank_file::kRecording) Beat();
      next_beat = now + kBeatNs;
    }
    // Also when closed, because callbacks may still come.
    uint64_t next_turn = streams() ? keeper_.Drain(now) : kForeverNs;
    // The process has called exit. NCCL's threads go on until it is gone, and this thread, too.
    if (copies_late && left_.load(std::memory_order_relaxed) != 0) {
      copies_late = keeper_.CopyNew();
      if (now + kLateNs < next_turn) next_turn = now + kLateNs;
    }
    WaitWhile(wake_, seen, next_turn < next_beat ? next_turn : next_beat);
  }
  if (life_.load(std::memory_order_relaxed) != rank_file::kClosed) RunOnce(rank_file::kClosed);
  // Exit handlers come next, on this thread, and may make callbacks. Leave does the rest.
  has_ended_ = true;
  sigprocmask(SIG_SETMASK, &job_mask_, nullptr);
}

/** Goes to kRecording (at first, or again after the last communicator had ended) or to kClosed. */
void RecorderThread::RunOnce(rank_file::Life life) {
  if (life == rank_file::kClosed) {
    heartbeat_.WriteLast();
    Store(image_.header().life, static_cast<uint32_t>(life));
    keeper_.CopyRings();
  } else {
    Store(image_.header().life, static_cast<uint32_t>(life));
    // The only heartbeat, if nobody beats once a second.
    if (has_thread_) {
      keeper_.CopyChangingHeader();
    } else {
      heartbeat_.Beat();
      keeper_.CopyRings();
    }
  }
  life_.store(life, std::memory_order_release);  // partner: Await
  WakeAll(life_);
}

void RecorderThread::Beat() {
  const uint64_t now = heartbeat_.Beat();
  keeper_.AfterBeat(beats_);
  control_.LookAtMask();
  control_.Answer();
  neighbours_.Look(now);
  ++beats_;
}

/**
 * Runs once. Records that could not be copied stay in the ring file for others to save. If no rank file can ever be made,
 * the ring file is removed, because nobody could save it.
 */
void RecorderThread::Remove() {
  if (left_.load(std::memory_order_relaxed) != 0) return;
  const bool is_over = image_.placement != rank_file::kInRingFile || keeper_.Finish();
  if (is_over && image_.placement == rank_file::kInRingFile) RemoveRingFile(ring_file_);
  // Lets savers of other processes' rings finish, within the time for leaving.
  neighbours_.Await(DeadlineIn(kLeaveWaitMs));
  if (is_over) RemoveRingFile(ring_file_);  // and the folder, if it is empty then
  left_.store(1, std::memory_order_release);
  WakeAll(left_);
}

}  // namespace nccl_trace
