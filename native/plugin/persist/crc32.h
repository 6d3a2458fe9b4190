// CRC-32 of headers and chunks, as in zlib.

#pragma once

#include <stdint.h>

namespace nccl_trace {

uint32_t Crc32(const void* data, uint64_t bytes);

}  // namespace nccl_trace
