// Makes records in columns of checked slots: the C++ twin of src/rankfile/records.ts, which explains the rule.

#ifndef NCCL_TRACE_NATIVE_ADDON_RECORDS_H_
#define NCCL_TRACE_NATIVE_ADDON_RECORDS_H_

#include <stdint.h>

#include <array>
#include <vector>

#include "addon/slots.h"

namespace addon {

/** Per kind: slots that a record must have at least. */
using MinParts = std::array<uint8_t, 256>;

/** A record whose first parts were in this segment and whose last parts come in the next. */
struct OpenRecord {
  double position = 0;
  double tick = 0;
  uint32_t meta = 0;  // of its first slot: kind:8 part:4 parts:4
  uint32_t words[4] = {};
  std::vector<uint32_t> extra;
};

/** What one segment of a ring leaves for the next. */
struct Carry {
  double covered = 0;
  bool has_open = false;
  OpenRecord open;
};

/** Positions [from, end) that no record covers; `row`: of the record behind it. */
struct Hole {
  double from;
  double end;
  uint32_t row;
};

/** The caller's columns, with room for one row per slot and one more. */
struct Columns {
  double* position;
  double* tick;
  uint8_t* kind;
  uint32_t* word1_low;
  uint32_t* word1_high;
  uint32_t* word2_low;
  uint32_t* word2_high;
  uint32_t* extra_start;  // one more than rows
  uint32_t* extra;        // kExtraWords per slot, and those of a carried record
  uint32_t* kinds;        // 256 of them: records by kind
};

/** Words that each slot of a record but its first adds to `extra`. */
constexpr uint32_t kExtraWords = 6;

/** What the columns do not say. */
struct Assembled {
  uint32_t rows = 0;
  std::vector<Hole> holes;
  uint32_t too_short = 0;
  uint32_t early = 0;
  uint32_t impossible = 0;
  Carry carry;
};

/** Limits of the ticks of a file: at most `farthest` from `base`, the file's start. */
struct TickFrame {
  uint64_t base;
  double farthest;
};

/** `order`: the valid slots among `slots`, by position, none before what was carried. Fills `columns`. */
Assembled Assemble(const rank_file::Slot* slots, const std::vector<Stretch>& order, const Carry& carry,
                   const TickFrame& frame, const MinParts& min_parts, const Columns& columns);

}  // namespace addon

#endif  // NCCL_TRACE_NATIVE_ADDON_RECORDS_H_
