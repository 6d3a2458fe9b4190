// A rank file, read raw: as format/rank_file.h says and without any code of the recorder. Small, slow, for tests.

#ifndef NCCL_TRACE_NATIVE_TEST_RANK_FILE_READER_H_
#define NCCL_TRACE_NATIVE_TEST_RANK_FILE_READER_H_

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "format/rank_file.h"
#include "test/check.h"

namespace nccl_trace_test {

struct Record {
  uint64_t position;
  uint32_t kind;
  std::vector<std::array<uint64_t, 3>> slots;

  uint64_t w(size_t slot, size_t word) const { return slots.at(slot)[word]; }
  uint64_t tick() const { return slots[0][0]; }
  /** Of states, stops and folds. */
  uint64_t handle() const { return slots[0][1]; }
  uint32_t low(size_t slot, size_t word) const { return static_cast<uint32_t>(w(slot, word)); }
  uint32_t high(size_t slot, size_t word) const { return static_cast<uint32_t>(w(slot, word) >> 32); }
};

struct OpenFold {
  uint64_t handle, last_tick;
  uint32_t count;
  uint16_t state;
};

class RankFileReader {
 public:
  explicit RankFileReader(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    CHECK(in.good());
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    CHECK(bytes_.size() >= rank_file::kHeaderBytes);
    memcpy(&header_, bytes_.data(), sizeof(header_));
    CHECK(memcmp(header_.magic, rank_file::kMagic, sizeof(rank_file::kMagic)) == 0);
    CHECK_EQ(header_.header_bytes, rank_file::kHeaderBytes);
    CHECK_EQ(header_.slot_bytes, rank_file::kSlotBytes);
    CHECK_EQ(header_.header_crc, Crc());
    areas_.resize(header_.area_count);
    memcpy(areas_.data(), &bytes_.at(header_.directory_offset), areas_.size() * sizeof(areas_[0]));
  }

  const rank_file::FileHeader& header() const { return header_; }
  size_t size() const { return bytes_.size(); }
  const std::vector<rank_file::AreaEntry>& areas() const { return areas_; }

  std::vector<uint32_t> AreasOf(rank_file::AreaClass area_class) const {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < areas_.size(); ++i) {
      if (areas_[i].area_class == area_class) found.push_back(i);
    }
    return found;
  }

  rank_file::AreaLive Live(uint32_t area) const { return At<rank_file::AreaLive>(areas_.at(area).live_offset); }

  /** All records that are complete, in the order of their positions. */
  std::vector<Record> Records(uint32_t area) const {
    std::vector<Record> records;
    const rank_file::AreaEntry& entry = areas_.at(area);
    const uint64_t head = Live(area).head;
    // Every position that an index can hold close to the head: this lap, and the lap that may be under way.
    const uint64_t first = head > entry.capacity ? head - entry.capacity : 0;
    for (uint64_t at = first; at < head + entry.capacity;) {
      Record record;
      if (!Assemble(entry, at, record)) {
        ++at;
        continue;
      }
      at += record.slots.size();
      records.push_back(std::move(record));
    }
    return records;
  }

  /** One record at its position. */
  bool Find(uint32_t area, uint64_t position, Record& record) const {
    return Assemble(areas_.at(area), position, record);
  }

  std::vector<OpenFold> OpenFolds(uint32_t area) const {
    std::vector<OpenFold> folds;
    const rank_file::AreaEntry& entry = areas_.at(area);
    for (uint32_t i = 0; i < entry.fold_capacity; ++i) {
      const auto fold = At<rank_file::Fold>(entry.folds_offset + i * sizeof(rank_file::Fold));
      const uint32_t count = static_cast<uint32_t>(fold.control);
      if (fold.handle == 0 || count == 0) continue;
      CHECK_EQ(fold.control >> 48, rank_file::FoldKey(fold.handle));
      folds.push_back({fold.handle, fold.last_tick, count, static_cast<uint16_t>(fold.control >> 32)});
    }
    return folds;
  }

  std::string String(uint16_t id) const {
    if (id == rank_file::kStringNone) return "(none)";
    if (id == rank_file::kStringLost) return "(lost)";
    Record record;
    CHECK(Find(AreasOf(rank_file::kTableStrings).at(0), uint64_t{id - 1u} * rank_file::kStringSlots, record));
    CHECK_EQ(record.kind, rank_file::kString);
    std::array<char, rank_file::kMaxStringBytes> text;
    memcpy(text.data(), &record.slots[0][2], 8);
    for (size_t part = 1; part < rank_file::kStringSlots; ++part) {
      memcpy(text.data() + 8 + 24 * (part - 1), record.slots[part].data(), 24);
    }
    return std::string(text.data(), std::min<size_t>(record.w(0, 1), text.size()));
  }

 private:
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    CHECK(offset + sizeof(T) <= bytes_.size());
    memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  bool Assemble(const rank_file::AreaEntry& area, uint64_t position, Record& record) const {
    record = {position, 0, {}};
    uint32_t parts = 1;
    for (uint32_t part = 0; part < parts; ++part) {
      const uint64_t at = position + part;
      const auto slot = At<rank_file::Slot>(area.slots_offset + (at & (area.capacity - 1)) * rank_file::kSlotBytes);
      const uint64_t word3 = slot.words[3];
      const uint32_t kind = word3 & 0xFF;
      if (kind == rank_file::kEmpty || (word3 >> 8 & 15) != part) return false;
      if (part == 0) {
        record.kind = kind;
        parts = word3 >> 12 & 15;
      }
      const uint64_t meta = rank_file::SlotMeta(record.kind, part, parts, at);
      if (word3 != rank_file::SlotWord3(slot.words[0], slot.words[1], slot.words[2], meta)) return false;
      record.slots.push_back({slot.words[0], slot.words[1], slot.words[2]});
    }
    return parts > 0;
  }

  uint32_t Crc() const {
    std::array<uint8_t, rank_file::kHeaderFixedBytes> fixed;
    memcpy(fixed.data(), bytes_.data(), fixed.size());
    memset(fixed.data() + offsetof(rank_file::FileHeader, header_crc), 0, sizeof(header_.header_crc));
    uint32_t crc = ~0u;
    for (const uint8_t byte : fixed) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
  }

  std::vector<char> bytes_;
  rank_file::FileHeader header_;
  std::vector<rank_file::AreaEntry> areas_;
};

}  // namespace nccl_trace_test

#endif  // NCCL_TRACE_NATIVE_TEST_RANK_FILE_READER_H_
