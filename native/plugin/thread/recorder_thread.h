// The recorder's one thread: everything that may block happens here, so that nothing of it happens in NCCL's threads.
// It makes the files, beats once a second, answers control requests and beacons, copies and drains rings, and closes.
//
//   init's thread                         this thread
//   Start ───────────────────────────────▶ clock source, host facts, ring file, rank file
//   AwaitImage  ◀── image_offer.h ────────
//   Request(kClosed), Await ─────────────▶ last samples, last copy, life = kClosed ──▶ wakes the waiters
//   Leave ───────────────────────────────▶ the same, and removes the ring file
//
// The work itself is elsewhere: heartbeat.h, control_answers.h, beacon.h, rank_file_keeper.h, neighbours.h.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_THREAD_RECORDER_THREAD_H_
#define NCCL_TRACE_NATIVE_PLUGIN_THREAD_RECORDER_THREAD_H_

#include <signal.h>

#include <atomic>

#include "plugin/beacon/beacon.h"
#include "plugin/beacon/beacon_tables.h"
#include "plugin/persist/image_offer.h"
#include "plugin/persist/rank_file_keeper.h"
#include "plugin/thread/control_answers.h"
#include "plugin/thread/heartbeat.h"
#include "plugin/thread/neighbours.h"

namespace nccl_trace {

class RecorderThread {
 public:
  /** Before Start. 0, or an errno: there will be no beacons. */
  int OpenBeacons(const Settings& settings) { return beacons_.Open(settings); }

  /** False: no thread could be made, or no memory for it. */
  bool Start(const RecordingOrder& order);

  /** The image to record into, within 2 s. Without base: not even memory. */
  Image AwaitImage() { return offer_.Await(order_.layout.file_bytes); }

  /** After AwaitImage. */
  uint32_t tick_source() const { return offer_.tick_source(); }
  bool streams() const { return order_.streams(); }
  bool abandoned() const { return offer_.abandoned(); }
  /** The rank file was not there in time; so file() must not be looked at. */
  bool late() const { return offer_.late(); }
  /** 0 when the file is not there yet: nobody has measured. Meaningful unless abandoned. */
  uint64_t tick_hz() const { return tick_hz_; }
  const RankFile& file() const { return keeper_.file(); }
  /** Unless abandoned. */
  const RingFile& ring_file() const { return ring_file_; }

  /** Asks for the file's next life. `from` any thread. */
  void Request(rank_file::Life life);
  bool Await(rank_file::Life life, uint64_t milliseconds);

  /** The process is about to end: close, and leave nothing behind but the rank file. Waits 200 ms at most; if all there
   * is lies in memory because the rank file is still being made, 2 s. */
  void Leave();

  /** In the child after a fork, where this thread does not exist. */
  void ForgetAfterFork();

 private:
  static void* Main(void* self);
  void Run();
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
  bool has_ended_;              // this thread, the last one: there is nobody else to read it
  sigset_t job_mask_;           // of the thread that began this one
  Image image_;                 // complete before it is offered

  // This thread's own (the file and tick_hz_ are read by init's thread once the image is offered).
  HostFacts host_;
  ProcessName self_;
  RingFile ring_file_;
  RankFileKeeper keeper_;
  Heartbeat heartbeat_;
  ControlAnswers control_;
  Neighbours neighbours_;
  Beacons beacons_;  // NCCL_TRACE_CLOCK_PEER, as is the next one
  BeaconTables beacon_tables_;
  ClockSample start_;
  uint64_t tick_hz_;
  uint64_t beats_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_THREAD_RECORDER_THREAD_H_
