#include "addon/records.h"

#include <cmath>

namespace addon {
namespace {

using rank_file::Slot;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

class Assembler {
 public:
  Assembler(const Carry& carry, const TickFrame& frame, const MinParts& min_parts, size_t slots)
      : frame_(frame), min_parts_(min_parts), covered_(carry.covered) {
    const size_t most = slots + 1;
    for (auto* column : {&out_.position, &out_.tick}) column->reserve(most);
    out_.kind.reserve(most);
    for (auto* column : {&out_.word1_low, &out_.word1_high, &out_.word2_low, &out_.word2_high, &out_.extra_start}) {
      column->reserve(most);
    }
    out_.extra_start.push_back(0);
    if (carry.has_open) Resume(carry.open);
  }

  void Take(const Slot* slot, const Stretch& stretch) {
    double position = stretch.position;
    for (size_t i = 0; i < stretch.length; ++i, ++slot, ++position) {
      const uint32_t meta = Low(slot->words[3]) & 0xFFFF;
      if ((meta & 0x0F00) == 0) {
        Begin(*slot, position, meta);
      } else if (missing_ > 0 && position == expected_ && meta == NextMeta()) {
        Continue(*slot);
      } else {
        missing_ = 0;
      }
    }
  }

  Records Finish() {
    out_.carry.covered = covered_;
    out_.carry.has_open = missing_ > 0;
    if (out_.carry.has_open) out_.carry.open = open_;
    return std::move(out_);
  }

 private:
  /** Kind and parts of the first slot, with the number of the next part. */
  uint32_t NextMeta() const { return open_.meta | ((open_.meta >> 12) - missing_) << 8; }

  void Begin(const Slot& slot, double position, uint32_t meta) {
    open_.position = position;
    open_.tick = Tick(slot.words[0]);
    open_.meta = meta;
    open_.words[0] = Low(slot.words[1]);
    open_.words[1] = High(slot.words[1]);
    open_.words[2] = Low(slot.words[2]);
    open_.words[3] = High(slot.words[2]);
    open_.extra.clear();
    missing_ = (meta >> 12) - 1;
    expected_ = position + 1;
    if (missing_ == 0) Commit();
  }

  void Continue(const Slot& slot) {
    for (int word = 0; word < 3; ++word) {
      open_.extra.push_back(Low(slot.words[word]));
      open_.extra.push_back(High(slot.words[word]));
    }
    ++expected_;
    --missing_;
    if (missing_ == 0) Commit();
  }

  void Commit() {
    const uint32_t kind = open_.meta & 0xFF;
    if (open_.meta >> 12 < min_parts_[kind]) {
      ++out_.too_short;
      return;
    }
    if (!IsPossible(kind)) {
      ++out_.impossible;
      return;
    }
    const auto row = static_cast<uint32_t>(out_.position.size());
    if (open_.position > covered_) out_.holes.push_back({covered_, open_.position, row});
    covered_ = expected_;
    ++out_.kinds[kind];
    if (open_.tick < 0) {
      ++out_.early;
      open_.tick = 0;
    }
    out_.position.push_back(open_.position);
    out_.tick.push_back(open_.tick);
    out_.kind.push_back(static_cast<uint8_t>(kind));
    out_.word1_low.push_back(open_.words[0]);
    out_.word1_high.push_back(open_.words[1]);
    out_.word2_low.push_back(open_.words[2]);
    out_.word2_high.push_back(open_.words[3]);
    out_.extra.insert(out_.extra.end(), open_.extra.begin(), open_.extra.end());
    out_.extra_start.push_back(static_cast<uint32_t>(out_.extra.size()));
  }

  void Resume(const OpenRecord& open) {
    open_ = open;
    const auto taken = static_cast<uint32_t>(1 + open.extra.size() / 6);
    missing_ = (open.meta >> 12) - taken;
    expected_ = open.position + taken;
  }

  bool IsPossible(uint32_t kind) const {
    if (std::fabs(open_.tick) > frame_.farthest) return false;
    if (kind == rank_file::kClockSample) return open_.tick >= 0;
    if (kind != rank_file::kFold) return true;
    const uint64_t last = uint64_t{open_.extra[1]} << 32 | open_.extra[0];
    return std::fabs(Tick(last)) <= frame_.farthest && open_.extra[3] == 0;
  }

  /** As JavaScript computes it from halves: exact below 2^53, rounded once beyond. */
  double Tick(uint64_t word) const {
    return (static_cast<double>(High(word)) - static_cast<double>(High(frame_.base))) * 4294967296.0 +
           (static_cast<double>(Low(word)) - static_cast<double>(Low(frame_.base)));
  }

  const TickFrame& frame_;
  const MinParts& min_parts_;
  Records out_;
  double covered_;        // one past the newest record's last slot
  OpenRecord open_;       // the record being put together,
  uint32_t missing_ = 0;  // its parts still missing,
  double expected_ = -1;  // and the position of the next
};

}  // namespace

Records Assemble(const Slot* slots, const std::vector<Stretch>& order, const Carry& carry, const TickFrame& frame,
                 const MinParts& min_parts) {
  size_t count = 0;
  for (const Stretch& stretch : order) count += stretch.length;
  Assembler assembler(carry, frame, min_parts, count);
  for (const Stretch& stretch : order) assembler.Take(slots + stretch.index, stretch);
  return assembler.Finish();
}

}  // namespace addon
