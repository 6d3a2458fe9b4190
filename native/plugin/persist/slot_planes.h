// Bare slots in planes: byte 0 of all of them, then byte 1 of all, up to byte 31 (codec ZstdPlanes of the rank
// file). Bytes that change together are then together, and most planes are one long run, which compresses quickly.

#pragma once

#include <string.h>

#include "plugin/persist/bare_slots.h"

namespace nccl_trace {

constexpr uint32_t kPlanes = rank_file::kSlotBytes;
/**
 * Slots per block. They fill one cache line of each plane, because caches keep few lines of planes that lie far apart.
 */
constexpr uint32_t kPlaneBlock = 64;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte 0 of a word is its lowest");

/** Sixteen bytes, for which all supported processors have registers. */
constexpr uint32_t kVectorBytes = 16;
typedef uint8_t Vector __attribute__((vector_size(kVectorBytes)));

/** Takes the bytes of two vectors in turn, from their first or their second halves. */
#if defined(__clang__)
#define NCCL_TRACE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define NCCL_TRACE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Vector{__VA_ARGS__})
#endif
inline Vector FirstInTurn(Vector a, Vector b) {
  return NCCL_TRACE_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vector SecondInTurn(Vector a, Vector b) {
  return NCCL_TRACE_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#undef NCCL_TRACE_SHUFFLE

/**
 * Transposes 16 x 16 bytes: byte j of row i changes places with byte i of row j, by interleaving the rows four times.
 */
[[gnu::always_inline]] inline void Transpose(Vector (&rows)[kVectorBytes]) {
  Vector dealt[kVectorBytes];
  constexpr uint32_t kHalf = kVectorBytes / 2;
#pragma GCC unroll 4
  for (int time = 0; time < 4; ++time) {
    Vector* const from = time % 2 == 0 ? rows : dealt;
    Vector* const to = time % 2 == 0 ? dealt : rows;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < kHalf; ++i) {
      to[2 * i] = FirstInTurn(from[i], from[i + kHalf]);
      to[2 * i + 1] = SecondInTurn(from[i], from[i + kHalf]);
    }
  }
}

/** Makes the planes of a whole block. `planes`: begin of the first. `apart`: bytes from one plane to the next. */
inline void MakePlanesOfBlock(const rank_file::Slot* slots, uint8_t* planes, uint64_t apart) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(slots);
  alignas(kPlaneBlock) uint8_t block[kPlanes][kPlaneBlock];
  for (uint32_t slot = 0; slot < kPlaneBlock; slot += kVectorBytes) {
    for (uint32_t byte = 0; byte < kPlanes; byte += kVectorBytes) {
      Vector rows[kVectorBytes];
#pragma GCC unroll 16
      for (uint32_t i = 0; i < kVectorBytes; ++i) {
        memcpy(&rows[i], bytes + (slot + i) * kPlanes + byte, kVectorBytes);
      }
      Transpose(rows);
#pragma GCC unroll 16
      for (uint32_t i = 0; i < kVectorBytes; ++i) memcpy(&block[byte + i][slot], &rows[i], kVectorBytes);
    }
  }
  for (uint32_t plane = 0; plane < kPlanes; ++plane) memcpy(planes + plane * apart, block[plane], kPlaneBlock);
}

/** `planes`: room for `count` slots. Destroys `slots`, as MakeBare does. */
inline void MakePlanes(rank_file::Slot* slots, uint32_t count, uint64_t first_position, uint8_t* planes) {
  uint64_t last_tick = 0;
  uint32_t at = 0;
  for (; at + kPlaneBlock <= count; at += kPlaneBlock) {
    MakeBare(slots + at, kPlaneBlock, first_position + at, last_tick);
    MakePlanesOfBlock(slots + at, planes + at, count);
  }
  MakeBare(slots + at, count - at, first_position + at, last_tick);
  for (; at < count; ++at) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(slots + at);
    for (uint32_t plane = 0; plane < kPlanes; ++plane) planes[uint64_t{plane} * count + at] = bytes[plane];
  }
}

}  // namespace nccl_trace
