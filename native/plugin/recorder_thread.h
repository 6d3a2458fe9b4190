// The recorder's one thread: everything that may block happens here, so that nothing of it happens in NCCL's threads.
// It creates the file, says once a second that the process is alive, samples the clocks, copies rings that do not lie
// in the file, drains rings into chunks (stream mode), and closes.
//
//   init's thread                         this thread
//   Start ───────────────────────────────▶ clock source, host facts
//      │             phase kRingReady ──── ring file (ring_file.h), where there may be one
//   AwaitImage  ◀─── phase kReady ──────── rank file; without a ring file its mapping is the image
//      │ after 1.7 s: takes the ring file, or maps anonymous memory
//      └─ phase kLate or kAbandoned ─────▶ goes on in that image; the rank file, once there, gets copies
//   Request(kClosed), Await ─────────────▶ last samples, last copy, life = kClosed ──▶ wakes the waiters
//   Leave ───────────────────────────────▶ the same, and the ring file's name is given back
//
// The phase is one atomic word changed by compare-and-swap: exactly one side's image is used.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_RECORDER_THREAD_H_
#define NCCL_TRACE_NATIVE_PLUGIN_RECORDER_THREAD_H_

#include <signal.h>

#include <atomic>

#include "plugin/beacon.h"
#include "plugin/beacon_tables.h"
#include "plugin/chunk_file.h"
#include "plugin/clock.h"
#include "plugin/drainer.h"
#include "plugin/file_copy.h"
#include "plugin/neighbours.h"
#include "plugin/rank_file_header.h"
#include "plugin/rank_file_place.h"

namespace nccl_trace {

class RecorderThread {
 public:
  /** Settings, plan and what the header needs of the caller; kept for the life of the process. */
  struct Order {
    Settings settings;
    Plan plan;
    uint64_t tag;
    uint64_t event_mask;
    uint32_t local_ranks;
    /** Of a request that may be done. False: not now. */
    bool (*apply)(uint64_t events, uint64_t sample_every);
  };

  /** Before Start. 0, or an errno: there will be no beacons. */
  int OpenBeacons(const Settings& settings) { return beacons_.Open(settings); }

  /** False: no thread could be made, or no memory for it. */
  bool Start(const Order& order);

  /** The image to record into, within 2 s. Without base: not even memory. */
  Image AwaitImage();

  /** After AwaitImage. */
  uint32_t tick_source() const { return tick_source_.load(std::memory_order_relaxed); }
  bool streams() const { return order_.settings.mode == rank_file::kStream; }
  bool abandoned() const { return phase_.load(std::memory_order_acquire) == kAbandoned; }
  /** The rank file was not there in time; so file() must not be looked at. */
  bool late() const { return abandoned() || phase_.load(std::memory_order_acquire) == kLate; }
  /** 0 when the file is not there yet: nobody has measured. Meaningful unless abandoned. */
  uint64_t tick_hz() const { return tick_hz_; }
  const RankFile& file() const { return file_; }
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
  enum Phase : uint32_t { kStarting, kRingReady, kReady, kLate, kAbandoned };

  static void* Main(void* self);
  void Run();
  void SettleThread();
  void GiveWay();
  void ChooseClock();
  Image GoOnWithoutFile();
  void MeasureTicks();
  void OfferRingFile();
  void CreateFile();
  void OfferFile();
  void TakeAbandonedImage();
  void UseFile();
  void FinishHeader();
  void Loop();
  void Turn(rank_file::Life life);
  void Beat();
  void WriteSample(uint32_t area, uint64_t number, const ClockSample& sample);
  void AnswerControl();
  bool CopyToFile();
  bool TryCopy();
  bool CopyAllToFile();
  void GiveBack();
  void RetryFile();
  void FindFileAgain();
  void FindChunksAgain();
  uint64_t Drain(uint64_t now);
  void CountIoError();

  Order order_;
  std::atomic<uint32_t> phase_;
  std::atomic<uint32_t> tick_source_;  // 0: undecided. Set once, by whichever side comes first
  std::atomic<uint32_t> wake_;         // changes with every request
  std::atomic<uint32_t> wanted_life_;
  std::atomic<uint32_t> life_;    // as in the header; waiters sleep on it
  std::atomic<bool> has_copied_;  // the rank file has something
  std::atomic<uint32_t> leaving_;
  std::atomic<uint32_t> left_;  // waiters sleep on it
  bool has_ended_;              // this thread, the last one: there is nobody else to read it
  sigset_t job_mask_;           // of the thread that began this one
  Image image_;                 // this thread's: complete before phase_ becomes kRingReady or kReady
  Image abandoned_image_;       // init's: complete before phase_ becomes kAbandoned

  // This thread's own (file_ and tick_hz_ are read by init's thread once the phase is kReady).
  HostFacts host_;
  ProcessName self_;
  RingFile ring_file_;
  Neighbours neighbours_;
  RankFile file_;
  char folder_[PATH_MAX];
  FileCopy copy_;
  ChunkFile chunks_;  // stream mode, as is the next one
  Drainer drainer_;
  Beacons beacons_;  // NCCL_TRACE_CLOCK_PEER, as is the next one
  BeaconTables beacon_tables_;
  ClockSample start_;
  uint64_t tick_hz_;
  uint64_t beats_;
  uint64_t heartbeats_;
  uint64_t samples_[kClockTables];
  uint64_t changes_;  // that control has made
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_RECORDER_THREAD_H_
