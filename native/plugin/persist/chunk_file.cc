#include "plugin/persist/chunk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "plugin/persist/crc32.h"
#include "plugin/process/write_all.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

using rank_file::ChunkHeader;
using rank_file::FileHeader;

namespace {

// Part of the limit for the file system's own blocks.
constexpr uint64_t kMetadataBytes = 64 << 10;
// The file's size may exceed its limit by this. It is more than a chunk takes, so the newest chunk does not reach the
// oldest.
constexpr uint64_t kSlackBytes = uint64_t{4} << 20;

/** Block size of its file system: 64 KiB is common with pages of 64 KiB. */
uint64_t BlockBytes(int fd) {
  struct statfs fs;
  const bool is_known = fstatfs(fd, &fs) == 0 && fs.f_bsize > 0;
  return is_known && static_cast<uint64_t>(fs.f_bsize) > rank_file::kChunkAlignment ? static_cast<uint64_t>(fs.f_bsize)
                                                                                    : rank_file::kChunkAlignment;
}

/**
 * The part of the limit that chunks can use: without the blocks at both ends of either lap that they share or do not
 * fill. That is at most an eighth, because some network file systems report their preferred transfer size, megabytes.
 */
uint64_t LimitOfChunks(const FileHeader& header, uint64_t block) {
  if (header.max_bytes == 0) return 0;
  const uint64_t least = header.chunks_offset + kMetadataBytes;
  if (header.max_bytes <= least) return 1;
  const uint64_t shared = block > rank_file::kChunkAlignment ? 4 * block : 0;
  const uint64_t most = (header.max_bytes - least) / 8;
  return header.max_bytes - kMetadataBytes - (shared < most ? shared : most);
}

uint64_t AlignUp(uint64_t offset) {
  return (offset + rank_file::kChunkAlignment - 1) / rank_file::kChunkAlignment * rank_file::kChunkAlignment;
}
uint64_t BytesInFile(const ChunkHeader& header) { return AlignUp(sizeof(header) + header.stored_bytes); }

}  // namespace

bool ChunkFile::Allocate() { return codec_.Allocate(); }

void ChunkFile::Use(int fd, const Image& image) {
  const FileHeader& header = image.header();
  fd_ = fd >= 0 && Identify(fd, identity_) ? fd : -1;
  if (fd_ < 0) return;
  image_ = image;
  offset_ = punched_ = begin_ = end_ = header.chunks_offset;
  top_ = 0;
  block_ = BlockBytes(fd_);
  limit_ = LimitOfChunks(header, block_);
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
  header.first_tick = chunk.first_tick;
  header.last_tick = chunk.last_tick;
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
  // chunks_begin is set with the first chunk. Until then readers begin at chunks_offset.
  if (begin_ == end_ && top_ == 0) Publish(&FileHeader::chunks_begin, begin_);
  end_ += BytesInFile(header);
  Publish(&FileHeader::chunks_end, end_);
  return true;
}

/** Deletes the oldest chunks until there is room for `bytes` more: within the limit by disk space, nearly by size. */
bool ChunkFile::MakeRoom(uint64_t bytes) {
  if (limit_ == 0) return true;
  const uint64_t before = begin_;
  while (Kept() > 0 && offset_ + Kept() + bytes > limit_) {
    if (!DropOldest()) return false;
  }
  // Before anything is punched. While there are two laps, readers begin at the newer one.
  if (begin_ != before && top_ == 0) Publish(&FileHeader::chunks_begin, begin_);
  if (begin_ != punched_ && !Punch()) return false;
  if (offset_ + Kept() + bytes > limit_) {
    errno = EFBIG;
    return false;
  }
  WrapBefore(bytes);
  return true;
}

/** False: the older lap is empty but could not be cut off. */
bool ChunkFile::DropOldest() {
  if (top_ == 0 || begin_ < top_) begin_ = AfterOldest();
  return top_ == 0 || begin_ < top_ || CutOlderLap();
}

bool ChunkFile::CutOlderLap() {
  if (ftruncate(fd_, static_cast<off_t>(end_)) != 0) return false;
  punched_ = begin_ = offset_;
  top_ = 0;
  return true;
}

/** The newer lap begins in the hole before the older one, if the next chunk would make the file too large. */
void ChunkFile::WrapBefore(uint64_t bytes) {
  if (top_ != 0 || end_ + bytes <= limit_ + kSlackBytes) return;
  // First, because a reader that begins at the oldest chunk would miss the newest.
  if (!Publish(&FileHeader::chunks_begin, offset_)) {
    Publish(&FileHeader::chunks_begin, begin_);
    return;  // a file that is too large for a while is better than a chunk that is not found
  }
  top_ = end_;
  end_ = offset_;
}

/** The end of the chunk at begin_. If its header cannot be read, the end of its lap, so that the lap is dropped. */
uint64_t ChunkFile::AfterOldest() const {
  ChunkHeader header;
  const bool read = pread(fd_, &header, sizeof(header), static_cast<off_t>(begin_)) == sizeof(header);
  if (!read || header.magic != rank_file::kChunkMagic || header.stored_bytes > 2 * rank_file::kMaxChunkRawBytes)
    return top_ != 0 ? top_ : end_;
  return begin_ + BytesInFile(header);
}

bool ChunkFile::Punch() {
  // Begins at the block that the last punch covered in part. The rest of that block is free now as well.
  const uint64_t hole = top_ != 0 ? end_ : offset_;
  const uint64_t whole = punched_ / block_ * block_;
  const uint64_t from = whole > hole ? whole : hole;
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                static_cast<off_t>(begin_ - from)) == 0) {
    punched_ = begin_;
    return true;
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // This file system has no holes: drop all chunks and start again at their beginning.
  Publish(&FileHeader::chunks_begin, 0);
  if (ftruncate(fd_, static_cast<off_t>(offset_)) != 0) return false;
  punched_ = begin_ = end_ = offset_;
  top_ = 0;
  return true;
}

bool ChunkFile::Write(const ChunkHeader& header, const void* payload) {
  if (WriteAll(fd_, payload, header.stored_bytes, end_ + sizeof(header)) &&
      WriteAll(fd_, &header, sizeof(header), end_)) {
    return true;
  }
  const int error = errno;
  FreeDiskSpace(BytesInFile(header));
  errno = error;
  return false;
}

/** Frees the space of a failed write. It is behind all mapped bytes, and only this thread writes there. */
bool ChunkFile::FreeDiskSpace(uint64_t bytes) {
  if (top_ == 0) return ftruncate(fd_, static_cast<off_t>(end_)) == 0;
  return fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_),
                   static_cast<off_t>(bytes)) == 0;
}

/**
 * Writes the field into the live image and, if that is not the file, into the file at once, because the file must have
 * it before a hole is punched. False: the file does not have it.
 */
bool ChunkFile::Publish(uint64_t FileHeader::*field, uint64_t offset) {
  uint64_t& word = image_.header().*field;
  Store(word, offset);
  if (image_.placement == rank_file::kInFile) return true;
  const uint64_t at = static_cast<uint64_t>(reinterpret_cast<uint8_t*>(&word) - image_.base);
  return WriteAll(fd_, &offset, sizeof(offset), at);
}

}  // namespace nccl_trace
