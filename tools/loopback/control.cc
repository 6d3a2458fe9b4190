#include "loopback/control.h"

#include <poll.h>
#include <sys/socket.h>

#include "loopback/clock.h"

namespace loopback {

bool Control::Send(const Message& message) const {
  return send(fd_, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

bool Control::Send(MessageType type) const {
  Message message{};
  message.type = type;
  return Send(message);
}

std::optional<Message> Control::Receive(int64_t timeoutNs, bool* closed) const {
  pollfd entry{fd_, POLLIN, 0};
  const timespec limit = ToTimespec(timeoutNs);
  if (ppoll(&entry, 1, timeoutNs < 0 ? nullptr : &limit, nullptr) <= 0) return std::nullopt;
  Message message{};
  const ssize_t got = recv(fd_, &message, sizeof message, MSG_DONTWAIT);
  if (got > 0) return message;
  *closed = true;
  return std::nullopt;
}

bool Control::SendPeers(const std::vector<uint16_t>& ports) const {
  const ssize_t bytes = ports.size() * sizeof ports[0];
  return send(fd_, ports.data(), bytes, MSG_NOSIGNAL) == bytes;
}

std::vector<uint16_t> Control::ReceivePeers(int ranks) const {
  std::vector<uint16_t> ports(ranks);
  const ssize_t bytes = ports.size() * sizeof ports[0];
  if (recv(fd_, ports.data(), bytes, 0) != bytes) ports.clear();
  return ports;
}

}  // namespace loopback
