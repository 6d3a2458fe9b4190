#include "loopback/net.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "loopback/clock.h"
#include "loopback/fatal.h"

namespace loopback {
namespace {

constexpr int64_t kRateWindow = 2 * kMillisecond;  // what may be sent in one burst

/** Bytes moved, or 0: nothing now, or the peer is gone, which looks the same from here. */
size_t Moved(ssize_t result) { return result < 0 ? 0 : result; }

}  // namespace

void RateLimit::Refill() {
  const int64_t now = MonotonicNs();
  const int64_t most = std::max<int64_t>(64 * kKiB, rate_ * kRateWindow / kSecond);
  const double elapsed = filledAt_ == 0 ? 0 : now - filledAt_;
  budget_ = std::min<int64_t>(most, budget_ + elapsed * rate_ / kSecond);
  filledAt_ = now;
}

size_t RateLimit::Allow(size_t wanted) {
  if (rate_ == 0) return wanted;
  Refill();
  return std::min<int64_t>(wanted, std::max<int64_t>(0, budget_));
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

bool SendSocket::Post(const char* data, size_t bytes, uint64_t step) {
  if (posted_ - done_ == kSteps || !TakeCredit()) return false;
  requests_[posted_ % kSteps] = {{static_cast<uint32_t>(bytes), static_cast<uint32_t>(step)}, data, 0};
  posted_ += 1;
  return true;
}

bool SendSocket::TestOldest() {
  Request& request = requests_[done_ % kSteps];
  const size_t total = sizeof(MessageHeader) + request.header.bytes;
  while (request.sent < total) {
    const size_t left = rate_->Allow(total - request.sent);
    if (left == 0) return false;
    const size_t headerLeft = sizeof(MessageHeader) - std::min(request.sent, sizeof(MessageHeader));
    const size_t dataSent = request.sent + headerLeft - sizeof(MessageHeader);
    iovec parts[2] = {
        {reinterpret_cast<char*>(&request.header) + (sizeof(MessageHeader) - headerLeft), std::min(left, headerLeft)},
        {const_cast<char*>(request.data) + dataSent, left - std::min(left, headerLeft)},
    };
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const size_t moved = Moved(sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    if (moved == 0) return false;
    rate_->Used(moved);
    request.sent += moved;
  }
  done_ += 1;
  return true;
}

bool RecvSocket::Post(char* data, size_t capacity, uint64_t step) {
  if (posted_ - done_ == kSteps) return false;
  const char credit = 'c';
  // A dead peer cannot be told; the receive is posted all the same and never completes.
  if (grantsCredits_ && send(fd_, &credit, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN) return false;
  requests_[posted_ % kSteps] = {data, capacity, step};
  posted_ += 1;
  return true;
}

/** Continues at `got_` the piece of the message that begins at `from`. True: that piece is complete. */
bool RecvSocket::ReadInto(char* to, size_t size, size_t from) {
  while (got_ < from + size) {
    const size_t moved = Moved(recv(fd_, to + (got_ - from), from + size - got_, MSG_DONTWAIT));
    if (moved == 0) return false;
    got_ += moved;
  }
  return true;
}

void RecvSocket::CheckHeader(const Request& request) const {
  if (header_.step == static_cast<uint32_t>(request.step) && header_.bytes <= request.capacity) return;
  Fatal(kExitWrongData, "expected step %lu of at most %zu bytes, got step %u of %u bytes",
        static_cast<unsigned long>(request.step), request.capacity, header_.step, header_.bytes);
}

bool RecvSocket::TestOldest(size_t* bytes) {
  const Request& request = requests_[done_ % kSteps];
  if (!ReadInto(reinterpret_cast<char*>(&header_), sizeof header_, 0)) return false;
  CheckHeader(request);
  if (!ReadInto(request.data, header_.bytes, sizeof header_)) return false;
  *bytes = header_.bytes;
  got_ = 0;
  done_ += 1;
  return true;
}

}  // namespace loopback
