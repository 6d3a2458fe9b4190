#include "plugin/persist/crc32.h"

#include <string.h>

namespace nccl_trace {
namespace {

/** of[k][b]: the effect of byte b if k more bytes follow it. Makes eight bytes eight independent look-ups. */
struct Tables {
  uint32_t of[8][256];

  constexpr Tables() : of{} {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
      of[0][byte] = crc;
    }
    for (int follow = 1; follow < 8; ++follow) {
      for (uint32_t byte = 0; byte < 256; ++byte) {
        const uint32_t before = of[follow - 1][byte];
        of[follow][byte] = before >> 8 ^ of[0][before & 0xFF];
      }
    }
  }
};
constexpr Tables kTables;

}  // namespace

uint32_t Crc32(const void* data, uint64_t bytes) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  uint32_t crc = ~uint32_t{0};
  for (; bytes >= 8; at += 8, bytes -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    word ^= crc;
    crc = 0;
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) crc ^= kTables.of[7 - i][word >> 8 * i & 0xFF];
  }
  for (; bytes > 0; ++at, --bytes) crc = crc >> 8 ^ kTables.of[0][(crc ^ *at) & 0xFF];
  return ~crc;
}

}  // namespace nccl_trace
