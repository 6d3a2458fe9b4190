// Beacons (NCCL_TRACE_CLOCK_PEER): once a second each process asks rank 0 what time it is, by the exchange of NTP.
//
//   asking process   tick `sent` ──request──▶  tick `peer_received`   rank 0
//                    tick `received` ◀──reply── tick `peer_sent`
//
// Both directions are evidence of the two clocks (schemas/clocks.md), whatever the application sends.
//
// The time of an arrival is the kernel's stamp (SO_TIMESTAMPNS), converted to ticks. The recorder's thread is nice,
// often late, and busy for milliseconds in stream mode, so its own stamp would be late. The time that rank 0 takes to
// answer does not count, so only the stamp before a send must be close to the packet's departure.
//
// Everything but Open runs on the recorder's thread, and nothing there waits for a packet.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_H_
#define NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_H_

#include <stdint.h>

#include <atomic>

#include "plugin/beacon/beacon_packet.h"
#include "plugin/beacon/name_lookup.h"
#include "plugin/process/clock.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/process/host_facts.h"
#include "plugin/process/settings.h"

namespace nccl_trace {

/** One completed exchange. The first and the last tick are our own, the two between are rank 0's. */
struct BeaconExchange {
  uint64_t sent, peer_received, peer_sent, received;
  uint8_t peer_boot_id[16];
  uint32_t peer_tick_source;
};

class Beacons {
 public:
  /**
   * Call it in init's thread, before the recorder's thread starts, also if the settings want no beacons. Looks up no
   * name. Returns 0, or an errno if there will be no beacons.
   */
  int Open(const Settings& settings);

  /** `hz`: ticks per second, 0 if not measured. */
  void Begin(const HostFacts& host, uint32_t tick_source, uint64_t hz);

  /** Answers, asks (if `may_ask`), receives. True: `exchange` is complete. Call again, because there may be more. */
  bool Poll(uint64_t now, bool may_ask, BeaconExchange& exchange);

  /** Like WaitWhile in futex.h; also returns when Poll may have work. */
  void WaitWhile(std::atomic<uint32_t>& word, uint32_t old, uint64_t deadline);

  /** Any thread calls it after changing the word of WaitWhile. Never blocks. */
  void Wake();

  /** True once, if the job has closed a descriptor of ours. There are no more beacons then. */
  bool TakeLoss() {
    const bool lost = is_lost_;
    is_lost_ = false;
    return lost;
  }

  /** In the child after a fork: closes the parent's descriptors. */
  void ForgetAfterFork() { Close(); }

 private:
  int Serve(const Settings& settings);
  void Ask(uint64_t now, bool may_ask);
  bool TakePacket(BeaconExchange& exchange);
  void Answer(BeaconPacket& packet, const void* peer, uint32_t peer_bytes, uint64_t received);
  bool TakeAnswer(const BeaconPacket& packet, uint64_t received, BeaconExchange& exchange);
  uint64_t ArrivalTick(const timespec* stamp);
  bool MayRead(uint64_t now);
  bool AreOurs() const;
  void GiveUp();
  void Close();

  // Each descriptor with its identity. A pair of sockets wakes this thread. An eventfd cannot be distinguished from
  // another one, and writing to a pipe whose other end is closed kills the process.
  int socket_;
  int woken_;
  std::atomic<int> wake_;
  DescriptorIdentity socket_identity_;
  DescriptorIdentity woken_identity_;
  DescriptorIdentity wake_identity_;
  bool is_lost_;
  bool serves_;
  uint64_t run_;
  uint64_t interval_ns_;
  NameLookup lookup_;

  HostFacts host_;
  uint32_t tick_source_;
  uint64_t hz_;
  uint64_t wall_offset_;  // REALTIME - MONOTONIC when the socket was last empty

  // For the asking side only.
  uint64_t asked_;  // requests so far
  uint64_t next_ask_;
  uint64_t nonce_;  // of the open request; 0: none
  uint64_t sent_;

  // Limits the cost of a flood to a number of packets per second.
  uint64_t window_begin_;
  uint32_t taken_in_window_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_H_
