// Makes the payload of a chunk: compressed if the build found zstd (zstd/), else the slots unchanged (no_zstd/). One of
// the two is linked. Allocates nothing after Allocate.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_CODEC_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_CODEC_H_

#include "format/rank_file.h"

namespace nccl_trace {

class ChunkCodec {
 public:
  /** For people: "zstd" or "raw". */
  static const char* const kName;

  /** False: no memory. Once, before all else. */
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
  void* planes_;  // what it compresses
  void* packed_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CHUNK_CODEC_H_
