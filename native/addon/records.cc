#include "addon/records.h"

#include <string.h>

#include <algorithm>
#include <cmath>

namespace addon {
namespace {

using rank_file::Slot;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

/** The row `rows` is the record being put together. It becomes valid when `rows` moves past it. */
class Assembler {
 public:
  Assembler(const Carry& carry, const TickFrame& frame, const MinParts& min_parts, const Columns& to)
      : frame_(frame), min_parts_(min_parts), to_(to), covered_(carry.covered) {
    memset(to_.kinds, 0, 256 * sizeof *to_.kinds);
    to_.extra_start[0] = 0;
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

  Assembled Finish() {
    out_.carry.covered = covered_;
    out_.carry.has_open = missing_ > 0;
    if (out_.carry.has_open) out_.carry.open = Suspended();
    return std::move(out_);
  }

 private:
  /** Kind and parts of the first slot, with the number of the next part. */
  uint32_t NextMeta() const { return meta_ | ((meta_ >> 12) - missing_) << 8; }

  void Begin(const Slot& slot, double position, uint32_t meta) {
    const uint32_t row = out_.rows;
    to_.position[row] = position;
    to_.tick[row] = Tick(slot.words[0]);
    to_.kind[row] = static_cast<uint8_t>(meta);
    to_.word1_low[row] = Low(slot.words[1]);
    to_.word1_high[row] = High(slot.words[1]);
    to_.word2_low[row] = Low(slot.words[2]);
    to_.word2_high[row] = High(slot.words[2]);
    extra_used_ = to_.extra_start[row];
    meta_ = meta;
    missing_ = (meta >> 12) - 1;
    expected_ = position + 1;
    if (missing_ == 0) Commit();
  }

  void Continue(const Slot& slot) {
    for (int word = 0; word < 3; ++word) {
      to_.extra[extra_used_++] = Low(slot.words[word]);
      to_.extra[extra_used_++] = High(slot.words[word]);
    }
    ++expected_;
    --missing_;
    if (missing_ == 0) Commit();
  }

  void Commit() {
    const uint32_t row = out_.rows;
    const uint8_t kind = to_.kind[row];
    if (meta_ >> 12 < min_parts_[kind]) {
      ++out_.too_short;
      return;
    }
    if (!IsPossible(row)) {
      ++out_.impossible;
      return;
    }
    if (to_.position[row] > covered_) out_.holes.push_back({covered_, to_.position[row], row});
    covered_ = expected_;
    ++to_.kinds[kind];
    if (to_.tick[row] < 0) {
      ++out_.early;
      to_.tick[row] = 0;
    }
    out_.rows = row + 1;
    to_.extra_start[row + 1] = extra_used_;
  }

  void Resume(const OpenRecord& open) {
    to_.position[0] = open.position;
    to_.tick[0] = open.tick;
    to_.kind[0] = static_cast<uint8_t>(open.meta);
    to_.word1_low[0] = open.words[0];
    to_.word1_high[0] = open.words[1];
    to_.word2_low[0] = open.words[2];
    to_.word2_high[0] = open.words[3];
    std::copy(open.extra.begin(), open.extra.end(), to_.extra);
    extra_used_ = static_cast<uint32_t>(open.extra.size());
    meta_ = open.meta;
    const uint32_t taken = 1 + extra_used_ / kExtraWords;
    missing_ = (open.meta >> 12) - taken;
    expected_ = open.position + taken;
  }

  OpenRecord Suspended() const {
    const uint32_t row = out_.rows;
    OpenRecord open;
    open.position = to_.position[row];
    open.tick = to_.tick[row];
    open.meta = meta_;
    open.words[0] = to_.word1_low[row];
    open.words[1] = to_.word1_high[row];
    open.words[2] = to_.word2_low[row];
    open.words[3] = to_.word2_high[row];
    open.extra.assign(to_.extra + to_.extra_start[row], to_.extra + extra_used_);
    return open;
  }

  bool IsPossible(uint32_t row) const {
    const double tick = to_.tick[row];
    if (std::fabs(tick) > frame_.farthest) return false;
    if (to_.kind[row] == rank_file::kClockSample) return tick >= 0;
    if (to_.kind[row] != rank_file::kFold) return true;
    const uint32_t* extra = to_.extra + to_.extra_start[row];
    const uint64_t last = uint64_t{extra[1]} << 32 | extra[0];
    return std::fabs(Tick(last)) <= frame_.farthest && extra[3] == 0;
  }

  /** As JavaScript computes it from halves: exact below 2^53, rounded once beyond. */
  double Tick(uint64_t word) const {
    return (static_cast<double>(High(word)) - static_cast<double>(High(frame_.base))) * 4294967296.0 +
           (static_cast<double>(Low(word)) - static_cast<double>(Low(frame_.base)));
  }

  const TickFrame& frame_;
  const MinParts& min_parts_;
  const Columns& to_;
  Assembled out_;
  double covered_;           // one past the newest record's last slot
  uint32_t meta_ = 0;        // of the record being put together: its first slot's,
  uint32_t extra_used_ = 0;  // the end of its extra words,
  uint32_t missing_ = 0;     // its parts still missing,
  double expected_ = -1;     // and the position of the next
};

}  // namespace

Assembled Assemble(const Slot* slots, const std::vector<Stretch>& order, const Carry& carry, const TickFrame& frame,
                   const MinParts& min_parts, const Columns& columns) {
  Assembler assembler(carry, frame, min_parts, columns);
  for (const Stretch& stretch : order) assembler.Take(slots + stretch.index, stretch);
  return assembler.Finish();
}

}  // namespace addon
