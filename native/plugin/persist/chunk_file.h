// The tail of the rank file in stream mode: chunks are appended, and the oldest are punched out when the file would
// exceed its limit.
//
//   | header, rings, tables | . . . . . hole . . . . . | chunk | chunk | chunk |
//   0                    offset_                    begin_                  end_      all multiples of 4096
//
// Where holes can be punched, the file's size exceeds the limit a little, its disk space does not. Then the next chunk
// goes to the beginning of the hole, until the older lap behind it is deleted and cut off. So the file's size stays near
// the limit as well, also for copies without holes.
//
//   | header, rings, tables | newest | . hole . | oldest | chunk | chunk |
//   0                    offset_   end_      begin_                   top_
//
// Written by pwrite, not by a mapping: a full disk is an error of pwrite, but kills a job that stores into a mapping. A
// chunk's header is written last, so a failed or interrupted write leaves no chunk, and the next one overwrites it. For
// the recorder's thread only. Allocates nothing after Allocate.

#pragma once

#include "plugin/persist/chunk_codec.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/record/image.h"

namespace nccl_trace {

constexpr uint32_t kMostChunkSlots = rank_file::kMaxChunkRawBytes / rank_file::kSlotBytes;

/** Consecutive slots of one ring. */
struct ChunkSlots {
  uint32_t area;
  uint64_t first_position;
  rank_file::Slot* slots;  // Append destroys them
  uint32_t count;          // 1 to kMostChunkSlots
  uint64_t first_tick;     // the smallest of the records that begin here, 0 if there is none
  uint64_t last_tick;      // the largest
};

class ChunkFile {
 public:
  /** Call it once, before all else. False: no memory. */
  bool Allocate();

  /** Starts a new file. The first chunk goes to its end, chunks_offset in the image's header. `fd` -1: there is no file. */
  void Use(int fd, const Image& image);
  bool has_file() const { return fd_ >= 0; }
  /** True if there is a file, but its descriptor is not ours any more. */
  bool is_lost() const { return has_file() && !IsStill(fd_, identity_); }
  /** Goes on with the same file by another descriptor, when the old one is not ours any more. */
  void GoOnWith(int fd) {
    if (has_file() && IsStill(fd, identity_)) fd_ = fd;
  }

  /** False: the chunk was not written, and nothing else has changed. errno may say why. */
  bool Append(const ChunkSlots& chunk);

 private:
  bool MakeRoom(uint64_t bytes);
  bool DropOldest();
  bool CutOlderLap();
  void WrapBefore(uint64_t bytes);
  uint64_t Kept() const { return top_ != 0 ? top_ - begin_ + end_ - offset_ : end_ - begin_; }
  uint64_t AfterOldest() const;
  bool Punch();
  bool Write(const rank_file::ChunkHeader& header, const void* payload);
  bool FreeDiskSpace(uint64_t bytes);
  bool Publish(uint64_t rank_file::FileHeader::*field, uint64_t offset);

  ChunkCodec codec_;
  int fd_;
  DescriptorIdentity identity_;  // of fd_
  Image image_;
  uint64_t block_;    // smallest unit that the file system frees
  uint64_t offset_;   // chunks_offset
  uint64_t limit_;    // of all written bytes. 0: no limit
  uint64_t punched_;  // from offset_, or from end_ if there are two laps, up to here no disk space is used
  uint64_t begin_;    // oldest chunk. Equal to punched_ unless a punch failed
  uint64_t end_;      // where the next chunk goes
  uint64_t top_;      // end of the older lap. 0: there is only one lap
  uint64_t sequence_;
};

}  // namespace nccl_trace
