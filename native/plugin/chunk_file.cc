#include "plugin/chunk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stddef.h>
#include <unistd.h>

#include "plugin/crc32.h"
#include "plugin/ring.h"
#include "plugin/write_all.h"

namespace nccl_trace {

using rank_file::ChunkHeader;
using rank_file::FileHeader;

namespace {

// Of the limit, for the blocks by which the file system finds the others.
constexpr uint64_t kMetadataBytes = 64 << 10;

uint64_t AlignUp(uint64_t offset) {
  return (offset + rank_file::kChunkAlignment - 1) / rank_file::kChunkAlignment * rank_file::kChunkAlignment;
}
uint64_t BytesInFile(const ChunkHeader& header) { return AlignUp(sizeof(header) + header.stored_bytes); }

/** The smallest and largest tick of the records that begin among the slots. One that is torn may say anything. */
void FindTicks(const ChunkSlots& chunk, ChunkHeader& header) {
  header.first_tick = ~uint64_t{0};
  header.last_tick = 0;
  for (uint32_t i = 0; i < chunk.count; ++i) {
    const rank_file::Slot& slot = chunk.slots[i];
    if (SlotPart(slot) != 0 || !ChecksOut(slot, chunk.first_position + i)) continue;
    const uint64_t tick = slot.words[0];
    if (tick < header.first_tick) header.first_tick = tick;
    if (tick > header.last_tick) header.last_tick = tick;
  }
  if (header.last_tick == 0) header.first_tick = 0;  // no record begins here
}

}  // namespace

bool ChunkFile::Allocate() { return codec_.Allocate(); }

void ChunkFile::Use(int fd, const Image& image) {
  const FileHeader& header = image.header();
  fd_ = fd >= 0 && Identify(fd, identity_) ? fd : -1;
  if (fd_ < 0) return;
  image_ = image;
  offset_ = punched_ = begin_ = end_ = header.chunks_offset;
  limit_ = header.max_bytes == 0 ? 0 : header.max_bytes - kMetadataBytes;
  sequence_ = 0;
  Publish(&FileHeader::chunks_begin, 0);
  Publish(&FileHeader::chunks_end, end_);
}

bool ChunkFile::Append(const ChunkSlots& chunk) {
  ChunkHeader header = {};
  header.magic = rank_file::kChunkMagic;
  header.area = static_cast<uint16_t>(chunk.area);
  header.first_position = chunk.first_position;
  header.end_position = chunk.first_position + chunk.count;
  FindTicks(chunk, header);
  header.sequence = sequence_;
  header.raw_bytes = chunk.count * rank_file::kSlotBytes;
  const ChunkCodec::Payload payload = codec_.Pack(chunk.slots, chunk.count, chunk.first_position);
  if (payload.bytes == 0) return false;
  header.codec = payload.codec;
  header.stored_bytes = payload.bytes;
  header.payload_crc = Crc32(payload.data, payload.bytes);
  header.header_crc = Crc32(&header, sizeof(header));

  if (!IsStill(fd_, identity_) || !MakeRoom(BytesInFile(header)) || !Write(header, payload.data)) return false;
  ++sequence_;
  // The oldest chunk's place is said when there is one: until then the walk begins at chunks_offset.
  if (begin_ == end_) Publish(&FileHeader::chunks_begin, begin_);
  end_ += BytesInFile(header);
  Publish(&FileHeader::chunks_end, end_);
  return true;
}

/** The oldest chunks go until the file with `bytes` more is within its limit. */
bool ChunkFile::MakeRoom(uint64_t bytes) {
  if (limit_ == 0) return true;
  const uint64_t all = offset_ + bytes;
  const uint64_t before = begin_;
  while (begin_ < end_ && all + (end_ - begin_) > limit_) begin_ = AfterOldest();
  if (begin_ != before) Publish(&FileHeader::chunks_begin, begin_);
  if (begin_ != punched_ && !Punch()) return false;
  if (all + (end_ - begin_) <= limit_) return true;
  errno = EFBIG;
  return false;
}

/** Where the chunk at begin_ ends. If the disk does not give its header back, all of them go. */
uint64_t ChunkFile::AfterOldest() const {
  ChunkHeader header;
  const bool read = pread(fd_, &header, sizeof(header), static_cast<off_t>(begin_)) == sizeof(header);
  if (!read || header.magic != rank_file::kChunkMagic || header.stored_bytes > 2 * rank_file::kMaxChunkRawBytes)
    return end_;
  return begin_ + BytesInFile(header);
}

bool ChunkFile::Punch() {
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(punched_),
                static_cast<off_t>(begin_ - punched_)) == 0) {
    punched_ = begin_;
    return true;
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // No holes here: all chunks go at once, and it begins again where they began.
  Publish(&FileHeader::chunks_begin, 0);
  if (ftruncate(fd_, static_cast<off_t>(offset_)) != 0) return false;
  punched_ = begin_ = end_ = offset_;
  return true;
}

bool ChunkFile::Write(const ChunkHeader& header, const void* payload) {
  if (WriteAll(fd_, payload, header.stored_bytes, end_ + sizeof(header)) &&
      WriteAll(fd_, &header, sizeof(header), end_)) {
    return true;
  }
  // A full disk gets back what this took of it. Behind everything that is mapped, and only we write there.
  const int error = errno;
  if (ftruncate(fd_, static_cast<off_t>(end_)) != 0) errno = error;
  errno = error;
  return false;
}

/** In the live image; and, if that is not the file, in the file at once: it has to say so before a hole is punched. */
void ChunkFile::Publish(uint64_t FileHeader::*field, uint64_t offset) {
  uint64_t& word = image_.header().*field;
  Store(word, offset);
  if (image_.placement == rank_file::kInFile) return;
  const uint64_t at = static_cast<uint64_t>(reinterpret_cast<uint8_t*>(&word) - image_.base);
  WriteAll(fd_, &offset, sizeof(offset), at);
}

}  // namespace nccl_trace
