// Makes the payload of a chunk: compressed if the build found zstd (zstd/), else the slots unchanged (no_zstd/). One of
// the two is linked. Allocates nothing after Allocate.

#pragma once

#include "format/rank_file.h"

namespace nccl_trace {

class ChunkCodec {
 public:
  /** "zstd" or "raw", for messages. */
  static const char* const kName;

  /** Call it once, before all else. False: no memory. */
  bool Allocate();

  struct Payload {
    rank_file::Codec codec;
    const void* data;  // valid until the next call, or as long as `slots`
    uint32_t bytes;
  };
  /** Overwrites `slots`. */
  Payload Pack(rank_file::Slot* slots, uint32_t count, uint64_t first_position);

 private:
  void* memory_;  // of the compressor
  void* planes_;  // input of the compressor
  void* packed_;
};

}  // namespace nccl_trace
