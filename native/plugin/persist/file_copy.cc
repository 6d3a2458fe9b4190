#include "plugin/persist/file_copy.h"

#include <string.h>

#include "plugin/process/write_all.h"
#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

// Slots below a ring's head may not be visible yet, because the head is stored without order. So each pass goes back
// this far.
constexpr uint64_t kOverlap = 256;

/** Copies word by word, because a producer may be storing to any of them. Acquire: see the order in ring.h. */
void CopyWords(uint64_t* to, const uint8_t* from, uint64_t bytes) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) to[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
}

}  // namespace

bool FileCopy::IsWhole(const Image& image) {
  if (!IsOurs()) return false;
  struct statx file;
  const bool is_known = statx(fd_, "", AT_EMPTY_PATH, STATX_SIZE, &file) == 0 && (file.stx_mask & STATX_SIZE) != 0;
  if (is_known && file.stx_size < extent_) return false;
  constexpr uint64_t kFixed = rank_file::kHeaderFixedBytes;
  return pread(fd_, piece_, kFixed, 0) == kFixed && memcmp(piece_, image.base, kFixed) == 0;
}

void FileCopy::StartAgain() {
  memset(copied_, 0, sizeof(copied_));
  extent_ = 0;
  has_header_ = false;
  has_lost_chunks_ = true;
}

bool FileCopy::CopyHeader(const Image& image) {
  has_header_ = Copy(image, 0, rank_file::kHeaderBytes + sizeof(rank_file::AreaEntry) * layout_->area_count);
  return has_header_;
}

bool FileCopy::CopyAreas(const Image& image, const Drainer* drained) {
  for (uint32_t area = 0; area < layout_->area_count; ++area) {
    const bool done = area <= layout_->overflow ? CopyRing(image, area, drained != nullptr ? drained->Drained(area) : 0)
                                                : CopyTable(image, area);
    if (!done) return false;
  }
  return CopyChangingHeader(image);
}

bool FileCopy::CopyRing(const Image& image, uint32_t index, uint64_t drained) {
  const rank_file::AreaEntry& area = layout_->areas[index];
  const uint64_t head = Load(image.live(area)->head);
  uint64_t from = copied_[index] > kOverlap ? copied_[index] - kOverlap : 0;
  if (from < drained && !has_lost_chunks_) from = drained < head ? drained : head;
  // Producers of the shared ring take a position first and may fill it much later, so copy all of it again.
  const bool all_again = index == layout_->overflow && head != copied_[index];
  if (all_again || head - from > area.capacity) from = head > area.capacity ? head - area.capacity : 0;
  if (!CopySlots(image, area, from, head)) return false;
  copied_[index] = head;
  return Copy(image, area.live_offset, area.slots_offset - area.live_offset);
}

/** Copies the positions [from, to), which are at most two stretches of the ring. */
bool FileCopy::CopySlots(const Image& image, const rank_file::AreaEntry& area, uint64_t from, uint64_t to) {
  while (from < to) {
    const uint64_t index = from & (area.capacity - 1);
    const uint64_t stretch = to - from < area.capacity - index ? to - from : area.capacity - index;
    if (!Copy(image, area.slots_offset + index * rank_file::kSlotBytes, stretch * rank_file::kSlotBytes)) return false;
    from += stretch;
  }
  return true;
}

/** Trusts the descriptor if there is no statx (in a sandbox). Does not close a foreign one. */
bool FileCopy::IsOurs() {
  if (fd_ < 0) {
    errno = EBADF;
    return false;
  }
  if (!is_known_ || IsStill(fd_, identity_)) return true;
  fd_ = -1;
  is_lost_ = true;
  return false;
}

bool FileCopy::Reopen(const char* path) {
  const int fd = OpenAgain(path, identity_);
  if (fd < 0) return false;
  fd_ = fd;
  is_lost_ = false;
  return true;
}

bool FileCopy::Copy(const Image& image, uint64_t offset, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t piece = bytes < kPiece ? bytes : kPiece;
    CopyWords(piece_, image.base + offset, piece);
    if (!IsOurs() || !WriteAll(fd_, piece_, piece, offset)) return false;
    offset += piece;
    bytes -= piece;
    if (offset > extent_) extent_ = offset;
  }
  return true;
}

}  // namespace nccl_trace
