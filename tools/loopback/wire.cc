#include "loopback/wire.h"

#include <algorithm>
#include <cstring>

namespace loopback {
namespace {

/** A line has units of data and flag: LL two of 4 + 4 bytes, LL128 one of 120 + 8. */
struct Unit {
  size_t data;
  size_t flag;
};

constexpr Unit UnitOf(Proto proto) { return proto == Proto::kLl ? Unit{4, 4} : Unit{120, 8}; }

/** Never 0, because fresh memory is 0. */
uint64_t FlagOf(Unit unit, uint64_t step) { return unit.flag == 4 ? static_cast<uint32_t>(step + 1) : step + 1; }

}  // namespace

void EncodeLines(Proto proto, char* wire, const char* payload, size_t bytes, uint64_t step) {
  const Unit unit = UnitOf(proto);
  const uint64_t flag = FlagOf(unit, step);
  const char* const end = wire + WireBytes(proto, bytes);
  for (; wire < end; wire += unit.data + unit.flag) {
    const size_t n = std::min(bytes, unit.data);
    memcpy(wire, payload, n);
    memcpy(wire + unit.data, &flag, unit.flag);
    payload += n;
    bytes -= n;
  }
}

bool DecodeLines(Proto proto, char* payload, const char* wire, size_t bytes, uint64_t step) {
  const Unit unit = UnitOf(proto);
  const uint64_t flag = FlagOf(unit, step);
  const char* const end = wire + WireBytes(proto, bytes);
  for (; wire < end; wire += unit.data + unit.flag) {
    const size_t n = std::min(bytes, unit.data);
    memcpy(payload, wire, n);
    if (memcmp(wire + unit.data, &flag, unit.flag) != 0) return false;
    payload += n;
    bytes -= n;
  }
  return true;
}

}  // namespace loopback
