// Decompression for tests: one of zstd/ and no_zstd/ is linked.

#pragma once

#include <cstddef>

namespace nccl_trace_test {

/** Whether one whole frame became exactly `size` bytes. */
bool Unzstd(const void* frame, size_t frame_size, void* bytes, size_t size);

}  // namespace nccl_trace_test
