// For contexts in memory of our own: the library's other ones call malloc. We link it statically, so what it calls
// unstable cannot change under us.
#define ZSTD_STATIC_LINKING_ONLY
#include "plugin/chunk_codec.h"

#include <zstd.h>

#include "plugin/bare_slots.h"
#include "plugin/image.h"

namespace nccl_trace {
namespace {

// Measured on the rings of a recorded run of AllReduces: -1 and 1 take the same room, 5.0 bytes per slot, -3 takes half as
// much again, and 3 more time for no less room. Of slots that are not bare each level takes more than twice the room.
constexpr int kLevel = -1;
constexpr uint64_t kPackedBytes = ZSTD_COMPRESSBOUND(rank_file::kMaxChunkRawBytes);

}  // namespace

const char* const ChunkCodec::kName = "zstd";

bool ChunkCodec::Allocate() {
  const uint64_t bytes = ZSTD_estimateCCtxSize(kLevel);
  void* const workspace = MapAnonymous(bytes);
  packed_ = MapAnonymous(kPackedBytes);
  if (workspace == nullptr || packed_ == nullptr) return false;
  memory_ = ZSTD_initStaticCCtx(workspace, bytes);
  return memory_ != nullptr;
}

ChunkCodec::Payload ChunkCodec::Pack(rank_file::Slot* slots, uint32_t count, uint64_t first_position) {
  MakeBare(slots, count, first_position);
  const size_t packed = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(memory_), packed_, kPackedBytes, slots,
                                          count * rank_file::kSlotBytes, kLevel);
  // Bound and workspace are enough for any input, so it cannot fail; if it does, no chunk is better than a wrong one.
  return {rank_file::kZstdBare, packed_, ZSTD_isError(packed) ? 0 : static_cast<uint32_t>(packed)};
}

}  // namespace nccl_trace
