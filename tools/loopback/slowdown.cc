#include "loopback/slowdown.h"

#include "loopback/parse.h"

namespace loopback {
namespace {

Slow ParseWhat(const std::string& word) {
  if (word == "host") return Slow::kHost;
  if (word == "gpu") return Slow::kGpu;
  if (word == "slice") return Slow::kSlice;
  if (word == "proxy") return Slow::kProxy;
  if (word == "nic") return Slow::kNic;
  if (word == "link") return Slow::kLink;
  if (word == "channel") return Slow::kChannel;
  throw UsageError("--slow does not know '" + word + "', but host, gpu, slice, proxy, nic, link, channel");
}

/** Cuts off the number behind `mark`, if there is one. */
int TakeNumber(std::string& text, char mark, int otherwise) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return otherwise;
  const int number = ParseInt(text.substr(at + 1), 0, kMost, "--slow's iteration");
  text.resize(at);
  return number;
}

}  // namespace

Slowdown ParseSlowdown(const std::string& text) {
  std::vector<std::string> parts = Split(text, ':');
  if (parts.size() != 3) throw UsageError("--slow wants WHAT:RANK:AMOUNT, not '" + text + "'");
  Slowdown slow{ParseWhat(parts[0]), static_cast<int>(ParseInt(parts[1], 0, kMost, "--slow's rank")), 0};
  slow.every = TakeNumber(parts[2], '/', 1);
  slow.to = TakeNumber(parts[2], '-', INT32_MAX);
  slow.from = TakeNumber(parts[2], '@', 0);
  if (slow.every < 1) throw UsageError("--slow: EVERY must be at least 1");
  const bool isTime = slow.what != Slow::kNic && slow.what != Slow::kLink && slow.what != Slow::kChannel;
  slow.amount = isTime ? ParseTime(parts[2]) : static_cast<int64_t>(1e6 * ParseDouble(parts[2], "--slow's MB/s"));
  if (!isTime && slow.amount < 1) throw UsageError("--slow: MB/s must be more than 0");
  return slow;
}

int64_t DelayOf(const std::vector<Slowdown>& all, Slow what, int rank, int iteration) {
  int64_t delay = 0;
  for (const Slowdown& slow : all) {
    if (slow.what == what && slow.rank == rank && slow.In(iteration)) delay += slow.amount;
  }
  return delay;
}

int64_t RateOf(const std::vector<Slowdown>& all, Slow what, int rank) {
  for (const Slowdown& slow : all) {
    if (slow.what == what && slow.rank == rank) return slow.amount;
  }
  return 0;
}

}  // namespace loopback
