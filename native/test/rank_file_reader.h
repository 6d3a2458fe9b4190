// Reads a rank file by format/rank_file.h alone, without code of the recorder. Small and slow, for tests. Each position
// is read once, from its chunk or else from the ring.

#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "format/rank_file.h"
#include "test/check.h"
#include "test/unzstd.h"

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

/** Positions [begin, end). */
struct Span {
  uint64_t begin, end;
};

struct Chunk {
  uint64_t offset;
  rank_file::ChunkHeader header;
  std::vector<rank_file::Slot> slots;
};

inline bool ChecksOut(const rank_file::Slot& slot, uint64_t position) {
  const uint64_t word3 = slot.words[3];
  const uint64_t meta = rank_file::SlotMeta(word3 & 0xFF, word3 >> 8 & 15, word3 >> 12 & 15, position);
  return (word3 & 0xFF) != rank_file::kEmpty && (word3 >> 8 & 15) < (word3 >> 12 & 15) &&
         word3 == rank_file::SlotWord3(slot.words[0], slot.words[1], slot.words[2], meta);
}

inline uint64_t AlignUp(uint64_t offset) {
  return (offset + rank_file::kChunkAlignment - 1) / rank_file::kChunkAlignment * rank_file::kChunkAlignment;
}

inline uint32_t Crc(const void* data, size_t size) {
  static const std::array<uint32_t, 256> of_byte = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
      table[byte] = byte;
      for (int bit = 0; bit < 8; ++bit) table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xEDB88320u : 0);
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) crc = crc >> 8 ^ of_byte[(crc ^ static_cast<const uint8_t*>(data)[i]) & 0xFF];
  return ~crc;
}

/** Completes bare slots. */
inline void Dress(std::vector<rank_file::Slot>& slots, uint64_t position) {
  uint64_t last = 0;
  for (rank_file::Slot& slot : slots) {
    uint64_t* word = slot.words;
    if ((word[3] >> 8 & 15) == 0) last = word[0] += last;
    const uint64_t meta = rank_file::SlotMeta(word[3] & 0xFF, word[3] >> 8 & 15, word[3] >> 12 & 15, position++);
    word[3] ^= rank_file::SlotWord3(word[0], word[1], word[2], meta) >> 16 << 16;
  }
}

/** Makes slots of planes: byte 0 of all slots, then byte 1 of all, and so on. */
inline void GatherPlanes(std::vector<rank_file::Slot>& slots) {
  const std::vector<rank_file::Slot> planes = slots;
  const auto* from = reinterpret_cast<const uint8_t*>(planes.data());
  auto* to = reinterpret_cast<uint8_t*>(slots.data());
  const size_t bytes = slots.size() * sizeof(slots[0]);
  for (size_t at = 0; at < bytes; ++at) to[at % slots.size() * sizeof(slots[0]) + at / slots.size()] = from[at];
}

/** Whether this is the header of a chunk that ends within `room` bytes from its beginning. */
inline bool IsChunk(const rank_file::ChunkHeader& header, uint64_t room) {
  rank_file::ChunkHeader unchecked = header;
  unchecked.header_crc = 0;
  return header.magic == rank_file::kChunkMagic && Crc(&unchecked, sizeof(unchecked)) == header.header_crc &&
         (header.end_position - header.first_position) * rank_file::kSlotBytes == header.raw_bytes &&
         header.raw_bytes <= rank_file::kMaxChunkRawBytes && sizeof(header) + header.stored_bytes <= room;
}

/** The slots of a chunk. Its payload must be complete. */
inline std::vector<rank_file::Slot> Unpack(const rank_file::ChunkHeader& header, const void* payload) {
  CHECK_EQ(Crc(payload, header.stored_bytes), header.payload_crc);
  std::vector<rank_file::Slot> slots(header.raw_bytes / rank_file::kSlotBytes);
  if (header.codec == rank_file::kRaw) {
    CHECK_EQ(header.stored_bytes, header.raw_bytes);
    memcpy(slots.data(), payload, header.raw_bytes);
  } else {
    CHECK_EQ(header.codec, rank_file::kZstdPlanes);
    CHECK(Unzstd(payload, header.stored_bytes, slots.data(), header.raw_bytes));
    GatherPlanes(slots);
    Dress(slots, header.first_position);
  }
  return slots;
}

class RankFileReader {
 public:
  /** `rings`: a ring file or saved rings, which has everything before the chunks. */
  explicit RankFileReader(const std::string& path, const std::string& rings = "") {
    bytes_ = BytesOf(path);
    if (!rings.empty()) {
      const std::vector<char> newer = BytesOf(rings);
      CHECK(newer.size() >= rank_file::kHeaderBytes);
      rank_file::FileHeader header;
      memcpy(&header, newer.data(), sizeof(header));
      CHECK(header.chunks_offset <= newer.size());
      if (bytes_.size() < header.chunks_offset) bytes_.resize(header.chunks_offset);
      memcpy(bytes_.data(), newer.data(), header.chunks_offset);
    }
    CHECK(bytes_.size() >= rank_file::kHeaderBytes);
    memcpy(&header_, bytes_.data(), sizeof(header_));
    CHECK(memcmp(header_.magic, rank_file::kMagic, sizeof(rank_file::kMagic)) == 0);
    CHECK_EQ(header_.header_bytes, rank_file::kHeaderBytes);
    CHECK_EQ(header_.slot_bytes, rank_file::kSlotBytes);
    CHECK_EQ(header_.header_crc, HeaderCrc());
    areas_.resize(header_.area_count);
    memcpy(areas_.data(), &bytes_.at(header_.directory_offset), areas_.size() * sizeof(areas_[0]));
    WalkChunks();
  }

  /** In the order of the file. */
  const std::vector<Chunk>& chunks() const { return chunks_; }

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
    for (const Span& span : Candidates(area)) {
      for (uint64_t at = span.begin; at < span.end;) {
        Record record;
        if (!Assemble(area, at, record)) {
          ++at;
          continue;
        }
        at += record.slots.size();
        records.push_back(std::move(record));
      }
    }
    return records;
  }

  /** The gaps between records, up to the head. */
  std::vector<Span> Gaps(uint32_t area) const {
    std::vector<Span> gaps;
    uint64_t at = 0;
    for (const Record& record : Records(area)) {
      CHECK(record.position >= at);  // no position is read twice
      if (record.position > at) gaps.push_back({at, record.position});
      at = record.position + record.slots.size();
    }
    if (Live(area).head > at) gaps.push_back({at, Live(area).head});
    return gaps;
  }

  /** One record at its position. */
  bool Find(uint32_t area, uint64_t position, Record& record) const { return Assemble(area, position, record); }

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
  static std::vector<char> BytesOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    CHECK(in.good());
    return std::vector<char>(std::istreambuf_iterator<char>(in), {});
  }

  template <typename T>
  T At(uint64_t offset) const {
    T value;
    CHECK(offset + sizeof(T) <= bytes_.size());
    memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  /** Where records may be: in chunks, and in the ring's present and last lap. */
  std::vector<Span> Candidates(uint32_t area) const {
    std::vector<Span> spans;
    for (const Chunk& chunk : chunks_) {
      if (chunk.header.area == area) spans.push_back({chunk.header.first_position, chunk.header.end_position});
    }
    const uint64_t head = Live(area).head;
    const uint64_t capacity = areas_.at(area).capacity;
    spans.push_back({head > capacity ? head - capacity : 0, head + capacity});
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::vector<Span> joined;
    for (const Span& span : spans) {
      if (joined.empty() || span.begin > joined.back().end) {
        joined.push_back(span);
      } else {
        joined.back().end = std::max(joined.back().end, span.end);
      }
    }
    return joined;
  }

  /** The slot with a valid check for a position of an area: from a chunk, else from the ring. */
  bool SlotAt(uint32_t area, uint64_t position, rank_file::Slot& slot) const {
    const auto& chunks = chunks_of_area_.at(area);
    auto after = std::upper_bound(chunks.begin(), chunks.end(), position,
                                  [&](uint64_t at, size_t chunk) { return at < chunks_[chunk].header.first_position; });
    if (after != chunks.begin()) {
      const Chunk& chunk = chunks_[*--after];
      if (position < chunk.header.end_position) {
        slot = chunk.slots[position - chunk.header.first_position];
        if (ChecksOut(slot, position)) return true;
      }
    }
    const rank_file::AreaEntry& entry = areas_.at(area);
    slot = At<rank_file::Slot>(entry.slots_offset + (position & (entry.capacity - 1)) * rank_file::kSlotBytes);
    return ChecksOut(slot, position);
  }

  bool Assemble(uint32_t area, uint64_t position, Record& record) const {
    record = {position, 0, {}};
    uint32_t parts = 1;
    for (uint32_t part = 0; part < parts; ++part) {
      rank_file::Slot slot;
      if (!SlotAt(area, position + part, slot)) return false;
      const uint64_t word3 = slot.words[3];
      if ((word3 >> 8 & 15) != part) return false;
      if (part == 0) {
        record.kind = word3 & 0xFF;
        parts = word3 >> 12 & 15;
      }
      if ((word3 & 0xFF) != record.kind || (word3 >> 12 & 15) != parts) return false;
      record.slots.push_back({slot.words[0], slot.words[1], slot.words[2]});
    }
    return true;
  }

  void WalkChunks() {
    chunks_of_area_.resize(areas_.size());
    uint64_t at = header_.chunks_begin;
    if (at % rank_file::kChunkAlignment != 0 || at < header_.chunks_offset || at >= bytes_.size()) {
      at = header_.chunks_offset;
    }
    std::vector<Chunk> found;  // the newer lap may lie before the older one
    while (at + sizeof(rank_file::ChunkHeader) <= bytes_.size()) {
      Chunk chunk = {at, At<rank_file::ChunkHeader>(at), {}};
      if (!IsChunk(chunk.header, bytes_.size() - at)) {
        at += rank_file::kChunkAlignment;
        continue;
      }
      at = AlignUp(at + sizeof(chunk.header) + chunk.header.stored_bytes);
      found.push_back(std::move(chunk));
    }
    std::sort(found.begin(), found.end(),
              [](const Chunk& a, const Chunk& b) { return a.header.sequence < b.header.sequence; });
    for (Chunk& chunk : found) AddChunk(std::move(chunk));
  }

  /** Also checks what a writer must never do: leave a payload unfinished, or store a position twice. */
  void AddChunk(Chunk chunk) {
    const rank_file::ChunkHeader& header = chunk.header;
    if (!chunks_.empty()) CHECK(header.sequence > chunks_.back().header.sequence);
    auto& before = chunks_of_area_.at(header.area);
    if (!before.empty()) CHECK(header.first_position >= chunks_[before.back()].header.end_position);
    chunk.slots = Unpack(header, bytes_.data() + chunk.offset + sizeof(header));
    before.push_back(chunks_.size());
    chunks_.push_back(std::move(chunk));
  }

  uint32_t HeaderCrc() const {
    std::array<uint8_t, rank_file::kHeaderFixedBytes> fixed;
    memcpy(fixed.data(), bytes_.data(), fixed.size());
    memset(fixed.data() + offsetof(rank_file::FileHeader, header_crc), 0, sizeof(header_.header_crc));
    return Crc(fixed.data(), fixed.size());
  }

  std::vector<char> bytes_;
  rank_file::FileHeader header_;
  std::vector<rank_file::AreaEntry> areas_;
  std::vector<Chunk> chunks_;
  std::vector<std::vector<size_t>> chunks_of_area_;  // numbers of chunks_, by first position
};

}  // namespace nccl_trace_test
