#include "plugin/thread/heartbeat.h"

#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

constexpr int kTries = 16;

}  // namespace

uint64_t Heartbeat::Beat() {
  const ClockSample now = Sample();
  Write(layout_->heartbeat, heartbeats_++, now);
  for (uint32_t i = 0; i < kClockTables; ++i) {
    if (beats_ % (kClockIntervalsMs[i] / 1'000) == 0) Write(layout_->first_clock + i, samples_[i]++, now);
  }
  ++beats_;
  return now.boottime;
}

void Heartbeat::WriteLast() {
  const ClockSample last = Sample();
  Write(layout_->heartbeat, heartbeats_++, last);
  Write(layout_->first_clock, samples_[0]++, last);
}

ClockSample Heartbeat::Sample() const { return SampleClocks(tick_source_, kTries); }

void Heartbeat::Write(uint32_t area, uint64_t number, const ClockSample& sample) {
  constexpr uint32_t kParts = rank_file::kClockSampleSlots;
  const rank_file::AreaEntry& entry = layout_->areas[area];
  const uint64_t position = number * kParts;
  rank_file::Slot* slots = &image_.slots(entry)[position & (entry.capacity - 1)];
  PutSlot(slots[0], rank_file::SlotMeta(rank_file::kClockSample, 0, kParts, position), sample.tick, sample.realtime,
          sample.monotonic);
  PutSlot(slots[1], rank_file::SlotMeta(rank_file::kClockSample, 1, kParts, position + 1), sample.bracket,
          sample.boottime, 0);
  Store(image_.live(entry)->head, position + kParts);
}

}  // namespace nccl_trace
