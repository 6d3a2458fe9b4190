// Beacons on the wire: 64 bytes in both directions, so that an answer is never larger than its request. Integers are
// little-endian, as in the rank file. A packet of any other form is dropped.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_PACKET_H_
#define NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_PACKET_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nccl_trace {

struct BeaconPacket {
  enum Kind : uint8_t { kRequest = 0, kReply = 1 };

  uint32_t magic;
  uint8_t version;
  uint8_t kind;
  uint16_t zero_a;
  uint64_t run;    // hash of the run's name: packets of another job are not ours
  uint64_t nonce;  // new for each request of a process: an answer with another one is forged or late
  // The fields below are 0 in a request.
  uint64_t received;    // ticks of the answering process
  uint64_t sent;        // likewise
  uint8_t boot_id[16];  // of the answering process. With the next field: whose ticks these are
  uint32_t tick_source;
  uint32_t zero_b;
};
static_assert(sizeof(BeaconPacket) == 64 && offsetof(BeaconPacket, boot_id) == 40, "no padding");

constexpr uint32_t kBeaconMagic = 0x4252544E;  // "NTRB"
constexpr uint8_t kBeaconVersion = 1;

inline bool IsBeacon(const BeaconPacket& packet, uint64_t bytes, BeaconPacket::Kind kind, uint64_t run) {
  if (bytes != sizeof(packet) || packet.magic != kBeaconMagic || packet.version != kBeaconVersion) return false;
  return packet.kind == kind && packet.run == run && packet.zero_a == 0 && packet.zero_b == 0;
}

inline bool IsBeaconRequest(const BeaconPacket& packet, uint64_t bytes, uint64_t run) {
  static constexpr uint8_t kZeros[sizeof(BeaconPacket) - offsetof(BeaconPacket, received)] = {};
  return IsBeacon(packet, bytes, BeaconPacket::kRequest, run) && memcmp(&packet.received, kZeros, sizeof(kZeros)) == 0;
}

/** FNV-1a. */
inline uint64_t BeaconRun(const char* name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<uint8_t>(*name)) * 0x100000001B3u;
  return hash;
}

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_PACKET_H_
