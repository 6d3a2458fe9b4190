#include "test/unzstd.h"

#include <zstd.h>

namespace nccl_trace_test {

bool Unzstd(const void* frame, size_t frame_size, void* bytes, size_t size) {
  return ZSTD_decompress(bytes, size, frame, frame_size) == size;
}

}  // namespace nccl_trace_test
