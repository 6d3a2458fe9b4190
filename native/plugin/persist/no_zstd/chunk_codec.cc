#include "plugin/persist/chunk_codec.h"

namespace nccl_trace {

const char* const ChunkCodec::kName = "raw";

bool ChunkCodec::Allocate() { return true; }

ChunkCodec::Payload ChunkCodec::Pack(rank_file::Slot* slots, uint32_t count, uint64_t) {
  return {rank_file::kRaw, slots, count * rank_file::kSlotBytes};
}

}  // namespace nccl_trace
