#include "loopback/endgame.h"

#include <algorithm>
#include <csignal>
#include <fstream>

#include "loopback/clock.h"

namespace loopback {
namespace {

constexpr int64_t kNoTime = INT64_MAX;
constexpr int64_t kDumpTime = kSecond;       // for ranks to write down what they were doing
constexpr int64_t kGraceTime = 3 * kSecond;  // between asking a rank to end and making it

/** True once, when the time has come. */
bool Due(int64_t& at, int64_t now) {
  if (now < at) return false;
  at = kNoTime;
  return true;
}

}  // namespace

Endgame::Endgame(const Options& options, const std::vector<Child>& children, std::function<bool()> recover)
    : options_(options),
      children_(children),
      recover_(std::move(recover)),
      timeoutAt_(MonotonicNs() + options.timeoutNs),
      hangEndsAt_(kNoTime),
      dumpEndsAt_(kNoTime),
      killAt_(kNoTime) {}

void Endgame::BeginHang() {
  if (hangEndsAt_ == kNoTime && !MayRecover()) ReportFault();
  hangEndsAt_ = std::min(hangEndsAt_, MonotonicNs() + (MayRecover() ? options_.recoveryNs : options_.hangNs));
}

/** Makes an empty file. Tests wait for it before they look at a stuck job. */
void Endgame::ReportFault() const {
  if (!options_.truthDir.empty()) std::ofstream(options_.truthDir + "/fault");
}

void Endgame::Interrupt(int signal) {
  SignalAll(signal);
  killAt_ = MonotonicNs() + kGraceTime;
}

void Endgame::HandleTimers() {
  const int64_t now = MonotonicNs();
  if (Due(timeoutAt_, now)) {
    timedOut_ = true;
    endSignal_ = SIGKILL;
    AskForDumps();
  }
  if (Due(hangEndsAt_, now) && !(MayRecover() && (recovered_ = recover_()))) {
    if (endSignal_ == 0) endSignal_ = options_.hangSignal;
    AskForDumps();
  }
  const bool allDumped =
      std::all_of(children_.begin(), children_.end(), [](const Child& c) { return !c.alive() || c.dumped; });
  if (dumpEndsAt_ != kNoTime && allDumped) dumpEndsAt_ = now;
  if (Due(dumpEndsAt_, now)) {
    SignalAll(endSignal_);
    killAt_ = now + kGraceTime;
  }
  if (Due(killAt_, now)) SignalAll(SIGKILL);
}

int64_t Endgame::NextStepIn() const {
  const int64_t next = std::min({timeoutAt_, hangEndsAt_, dumpEndsAt_, killAt_});
  return next == kNoTime ? -1 : std::max<int64_t>(0, next - MonotonicNs());
}

void Endgame::AskForDumps() {
  for (const Child& child : children_) {
    if (child.alive()) child.control.Send(MessageType::kDump);
  }
  dumpEndsAt_ = std::min(dumpEndsAt_, MonotonicNs() + kDumpTime);
}

void Endgame::SignalAll(int signal) const {
  for (const Child& child : children_) {
    if (child.alive()) kill(child.pid, signal);
  }
}

}  // namespace loopback
