// Copies an image that is not the file itself into the file, piece by piece, while producers go on writing into it.
// Each slot has a check, so a copy needs no handshake. For the recorder's thread only.

#pragma once

#include <stddef.h>

#include "plugin/persist/drainer.h"
#include "plugin/process/descriptor_identity.h"

namespace nccl_trace {

class FileCopy {
 public:
  /** -1: there is no file. */
  void Use(int fd, const FileLayout* layout) {
    fd_ = fd;
    layout_ = layout;
    is_known_ = fd >= 0 && Identify(fd, identity_);
    is_lost_ = has_header_ = has_lost_chunks_ = false;
    extent_ = 0;
  }
  bool has_file() const { return fd_ >= 0; }
  bool has_header() const { return has_header_; }
  int fd() const { return fd_; }

  /** True if there is a file, but its descriptor is not ours any more. */
  bool is_lost() const { return is_lost_; }
  /** After a loss, opens the same file and no other. Its bytes are still there. False with errno. */
  bool Reopen(const char* path);

  /**
   * True if the file has our header and is as long as what was copied: nobody has cut it or overwritten its beginning.
   */
  bool IsWhole(const Image& image);
  /** The next copy copies everything, as the first one did, also what is in chunks. */
  void StartAgain();

  /** Copies the whole header. */
  bool CopyHeader(const Image& image);
  /**
   * Copies what rings have gained since the last time, all tables, then the changing half of the header. Leaves out what
   * `drained` has in chunks. `drained` is null in flight mode.
   */
  bool CopyAreas(const Image& image, const Drainer* drained);
  /** True if a ring has gained slots since the last copy. */
  bool HasNew(const Image& image) const {
    for (uint32_t area = 0; area <= layout_->overflow; ++area) {
      if (__atomic_load_n(&image.live(layout_->areas[area])->head, __ATOMIC_ACQUIRE) != copied_[area]) return true;
    }
    return false;
  }
  bool CopyTable(const Image& image, uint32_t area) {
    const rank_file::AreaEntry& entry = layout_->areas[area];
    return Copy(image, entry.live_offset, End(entry) - entry.live_offset);
  }
  /**
   * Copies the tables that name what records mean, if they have grown since the last time. Communicators come before the strings that
   * their entries name.
   */
  bool CopyNames(const Image& image) {
    const uint32_t names[] = {layout_->communicators, layout_->leases, layout_->strings};
    for (const uint32_t area : names) {
      const uint64_t head = __atomic_load_n(&image.live(layout_->areas[area])->head, __ATOMIC_ACQUIRE);
      if (head == copied_[area]) continue;
      if (!CopyTable(image, area)) return false;
      copied_[area] = head;
    }
    return true;
  }
  /** Copies the changing half without the requests, which others write into the file. */
  bool CopyChangingHeader(const Image& image) {
    constexpr uint64_t kControl = offsetof(rank_file::FileHeader, control_word);
    constexpr uint64_t kBehind = offsetof(rank_file::FileHeader, mask_now);
    return Copy(image, rank_file::kHeaderFixedBytes, kControl - rank_file::kHeaderFixedBytes) &&
           Copy(image, kBehind, rank_file::kHeaderBytes - kBehind);
  }

 private:
  static constexpr uint64_t kPiece = 1 << 16;

  static uint64_t End(const rank_file::AreaEntry& area) {
    return area.slots_offset + uint64_t{area.capacity} * rank_file::kSlotBytes;
  }
  bool CopyRing(const Image& image, uint32_t area, uint64_t drained);
  bool CopySlots(const Image& image, const rank_file::AreaEntry& area, uint64_t from, uint64_t to);
  bool Copy(const Image& image, uint64_t offset, uint64_t bytes);
  bool IsOurs();

  int fd_;
  const FileLayout* layout_;
  DescriptorIdentity identity_;  // of fd_
  bool is_known_;                // identity_ could be read
  bool is_lost_;
  bool has_header_;
  bool has_lost_chunks_;
  uint64_t extent_;             // the file's least size after what was copied
  uint64_t copied_[kMaxAreas];  // positions copied so far
  uint64_t piece_[kPiece / sizeof(uint64_t)];
};

}  // namespace nccl_trace
