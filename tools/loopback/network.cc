#include "loopback/network.h"

namespace loopback {
namespace {

int64_t SendRate(const Options& options) {
  const int64_t slow = RateOf(options.slowdowns, Slow::kNic, options.rank);
  return slow == 0 ? options.rateLimit : slow;
}

}  // namespace

Network::Network(Profiler* profiler, const Options& options)
    : credits_(options.credits),
      threads_(options.netEvents.kind == NetEventKind::kSocketThreads),
      next_((options.rank + 1) % options.ranks),
      slowLink_(RateOf(options.slowdowns, Slow::kLink, options.rank) != 0),
      slowChannel_(RateOf(options.slowdowns, Slow::kChannel, options.rank) != 0),
      rate_(SendRate(options)),
      linkRate_(RateOf(options.slowdowns, Slow::kLink, options.rank)),
      channelRate_(RateOf(options.slowdowns, Slow::kChannel, options.rank)),
      recvRate_(RateOf(options.slowdowns, Slow::kNic, options.rank)),
      events_(profiler, options.netEvents),
      sender_("NCCL SockS0 0 0", profiler, options.netEvents, options.spin),
      receiver_("NCCL SockR0 0 0", profiler, options.netEvents, options.spin) {}

std::unique_ptr<SendSocket> Network::Sender(int fd, int peer, int channel) {
  const bool isChannel = slowChannel_ && channel == 0;
  RateLimit* const slow = isChannel ? &channelRate_ : slowLink_ ? &linkRate_ : &rate_;
  RateLimit* const rate = peer == next_ ? slow : &rate_;
  auto socket = std::make_unique<SendSocket>(fd, credits_, rate, &events_, threads_ ? &sender_ : nullptr);
  sender_.Add(socket.get());
  return socket;
}

std::unique_ptr<RecvSocket> Network::Receiver(int fd) {
  auto socket = std::make_unique<RecvSocket>(fd, credits_, &recvRate_, &events_, threads_ ? &receiver_ : nullptr);
  receiver_.Add(socket.get());
  return socket;
}

void Network::Begin() {
  if (!threads_) return;
  sender_.Begin();
  receiver_.Begin();
}

void Network::Stop() {
  sender_.Stop();
  receiver_.Stop();
}

void Network::Freeze() {
  sender_.Freeze();
  receiver_.Freeze();
}

}  // namespace loopback
