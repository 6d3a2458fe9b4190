#include "plugin/beacon/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "plugin/process/own_thread.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kFirstPauseNs = 10'000'000'000u;
constexpr uint64_t kLongestPauseNs = 600'000'000'000u;

void SetPort(SocketAddress& address, uint16_t port) {
  if (address.any.sa_family == AF_INET6) {
    address.v6.sin6_port = htons(port);
  } else {
    address.v4.sin_port = htons(port);
  }
}

}  // namespace

bool ParseAddress(const char* host, uint16_t port, SocketAddress& address) {
  memset(&address, 0, sizeof(address));
  if (inet_pton(AF_INET, host, &address.v4.sin_addr) == 1) {
    address.any.sa_family = AF_INET;
  } else if (inet_pton(AF_INET6, host, &address.v6.sin6_addr) == 1) {
    address.any.sa_family = AF_INET6;
  } else {
    return false;
  }
  SetPort(address, port);
  return true;
}

void NameLookup::Use(const char* host, uint16_t port) {
  snprintf(host_, sizeof(host_), "%s", host);
  port_ = port;
  next_try_ = 0;
  pause_ = kFirstPauseNs;
  state_.store(ParseAddress(host_, port_, address_) ? kFound : kIdle, std::memory_order_relaxed);
}

const SocketAddress* NameLookup::Find(uint64_t now) {
  // Acquire: a thread that sees kFound also sees the address (partner: Resolve).
  const uint32_t state = state_.load(std::memory_order_acquire);
  if (state == kFound) return &address_;
  if (state == kAsking || now < next_try_) return nullptr;
  next_try_ = now + pause_;
  pause_ = pause_ < kLongestPauseNs / 2 ? 2 * pause_ : kLongestPauseNs;
  state_.store(kAsking, std::memory_order_relaxed);
  if (!StartThread(Main, this)) state_.store(kIdle, std::memory_order_relaxed);
  return nullptr;
}

void* NameLookup::Main(void* self) {
  static_cast<NameLookup*>(self)->Resolve();
  return nullptr;
}

void NameLookup::Resolve() {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  uint32_t state = kIdle;
  if (getaddrinfo(host_, nullptr, &hints, &found) == 0) {
    if (found->ai_addrlen <= sizeof(address_)) {
      memcpy(&address_, found->ai_addr, found->ai_addrlen);
      SetPort(address_, port_);
      state = kFound;
    }
    freeaddrinfo(found);
  }
  state_.store(state, std::memory_order_release);  // partner: Find
}

}  // namespace nccl_trace
