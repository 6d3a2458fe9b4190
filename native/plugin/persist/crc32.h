// CRC-32 of headers and chunks, as in zlib.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CRC32_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CRC32_H_

#include <stdint.h>

namespace nccl_trace {

uint32_t Crc32(const void* data, uint64_t bytes);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_CRC32_H_
