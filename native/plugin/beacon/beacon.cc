#include "plugin/beacon/beacon.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plugin/process/futex.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
// Requests per second of all processes together. In a large job each process asks less often.
constexpr uint64_t kRequestsPerSecond = 1024;
// The first requests come this many times faster, for short runs.
constexpr uint64_t kFirstRequests = 16;
constexpr uint64_t kFirstFaster = 4;
// At most this many packets are read; the kernel drops the rest.
constexpr uint32_t kReadsPerSecond = 4 * kRequestsPerSecond;
// An older stamp of the kernel is not used.
constexpr uint64_t kLongestLagNs = 100'000'000;
// No wall clock is slewed faster than 500 ppm, and `hz` is known to some ppm.
constexpr uint64_t kSlowestOfMillion = 1'000'000 - 600;
// Wakes read at once. The kernel keeps about 10 pending ones, and one is enough.
constexpr int kMostWakes = 64;
// REALTIME minus MONOTONIC changes by more than this only if the clock is stepped.
constexpr uint64_t kSteppedNs = 10'000;

uint64_t RandomNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
    number = (ReadClockNs(CLOCK_REALTIME) ^ static_cast<uint64_t>(getpid()) << 32) * 0x9E3779B97F4A7C15u;
  }
  return number | 1;  // 0 means no request
}

uint64_t Distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

uint64_t WallOffset() { return ReadClockNs(CLOCK_REALTIME) - ReadClockNs(CLOCK_MONOTONIC); }

int NewSocket(int family) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));  // without it, arrivals are stamped when they are read
  return fd;
}

int Bound(const SocketAddress& address) {
  const int fd = NewSocket(address.any.sa_family);
  if (fd < 0) return -1;
  const int off = 0;
  if (address.any.sa_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd, &address.any, BytesOf(address)) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/** Null if the kernel did not stamp the message. */
const timespec* StampOf(msghdr& message, timespec& stamp) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    if (part->cmsg_len < CMSG_LEN(sizeof(stamp))) continue;
    memcpy(&stamp, CMSG_DATA(part), sizeof(stamp));
    return &stamp;
  }
  return nullptr;
}

}  // namespace

int Beacons::Open(const Settings& settings) {
  socket_ = woken_ = -1;
  wake_.store(-1, std::memory_order_relaxed);
  is_lost_ = false;
  if (settings.clock_peer[0] == '\0') return 0;
  run_ = BeaconRun(settings.run_id);
  serves_ = settings.rank.rank == 0;
  const uint64_t ranks = settings.rank.world_size > 0 ? static_cast<uint64_t>(settings.rank.world_size) : 1;
  const uint64_t rounds = (ranks + kRequestsPerSecond - 1) / kRequestsPerSecond;
  interval_ns_ = rounds * kSecondNs;
  lookup_.Use(settings.clock_peer, settings.clock_port);
  asked_ = next_ask_ = nonce_ = 0;
  window_begin_ = taken_in_window_ = 0;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return errno;
  int error = Identify(pair[0], woken_identity_) && Identify(pair[1], wake_identity_) ? 0 : errno;
  woken_ = pair[0];
  wake_.store(pair[1], std::memory_order_relaxed);
  // An asking process makes its socket when it knows the peer's address, because the address has the family.
  if (error == 0 && serves_) error = Serve(settings);
  if (error == 0 && serves_ && !Identify(socket_, socket_identity_)) error = errno;
  if (error != 0) Close();
  return error;
}

/**
 * Binds to the given address if it belongs to this host, else to all addresses. A host's own name often resolves to the
 * loopback address, where no other host can reach us.
 */
int Beacons::Serve(const Settings& settings) {
  SocketAddress address;
  if (ParseAddress(settings.clock_peer, settings.clock_port, address)) {
    socket_ = Bound(address);
    if (socket_ >= 0 || errno != EADDRNOTAVAIL) return socket_ >= 0 ? 0 : errno;
  }
  ParseAddress("::", settings.clock_port, address);
  socket_ = Bound(address);
  if (socket_ >= 0 || errno != EAFNOSUPPORT) return socket_ >= 0 ? 0 : errno;
  ParseAddress("0.0.0.0", settings.clock_port, address);
  socket_ = Bound(address);
  return socket_ >= 0 ? 0 : errno;
}

void Beacons::Begin(const HostFacts& host, uint32_t tick_source, uint64_t hz) {
  host_ = host;
  tick_source_ = tick_source;
  hz_ = hz;
  wall_offset_ = 0;
}

bool Beacons::Poll(uint64_t now, bool may_ask, BeaconExchange& exchange) {
  if (wake_.load(std::memory_order_relaxed) < 0) return false;
  if (!AreOurs()) {
    GiveUp();
    return false;
  }
  if (!serves_ && now >= next_ask_) Ask(now, may_ask);
  while (socket_ >= 0 && MayRead(now)) {
    errno = 0;
    if (TakePacket(exchange)) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) continue;
    wall_offset_ = WallOffset();  // the socket is empty now
    break;
  }
  return false;
}

void Beacons::Ask(uint64_t now, bool may_ask) {
  const uint64_t interval = asked_ < kFirstRequests ? interval_ns_ / kFirstFaster : interval_ns_;
  // 7/8 to 9/8 of the interval, so that processes that begin together do not ask together.
  next_ask_ = now + interval - interval / 8 + RandomNumber() % (interval / 4);
  const SocketAddress* peer = may_ask ? lookup_.Find(now) : nullptr;
  if (peer == nullptr) return;
  if (socket_ < 0) {
    const int fd = NewSocket(peer->any.sa_family);
    if (fd >= 0 && Identify(fd, socket_identity_)) socket_ = fd;
    if (socket_ < 0) {
      if (fd >= 0) close(fd);
      return;
    }
  }
  ++asked_;
  BeaconPacket packet = {};
  packet.magic = kBeaconMagic;
  packet.version = kBeaconVersion;
  packet.kind = BeaconPacket::kRequest;
  packet.run = run_;
  packet.nonce = nonce_ = RandomNumber();
  sent_ = ReadTick(tick_source_);  // last: just before the packet leaves
  sendto(socket_, &packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL, &peer->any, BytesOf(*peer));
}

/** Takes one datagram of any kind. False with errno EAGAIN: there is none. */
bool Beacons::TakePacket(BeaconExchange& exchange) {
  BeaconPacket packet;
  SocketAddress from;
  iovec part = {&packet, sizeof(packet)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec)) + 64];
  msghdr message = {};
  message.msg_name = &from;
  message.msg_namelen = sizeof(from);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = recvmsg(socket_, &message, MSG_DONTWAIT | MSG_TRUNC);
  ++taken_in_window_;
  if (got < 0) return false;
  const auto bytes = static_cast<uint64_t>(got);  // size of the datagram, because of MSG_TRUNC, not of what fitted
  timespec stamp;
  if (serves_) {
    if (IsBeaconRequest(packet, bytes, run_))
      Answer(packet, &from, message.msg_namelen, ArrivalTick(StampOf(message, stamp)));
    return false;
  }
  if (nonce_ == 0 || !IsBeacon(packet, bytes, BeaconPacket::kReply, run_) || packet.nonce != nonce_) return false;
  return TakeAnswer(packet, ArrivalTick(StampOf(message, stamp)), exchange);
}

void Beacons::Answer(BeaconPacket& packet, const void* peer, uint32_t peer_bytes, uint64_t received) {
  packet.kind = BeaconPacket::kReply;
  packet.received = received;
  memcpy(packet.boot_id, host_.boot_id, sizeof(packet.boot_id));
  packet.tick_source = tick_source_;
  packet.sent = ReadTick(tick_source_);
  sendto(socket_, &packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL, static_cast<const sockaddr*>(peer), peer_bytes);
}

bool Beacons::TakeAnswer(const BeaconPacket& packet, uint64_t received, BeaconExchange& exchange) {
  nonce_ = 0;
  if (received < sent_ || packet.sent < packet.received) return false;
  exchange.sent = sent_;
  exchange.peer_received = packet.received;
  exchange.peer_sent = packet.sent;
  exchange.received = received;
  memcpy(exchange.peer_boot_id, packet.boot_id, sizeof(exchange.peer_boot_id));
  exchange.peer_tick_source = packet.tick_source;
  return true;
}

/**
 * The kernel's stamp in ticks. Rounded to the later side, because an arrival must not be before its cause. Returns the
 * present tick if the stamp is not usable (there is none, or the wall clock was set meanwhile).
 */
uint64_t Beacons::ArrivalTick(const timespec* stamp) {
  constexpr int kTries = 3;
  const ClockSample now = SampleClocks(tick_source_, kTries);
  const uint64_t latest = now.tick + now.bracket / 2;
  const uint64_t offset = now.realtime - now.monotonic;
  const bool is_stepped = Distance(offset, wall_offset_) > kSteppedNs;
  if (stamp == nullptr || is_stepped || hz_ == 0) return latest;
  const uint64_t at = static_cast<uint64_t>(stamp->tv_sec) * kSecondNs + static_cast<uint64_t>(stamp->tv_nsec);
  if (at > now.realtime || now.realtime - at > kLongestLagNs) return latest;
  const uint64_t lag = (now.realtime - at) * kSlowestOfMillion / 1'000'000;
  const auto ticks = static_cast<uint64_t>(static_cast<double>(lag) * 1e-9 * static_cast<double>(hz_));
  return latest - ticks;
}

bool Beacons::MayRead(uint64_t now) {
  if (now - window_begin_ >= kSecondNs) {
    window_begin_ = now;
    taken_in_window_ = 0;
  }
  return taken_in_window_ < kReadsPerSecond;
}

void Beacons::WaitWhile(std::atomic<uint32_t>& word, uint32_t old, uint64_t deadline) {
  const int wake = wake_.load(std::memory_order_relaxed);
  if (wake < 0) {
    nccl_trace::WaitWhile(word, old, deadline);
    return;
  }
  if (!serves_ && next_ask_ < deadline) deadline = next_ask_;
  const uint64_t now = ReadClockNs(CLOCK_MONOTONIC);
  const bool reads = socket_ >= 0 && MayRead(now);
  // After a flood, come back when packets are read again.
  if (socket_ >= 0 && !reads && window_begin_ + kSecondNs < deadline) deadline = window_begin_ + kSecondNs;
  // At most a second, because a wake is lost if the job has closed our descriptor.
  const uint64_t now_and_a_second = now + kSecondNs;
  if (now_and_a_second < deadline) deadline = now_and_a_second;
  // Read the word after the wakes were read and before the next sleep, so that no wake is missed.
  if (word.load(std::memory_order_acquire) != old || now >= deadline) return;
  pollfd entries[2] = {{woken_, POLLIN, 0}, {reads ? socket_ : -1, POLLIN, 0}};
  const uint64_t left = deadline - now;
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(left / kSecondNs);
  timeout.tv_nsec = static_cast<long>(left % kSecondNs);
  if (ppoll(entries, 2, &timeout, nullptr) <= 0) return;
  if (((entries[0].revents | entries[1].revents) & (POLLNVAL | POLLERR | POLLHUP)) != 0) {
    GiveUp();
    return;
  }
  if (entries[0].revents == 0 || !IsStill(woken_, woken_identity_)) return;
  char wakes;
  for (int i = 0; i < kMostWakes && recv(woken_, &wakes, sizeof(wakes), MSG_DONTWAIT) >= 0; ++i) {
  }
}

void Beacons::Wake() {
  const int wake = wake_.load(std::memory_order_relaxed);
  const char one = 1;
  // If the socket is full, the thread is awake. If the job has just reused the number for a file, send fails and does not wait.
  if (wake >= 0 && IsStill(wake, wake_identity_)) send(wake, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
}

bool Beacons::AreOurs() const {
  return IsStill(woken_, woken_identity_) && IsStill(wake_.load(std::memory_order_relaxed), wake_identity_) &&
         (socket_ < 0 || IsStill(socket_, socket_identity_));
}

/** Closes nothing: some descriptors are not ours any more, and another thread may be using the others. */
void Beacons::GiveUp() {
  wake_.store(-1, std::memory_order_relaxed);
  socket_ = woken_ = -1;
  is_lost_ = true;
}

void Beacons::Close() {
  CloseIfStill(wake_.exchange(-1, std::memory_order_relaxed), wake_identity_);
  CloseIfStill(woken_, woken_identity_);
  CloseIfStill(socket_, socket_identity_);
  socket_ = woken_ = -1;
}

}  // namespace nccl_trace
