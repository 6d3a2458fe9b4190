#include "loopback/net.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "loopback/clock.h"
#include "loopback/fatal.h"

namespace loopback {
namespace {

/** With a rate limit, moves this much at once. A thread that moved a little at each look would never sleep. */
constexpr size_t kPiece = 64 * kKiB;

/** Bytes moved. 0: nothing now, or the peer is gone, which looks the same here. */
size_t Moved(ssize_t result) { return result < 0 ? 0 : result; }

}  // namespace

size_t RateLimit::Allow(size_t wanted, int64_t since) {
  const int64_t cutUntil = cutUntil_.load(std::memory_order_relaxed);
  if (rate_ == 0 && cutUntil == 0) return wanted;
  const int64_t now = MonotonicNs();
  if (now < cutUntil) return 0;
  if (rate_ == 0) return wanted;
  if (since > filledAt_) {
    budget_ = 0;
    filledAt_ = since;
  }
  budget_ += static_cast<double>(now - filledAt_) * rate_ / kSecond;
  filledAt_ = now;
  return budget_ < std::min(wanted, kPiece) ? 0 : std::min<double>(wanted, budget_);
}

bool Socket::TestOldest() {
  bool moved = false;
  if (helper_ == nullptr) Move(*events_, &moved);
  if (counts_.moved.load(std::memory_order_acquire) == counts_.done) return false;
  counts_.done += 1;
  return true;
}

int Socket::Move(NetEvents& events, bool* moved) {
  const uint64_t oldest = counts_.moved.load(std::memory_order_relaxed);
  // Each test asks for one request.
  if (oldest == counts_.posted.load(std::memory_order_acquire) || !MoveOldest(events, moved)) return 0;
  counts_.moved.store(oldest + 1, std::memory_order_release);
  return 1;
}

/** A connection with helper threads knows the first request's parent only. */
const NetParent& Socket::ParentOf(const NetParent& parent) {
  if (helper_ == nullptr) return parent;
  if (counts_.posted.load(std::memory_order_relaxed) == 0) first_ = parent;
  return first_;
}

void Socket::Posted() {
  counts_.posted.store(counts_.posted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (helper_ != nullptr) helper_->Posted();
}

bool SendSocket::TakeCredit() {
  if (!needsCredits_) return true;
  if (credits_ == 0) {
    char bytes[2 * kSteps];
    credits_ = Moved(recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT));
  }
  if (credits_ == 0) return false;
  credits_ -= 1;
  return true;
}

bool SendSocket::Post(const char* data, size_t bytes, uint64_t step, const NetParent& parent) {
  const uint64_t posted = counts_.posted.load(std::memory_order_relaxed);
  if (posted - counts_.done == kSteps || !TakeCredit()) return false;
  Request& request = requests_[posted % kSteps];
  request.header = {static_cast<uint32_t>(bytes), static_cast<uint32_t>(step)};
  request.data = data;
  request.sent = 0;
  request.postedAt = rate_->isLimited() ? MonotonicNs() : 0;
  request.events.Posted(*events_, ParentOf(parent), true, fd_, posted % kSteps, bytes);
  Posted();
  return true;
}

bool SendSocket::MoveOldest(NetEvents& events, bool* moved) {
  Request& request = requests_[counts_.moved.load(std::memory_order_relaxed) % kSteps];
  const size_t total = sizeof(MessageHeader) + request.header.bytes;
  while (request.sent < total) {
    const size_t left = rate_->Allow(total - request.sent, request.postedAt);
    const size_t sent = left == 0 ? 0 : SendSome(request, left);
    if (sent == 0) return false;
    *moved = true;
    rate_->Used(sent);
    request.sent += sent;
    if (request.sent >= sizeof(MessageHeader)) {
      request.events.Moved(events, request.sent - sizeof(MessageHeader), request.header.bytes);
    }
  }
  request.events.Completed(events);
  return true;
}

size_t SendSocket::SendSome(Request& request, size_t most) {
  const size_t headerLeft = sizeof(MessageHeader) - std::min(request.sent, sizeof(MessageHeader));
  const size_t dataSent = request.sent + headerLeft - sizeof(MessageHeader);
  iovec parts[2] = {
      {reinterpret_cast<char*>(&request.header) + (sizeof(MessageHeader) - headerLeft), std::min(most, headerLeft)},
      {const_cast<char*>(request.data) + dataSent, most - std::min(most, headerLeft)},
  };
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return Moved(sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

bool RecvSocket::Post(char* data, size_t capacity, uint64_t step, const NetParent& parent) {
  const uint64_t posted = counts_.posted.load(std::memory_order_relaxed);
  if (posted - counts_.done == kSteps) return false;
  const char credit = 'c';
  // If the peer is dead, the receive is still posted, and never completes.
  if (grantsCredits_ && send(fd_, &credit, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN) return false;
  Request& request = requests_[posted % kSteps];
  request.data = data;
  request.capacity = capacity;
  request.step = step;
  request.events.Posted(*events_, ParentOf(parent), false, fd_, posted % kSteps, 0);
  Posted();
  return true;
}

/** Continues at `got_` the piece of the message that begins at `from`. True: that piece is complete. */
bool RecvSocket::ReadInto(char* to, size_t size, size_t from) {
  while (got_ < from + size) {
    const size_t left = from + size - got_;
    const bool isHeader = from == 0;
    const size_t most = isHeader ? left : rate_->Allow(left, arrivedAt_);
    const size_t moved = most == 0 ? 0 : Moved(recv(fd_, to + (got_ - from), most, MSG_DONTWAIT));
    if (moved == 0) return false;
    if (!isHeader) rate_->Used(moved);
    got_ += moved;
    if (isHeader && rate_->isLimited()) arrivedAt_ = MonotonicNs();
  }
  return true;
}

void RecvSocket::CheckHeader(const Request& request) const {
  if (header_.step == static_cast<uint32_t>(request.step) && header_.bytes <= request.capacity) return;
  Fatal(kExitWrongData, "expected step %lu of at most %zu bytes, got step %u of %u bytes",
        static_cast<unsigned long>(request.step), request.capacity, header_.step, header_.bytes);
}

bool RecvSocket::TestOldest(size_t* bytes) {
  if (!Socket::TestOldest()) return false;
  *bytes = requests_[(counts_.done - 1) % kSteps].bytes;
  return true;
}

bool RecvSocket::MoveOldest(NetEvents& events, bool* moved) {
  Request& request = requests_[counts_.moved.load(std::memory_order_relaxed) % kSteps];
  const size_t before = got_;
  if (!ReadInto(reinterpret_cast<char*>(&header_), sizeof header_, 0)) return false;
  CheckHeader(request);
  const bool complete = ReadInto(request.data, header_.bytes, sizeof header_);
  *moved |= got_ > before;
  if (got_ > before) request.events.Moved(events, got_ - sizeof header_, header_.bytes);
  if (!complete) return false;
  request.events.Completed(events);
  request.bytes = header_.bytes;
  got_ = 0;
  return true;
}

}  // namespace loopback
