// The recorder's thread does everything that may block, so that NCCL's threads never block. It makes the files, writes a
// heartbeat once a second, answers control requests, copies and drains rings, and closes the file.
//
//   init's thread                         this thread
//   Start ───────────────────────────────▶ clock source, host facts, ring file, rank file
//   AwaitImage  ◀── image_offer.h ────────
//   Request(kClosed), Await ─────────────▶ last samples, last copy, life = kClosed ──▶ wakes the waiters
//   Leave ───────────────────────────────▶ the same, and removes the ring file
//
// Where the user may not have another thread, init's thread does the first part, the last finalize and the exit the last
// one, and nobody does what is between: heartbeats, copies, chunks and control requests.
//
// The work itself is elsewhere: heartbeat.h, control_answers.h, rank_file_keeper.h, neighbours.h.

#pragma once

#include <signal.h>

#include <atomic>

#include "plugin/persist/image_offer.h"
#include "plugin/persist/old_runs.h"
#include "plugin/persist/rank_file_keeper.h"
#include "plugin/thread/control_answers.h"
#include "plugin/thread/heartbeat.h"
#include "plugin/thread/neighbours.h"

namespace nccl_trace {

class RecorderThread {
 public:
  /** False: there is no memory for it. */
  bool Start(const RecordingOrder& order);

  /** The image to record into, within 2 s. Without base: there is not even memory. */
  Image AwaitImage() { return offer_.Await(order_.layout.file_bytes); }

  /** After AwaitImage. */
  uint32_t tick_source() const { return offer_.tick_source(); }
  /** False: init's thread has done its work (HasRoomForThreads). */
  bool has_thread() const { return has_thread_; }
  bool streams() const { return order_.streams(); }
  bool abandoned() const { return offer_.abandoned(); }
  /** True if the rank file was not there in time. file() must not be read then. */
  bool late() const { return offer_.late(); }
  /** 0 if the file is not there yet: not measured. Not valid if abandoned. */
  uint64_t tick_hz() const { return tick_hz_; }
  const RankFile& file() const { return keeper_.file(); }
  /** Not valid if abandoned. */
  const RingFile& ring_file() const { return ring_file_; }

  /** Asks for the file's next life. For any thread. */
  void Request(rank_file::Life life);
  bool Await(rank_file::Life life, uint64_t milliseconds);

  /**
   * The process is about to end: closes the file and leaves nothing else behind. Waits 200 ms at most, or 2 s if all
   * records are in memory because the rank file is still being made.
   */
  void Leave();

  /** Call it in the child after a fork, where this thread does not exist. */
  void ForgetAfterFork();

 private:
  static void* Main(void* self);
  void Run();
  void Prepare();
  void SettleThread();
  void ChooseClock();
  void MeasureTicks();
  void OfferRingFile();
  void OfferFile();
  void TakeAbandonedImage();
  void FinishHeader();
  void GiveWay();
  void Loop();
  void RunOnce(rank_file::Life life);
  void Beat();
  void Remove();

  RecordingOrder order_;
  ImageOffer offer_;
  std::atomic<uint32_t> wake_;  // changes with every request
  std::atomic<uint32_t> wanted_life_;
  std::atomic<uint32_t> life_;  // as in the header; waiters sleep on it
  std::atomic<uint32_t> leaving_;
  std::atomic<uint32_t> left_;  // waiters sleep on it
  bool has_thread_;
  bool has_ended_;     // this thread has ended as the last one. No other thread reads it
  sigset_t job_mask_;  // signal mask of the thread that started this one
  Image image_;        // complete before it is offered

  // Used by this thread only, but init's thread reads the file and tick_hz_ once the image is offered.
  HostFacts host_;
  ProcessName self_;
  RingFile ring_file_;
  RankFileKeeper keeper_;
  Heartbeat heartbeat_;
  ControlAnswers control_;
  Neighbours neighbours_;
  OldRuns old_runs_;
  ClockSample start_;
  uint64_t tick_hz_;
  uint64_t beats_;
};

}  // namespace nccl_trace
