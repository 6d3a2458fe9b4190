// Resolves a host's name without waiting: the C library may take many seconds, so a short-lived thread asks it. Numeric
// addresses need no resolver.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_BEACON_NAME_LOOKUP_H_
#define NCCL_TRACE_NATIVE_PLUGIN_BEACON_NAME_LOOKUP_H_

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include <atomic>

namespace nccl_trace {

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

inline socklen_t BytesOf(const SocketAddress& address) {
  return address.any.sa_family == AF_INET6 ? sizeof(address.v6) : sizeof(address.v4);
}

/** "10.0.0.1", "fe80::1". False: not a numeric address. */
bool ParseAddress(const char* host, uint16_t port, SocketAddress& address);

class NameLookup {
 public:
  void Use(const char* host, uint16_t port);

  /**
   * The address once it is known, else null. Asks again after 10 s, 20 s, ... 10 min, because thousands of ranks ask the
   * same server. Never waits.
   */
  const SocketAddress* Find(uint64_t now);

 private:
  enum State : uint32_t { kIdle, kAsking, kFound };

  static void* Main(void* self);
  void Resolve();

  char host_[256];
  uint16_t port_;
  std::atomic<uint32_t> state_;
  uint64_t next_try_;
  uint64_t pause_;
  SocketAddress address_;  // complete before state_ is kFound
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_BEACON_NAME_LOOKUP_H_
