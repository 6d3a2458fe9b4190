// The one object behind all exported tables. It knows which thread records where. events.h and the files that include it
// write the records.
//
// Threads
//   init, finalize   any threads at the same time, ordered by a mutex that no other callback takes
//   callbacks        read `hot` and their producer. The first callback of a thread calls Attach
//   recorder's thread   see recorder_thread.h
//
// Nothing here fails the job. A part that does not work is left out, and if none works the mask stays 0.

#pragma once

#include <pthread.h>

#include <atomic>

#include "plugin/events/producer.h"
#include "plugin/record/communicators.h"
#include "plugin/record/leases.h"
#include "plugin/record/strings.h"
#include "plugin/thread/recorder_thread.h"

namespace nccl_trace {

/** NCCL's logger. Only init calls it. */
struct Log {
  void* logger;
  void (*write)(void* logger, bool warn, const char* text);

  void Warn(const char* text) const { write(logger, true, text); }
  void Info(const char* text) const { write(logger, false, text); }
};

/** Every callback reads it. Only ApplyControl changes it after the start, and only the sampling. */
struct Hot {
  uint64_t tag;
  uint64_t context_prefix;   // tag and kContextRing
  uint64_t sample_multiple;  // see SampledOut
  uint64_t sample_every;
  uint64_t edge_ticks;  // see ctrl_edges.h
  uint32_t tick_source;
  bool has_user_tags;  // RCCL's v7 has none: its descriptors end where NCCL's have that of a collective

  uint64_t Tick() const { return ReadTick(tick_source); }

  /**
   * Keeps every Nth. `number` is the same on all ranks, so all make the same choice. Divides 32-bit numbers by
   * multiplication (Lemire).
   */
  void SampleEach(uint64_t every) {
    Store(sample_every, every);
    Store(sample_multiple, ~uint64_t{0} / every + 1);  // 0 for every = 1, so that all are kept
  }

  bool SampledOut(uint64_t number) const {
    if (Unlikely(number > UINT32_MAX)) return number % Load(sample_every) != 0;
    const uint64_t multiple = Load(sample_multiple);
    return number * multiple > multiple - 1;
  }
};

/** Other plugins in this process (plugin/chain). */
struct Beside {
  const char* text;      // for the file's header; null: none
  void (*sync_masks)();  // called once a second by the recorder's thread
};

class Recorder {
 public:
  Hot hot;
  Beside beside;

  /**
   * A communicator begins. Returns NCCL's context, or null if nothing is recorded; the mask is then not written.
   * `known_events`: the events that this ABI version can report.
   */
  void* OpenCommunicator(const CommunicatorInfo& info, int known_events, int* mask, const Log& log);
  void CloseCommunicator(void* context);
  /** Handles need a tag also if nothing is recorded. */
  void NameHandles();

  /** The calling thread's producer. Its first callback takes one. Null: this process does not record. */
  Producer* ProducerOfThread(bool proxy) {
    Producer* producer = current_producer.any();
    return producer != nullptr ? producer : Attach(proxy);
  }

  void IntroduceCommunicator(uint32_t number, uint64_t id, const char* name, int32_t rank) {
    communicators_.Introduce(number, id, name, rank);
  }
  Communicator* FindCommunicator(uint32_t number) { return communicators_.Find(number); }
  bool IsOurs(uint64_t context) const { return (context ^ hot.context_prefix) >> rank_file::kHandleRingShift == 0; }
  bool HasEnded(uint64_t context) {
    return !IsOurs(context) || communicators_.HasEnded(static_cast<uint32_t>(rank_file::HandlePosition(context)));
  }
  uint32_t ended_communicators() const { return communicators_.ended_count(); }
  StringRef Intern(const char* text) { return strings_.Intern(text, hot.tick_source); }
  /** False: the text has no number yet, or is long. */
  [[gnu::always_inline]] bool FindString(const char* text, StringRef& ref) const {
    return strings_.FindShort(text, ref);
  }

 private:
  enum State : uint32_t { kIdle, kRecording, kStoodAside, kForkedAway };

  /** Memory of the producers besides their rings: one mapping, all pages present, not copied by a fork. */
  struct Scratch {
    Ring rings[kMaxLayoutRings];
    Producer proxies[kMaxProxyThreads];
    Producer hosts[kHostRings];
    Producer overflow;
    LastStarts proxy_starts[kMaxProxyThreads];
    LastStarts host_starts[kHostRings];
    ConnectionOrdinals::Entry proxy_connections[kMaxProxyThreads][4096];
    ConnectionOrdinals::Entry host_connections[kHostRings][1024];
  };

  /** `caller`: something in the NCCL that calls. */
  bool Start(const CommunicatorInfo& info, const void* caller, const Log& log);
  /** Returns what it stored. */
  int StoreMask();
  void StandAside(const Log& log, const char* why);
  void UseImage(const Image& image);
  void UseRings(const Image& image);
  void UseTag(uint64_t tag);
  void Announce(const Log& log);
  void DescribeRecording(char* text, uint64_t size) const;
  /** Takes a producer and stores it in current_producer. */
  Producer* Attach(bool proxy);
  Producer* TakeProducer(bool proxy);
  void BeginLeases(Producer& producer);
  void Retire(Producer& producer);

  /** The recorder's thread calls it. False: init or finalize has the mutex, try again. */
  static bool ApplyControl(uint64_t events, uint64_t sample_every);
  /** The recorder's thread calls it. True: NCCL's mask is another one than the file says (NCCL's RAS can replace it). */
  static bool FindForeignEvents(uint64_t& events);

  static void OnThreadExit(void* producer);
  static void OnProcessExit();
  friend void CloseAtExit();
  static void OnForkInChild();

  pthread_mutex_t mutex_;        // orders init and finalize. Zero is PTHREAD_MUTEX_INITIALIZER
  std::atomic<uint32_t> state_;  // release when rings are ready, acquire in Attach
  uint64_t event_mask_;
  uint64_t wanted_events_;  // event_mask_ without what control turned off
  int* mask_of_nccl_;       // null while there is no communicator
  int mask_at_init_;        // as written by the last init
  int known_events_;        // what this ABI version can report
  int told_mask_;           // as the file tells it
  pid_t owner_;             // lets a forked child notice that it is one
  pthread_key_t exit_key_;
  Image image_;
  Scratch* scratch_;
  RecordingOrder order_;
  RecorderThread thread_;
  Communicators communicators_;
  Leases leases_;
  Strings strings_;
};

extern Recorder recorder __attribute__((visibility("hidden")));

}  // namespace nccl_trace
