#include "plugin/persist/drainer.h"

#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kRetryNs = kSecondNs;
// A ring at rest may start to fill this fast, in slots per second, without loss …
constexpr uint64_t kBurstPerS = 1'000'000;
// … but a small ring must not keep the thread awake.
constexpr uint64_t kShortestRestNs = 10'000'000;
constexpr uint64_t kShortestSleepNs = 1'000'000;
constexpr uint64_t kShortestMeasureNs = 1'000'000;

/** The smallest and largest tick of the records that begin among some slots. A torn record may have any tick. */
class Ticks {
 public:
  void Add(const rank_file::Slot& slot, bool checks_out) {
    if (!checks_out || SlotPart(slot) != 0) return;
    const uint64_t tick = slot.words[0];
    if (tick < first_) first_ = tick;
    if (tick > last_) last_ = tick;
  }
  uint64_t first() const { return last_ == 0 ? 0 : first_; }
  uint64_t last() const { return last_; }

 private:
  uint64_t first_ = ~uint64_t{0};
  uint64_t last_ = 0;
};

}  // namespace

bool Drainer::Allocate() {
  slots_ = static_cast<rank_file::Slot*>(MapAnonymous(rank_file::kMaxChunkRawBytes));
  return slots_ != nullptr;
}

void Drainer::Use(const Image& image, const FileLayout* layout, ChunkFile* chunks) {
  image_ = image;
  layout_ = layout;
  chunks_ = chunks;
  looked_ = not_before_ = 0;
}

Drainer::Outcome Drainer::DrainOnce(uint64_t now) {
  if (!chunks_->has_file() || now < not_before_) return Outcome::kIdle;
  Look(now);
  for (uint32_t ring = MostUrgent(); ring != kNone; ring = MostUrgent()) {
    const ChunkSlots chunk = Gather(ring);
    // Short because of a hole, or empty because the ring was overwritten faster than it could be copied.
    const bool is_short = chunk.count + rank_file::kMaxParts < GoodChunk(ring);
    if (chunk.count == 0 || (is_short && !MustGo(ring))) {
      rings_[ring].is_held_up = true;
      continue;
    }
    if (!chunks_->Append(chunk)) {
      not_before_ = now + kRetryNs;
      return Outcome::kFailed;
    }
    rings_[ring].next = chunk.first_position + chunk.count;
    return Outcome::kDrained;
  }
  return Outcome::kIdle;
}

void Drainer::Look(uint64_t now) {
  const uint64_t passed = now - looked_;
  const bool measure = passed >= kShortestMeasureNs;
  for (uint32_t ring = 0; ring <= layout_->overflow; ++ring) {
    Progress& progress = rings_[ring];
    progress.is_held_up = false;
    const uint64_t head = Load(image_.live(layout_->areas[ring])->head);
    if (!measure) continue;
    // The estimate rises at once and falls slowly.
    const uint64_t per_s = looked_ == 0 ? 0 : (head - progress.head) * kSecondNs / passed;
    progress.per_s = per_s > progress.per_s ? per_s : progress.per_s - (progress.per_s - per_s + 3) / 4;
    progress.head = head;
  }
  if (measure) looked_ = now;
}

uint64_t Drainer::Backlog(uint32_t ring) const {
  return Load(image_.live(layout_->areas[ring])->head) - rings_[ring].next;
}

uint64_t Drainer::GoodChunk(uint32_t ring) const {
  const uint64_t half = layout_->areas[ring].capacity / 2;
  return half < kMostChunkSlots ? half : kMostChunkSlots;
}

/** The ring is about to be overwritten: do not wait for its holes. */
bool Drainer::MustGo(uint32_t ring) const { return Backlog(ring) >= layout_->areas[ring].capacity / 4 * 3; }

/** The fullest ring that has a good chunk. */
uint32_t Drainer::MostUrgent() const {
  uint32_t chosen = kNone;
  uint64_t fullest = 0;
  for (uint32_t ring = 0; ring <= layout_->overflow; ++ring) {
    const uint64_t backlog = Backlog(ring);
    if (rings_[ring].is_held_up || backlog < GoodChunk(ring)) continue;
    const uint64_t full = (backlog << 20) / layout_->areas[ring].capacity;
    if (full < fullest) continue;
    fullest = full;
    chosen = ring;
  }
  return chosen;
}

/** Whole records from `next` on, up to a chunk. Moves `next` to the oldest slot that is not overwritten. */
ChunkSlots Drainer::Gather(uint32_t ring) {
  const rank_file::AreaEntry& area = layout_->areas[ring];
  const rank_file::Slot* slots = image_.slots(area);
  const uint64_t mask = area.capacity - 1;
  Progress& progress = rings_[ring];
  const uint64_t* head = &image_.live(area)->head;
  const bool must_go = MustGo(ring);

  const uint64_t before = Load(*head);
  if (before - progress.next > area.capacity) progress.next = before - area.capacity;
  const uint64_t most = before - progress.next < kMostChunkSlots ? before - progress.next : kMostChunkSlots;
  uint32_t count = 0;
  uint32_t whole = 0;  // up to the end of the last record
  Ticks ticks;
  for (; count < most; ++count) {
    const uint64_t position = progress.next + count;
    slots_[count] = LoadSlot(slots[position & mask]);
    const bool checks_out = ChecksOut(slots_[count], position);
    if (!checks_out && !must_go) break;
    ticks.Add(slots_[count], checks_out);
    if (!checks_out || SlotPart(slots_[count]) + 1 == SlotParts(slots_[count])) whole = count + 1;
  }
  // On x86-64 a producer moves the head before it writes a position. Elsewhere only the slot's check finds an overwritten
  // slot, as for every reader. One record may be in progress beyond the head.
  const uint64_t overwritten_to = Load(*head) + rank_file::kMaxParts;
  uint32_t lost = 0;
  if (overwritten_to > progress.next + area.capacity) {
    const uint64_t gone = overwritten_to - area.capacity - progress.next;
    lost = static_cast<uint32_t>(gone < whole ? gone : whole);
    progress.next += gone;
  }
  if (lost > 0 || whole < count) {
    ticks = {};
    for (uint32_t i = lost; i < whole; ++i) {
      ticks.Add(slots_[i], ChecksOut(slots_[i], progress.next + (i - lost)));
    }
  }
  return {ring, progress.next, slots_ + lost, whole - lost, ticks.first(), ticks.last()};
}

uint64_t Drainer::NextDue(uint64_t now) const {
  if (!chunks_->has_file()) return now + kSecondNs;
  if (now < not_before_) return not_before_;
  uint64_t shortest = kSecondNs;
  for (uint32_t ring = 0; ring <= layout_->overflow; ++ring) {
    const uint64_t ns = NsUntilDue(ring);
    if (ns < shortest) shortest = ns;
  }
  return now + shortest;
}

/** Time until the ring is a quarter full, or has a good chunk if that is more, at twice the rate seen. */
uint64_t Drainer::NsUntilDue(uint32_t ring) const {
  const uint64_t quarter = layout_->areas[ring].capacity / 4;
  const uint64_t good = GoodChunk(ring) > quarter ? GoodChunk(ring) : quarter;
  const uint64_t due = rings_[ring].is_held_up ? 3 * quarter : good;
  const uint64_t backlog = Backlog(ring);
  const uint64_t room = backlog < due ? due - backlog : 0;
  const auto at_least = [](uint64_t ns, uint64_t least) { return ns > least ? ns : least; };
  const uint64_t in_burst = at_least(room * kSecondNs / kBurstPerS, kShortestRestNs);
  const uint64_t per_s = rings_[ring].per_s;
  if (per_s == 0) return in_burst;
  const uint64_t as_seen = at_least(room * kSecondNs / (2 * per_s), kShortestSleepNs);
  return as_seen < in_burst ? as_seen : in_burst;
}

}  // namespace nccl_trace
