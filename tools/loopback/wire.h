// Converts payload into lines and back, for the protocols that send flags with the data.
//
//   LL      4 data · 4 flag · 4 data · 4 flag          a line of 16 bytes carries 8
//   LL128   120 data · 8 flag                          a line of 128 bytes carries 120
//
// The flag is the step's number, so a reader notices an old line. SIMPLE has no lines.

#pragma once

#include <cstdint>

#include "loopback/sizes.h"

namespace loopback {

/** Writes `bytes` of payload as lines. */
void EncodeLines(Proto proto, char* wire, const char* payload, size_t bytes, uint64_t step);

/** False: a flag is not of `step`. */
bool DecodeLines(Proto proto, char* payload, const char* wire, size_t bytes, uint64_t step);

}  // namespace loopback
