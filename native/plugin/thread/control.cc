#include "plugin/thread/control.h"

#include <stddef.h>
#include <unistd.h>

#include "plugin/persist/crc32.h"
#include "plugin/record/ring.h"

namespace nccl_trace {

using rank_file::FileHeader;

static_assert(offsetof(FileHeader, control_generation) == offsetof(FileHeader, control_word) + sizeof(uint64_t),
              "read at once");

bool ReadControl(const Image& image, int fd, ControlRequest& request) {
  uint64_t words[2];
  if (image.placement == rank_file::kInFile) {
    // Read the number first, because the word was written before it.
    words[1] = __atomic_load_n(&image.header().control_generation, __ATOMIC_ACQUIRE);
    words[0] = Load(image.header().control_word);
  } else if (fd < 0 || pread(fd, words, sizeof(words), offsetof(FileHeader, control_word)) != sizeof(words)) {
    return false;
  }
  request.number = static_cast<uint32_t>(words[1]);
  request.check = static_cast<uint32_t>(words[1] >> 32);
  request.word = words[0];
  request.events = static_cast<uint32_t>(words[0]);
  request.sample = static_cast<uint32_t>(words[0] >> 32);
  return true;
}

bool ChecksOut(const ControlRequest& request, uint64_t tag) {
  const uint64_t words[] = {tag, request.word, request.number};
  return request.number != 0 && Crc32(words, sizeof(words)) == request.check;
}

void WriteControlChange(const Image& image, const rank_file::AreaEntry& table, uint64_t number,
                        const ControlChange& change) {
  static_assert(rank_file::kControlChangeSlots == 1, "its number is its position");
  PutSlot(image.slots(table)[number & (table.capacity - 1)],
          rank_file::SlotMeta(rank_file::kControlChange, 0, 1, number), change.before, change.done,
          uint64_t{change.events} | uint64_t{change.sample_every} << 32);
  Store(image.live(table)->head, number + 1);
}

}  // namespace nccl_trace
