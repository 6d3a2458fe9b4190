// The tail of the rank file in stream mode: chunks, appended one after the other, the oldest punched out when the file
// would outgrow its limit.
//
//   | header, rings, tables | . . . . . hole . . . . . | chunk | chunk | chunk |
//   0                    offset_                    begin_                  end_      all multiples of 4096
//
// Where holes can be punched, the file grows a little beyond its limit by size, though not by what it takes of the
// disk; then the next chunk goes to the hole's beginning, until the older lap behind it is gone and cut off. So its
// size stays what people expect of it, and what a copy that knows no holes takes.
//
//   | header, rings, tables | newest | . hole . | oldest | chunk | chunk |
//   0                    offset_   end_      begin_                   top_
//
// Written by pwrite, never by a mapping: a full disk is an error here and a dead job there. A chunk counts by its
// header, which is written last; so what a failed or interrupted write leaves is no chunk, and the next one overwrites
// it. For the recorder's thread only. Allocates nothing after Allocate.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_FILE_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_FILE_H_

#include "plugin/persist/chunk_codec.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/record/image.h"

namespace nccl_trace {

constexpr uint32_t kMostChunkSlots = rank_file::kMaxChunkRawBytes / rank_file::kSlotBytes;

/** Consecutive slots of one ring. */
struct ChunkSlots {
  uint32_t area;
  uint64_t first_position;
  rank_file::Slot* slots;  // used up by Append
  uint32_t count;          // 1 to kMostChunkSlots
  uint64_t first_tick;     // the smallest of the records that begin here; 0 if none does
  uint64_t last_tick;      // the largest
};

class ChunkFile {
 public:
  /** False: no memory. Once, before all else. */
  bool Allocate();

  /** A new file: the first chunk goes to its end, chunks_offset of the image's header. -1: there is no file. */
  void Use(int fd, const Image& image);
  bool has_file() const { return fd_ >= 0; }
  /** There is a file, but its descriptor is not ours any more. */
  bool is_lost() const { return has_file() && !IsStill(fd_, identity_); }
  /** The same file by another descriptor: the old one is not ours any more. */
  void GoOnWith(int fd) {
    if (has_file() && IsStill(fd, identity_)) fd_ = fd;
  }

  /** False: it is not there, errno may say why; nothing else has changed. */
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
  uint64_t block_;    // the file system frees no less
  uint64_t offset_;   // chunks_offset
  uint64_t limit_;    // of all that is written; 0: none
  uint64_t punched_;  // what lies before it and behind offset_, or behind end_ in the newer lap, takes no disk space
  uint64_t begin_;    // oldest chunk; up to a failed punch the same as punched_
  uint64_t end_;      // where the next chunk goes
  uint64_t top_;      // where the older lap ends; 0: there is one lap only
  uint64_t sequence_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_FILE_H_
