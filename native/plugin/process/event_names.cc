#include "plugin/process/event_names.h"

#include <string.h>
#include <strings.h>

namespace nccl_trace {
namespace {

struct Name {
  const char* text;
  uint64_t mask;
};
constexpr Name kPresets[] = {{"all", kAllEvents}, {"coll", kCollectiveEvents}, {"none", 0}};

/** One name's bit, or 0. */
uint64_t BitOf(const char* text, size_t length) {
  uint64_t bit = 1;
  for (const char* name : kEventNames) {
    if (strlen(name) == length && strncasecmp(name, text, length) == 0) return bit;
    bit <<= 1;
  }
  return 0;
}

}  // namespace

bool ParseEvents(const char* text, uint64_t& mask) {
  for (const Name& preset : kPresets) {
    mask = preset.mask;
    if (strcmp(preset.text, text) == 0) return true;
  }
  mask = 0;
  for (;;) {
    const size_t length = strcspn(text, ",");
    const uint64_t bit = BitOf(text, length);
    if (bit == 0) return false;
    mask |= bit;
    if (text[length] == '\0') return true;
    text += length + 1;
  }
}

}  // namespace nccl_trace
