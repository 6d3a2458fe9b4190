#include "plugin/persist/rank_file_keeper.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "plugin/persist/rank_file_header.h"
#include "plugin/persist/ring_file.h"
#include "plugin/persist/saved_rings.h"
#include "plugin/process/clock.h"
#include "plugin/process/mount_of.h"
#include "plugin/record/ring.h"

namespace nccl_trace {
namespace {

constexpr uint64_t kBeatsPerCopy = kCopyIntervalMs / 1'000;
constexpr uint64_t kBeatsPerRetry = 30;

}  // namespace

bool RankFileKeeper::Begin(const RecordingOrder* order) {
  order_ = order;
  file_.fd = -1;
  copy_.Use(-1, &order->layout);
  return !order->streams() || (drainer_.Allocate() && chunks_.Allocate());
}

void RankFileKeeper::ForgetAfterFork() {
  // A child that lives long must not keep the file open and its disk space in use.
  CloseIfStill(file_.fd, file_.identity);
  file_.fd = -1;
}

void RankFileKeeper::Create(const Image& rings, const ImageOffer* offer, const HostFacts* host) {
  host_ = host;
  FolderOf(order_->settings, folder_);
  if (rings.placement == rank_file::kInRingFile) {
    FirstPath(folder_, order_->settings, *host_, file_.path);
    NameRankFile(rings, file_.path);
  }
  if (!MayWait()) return;
  const ImageOffer* const mapped = rings.base == nullptr ? offer : nullptr;
  CreateRankFile(folder_, order_->settings, *host_, order_->layout.file_bytes, mapped, file_);
}

/** Asks the table of mounts, not the disk. */
bool RankFileKeeper::MayWait() {
  if (!never_waits_ || MountOf(folder_).is_local) return true;
  file_.error = EAGAIN;
  file_.failed = "create, without a thread to wait for its disk, a file in";
  snprintf(file_.path, sizeof(file_.path), "%s", folder_);
  return false;
}

Image RankFileKeeper::Map() const {
  return file_.fd >= 0 ? MapRankFile(file_, order_->layout.file_bytes) : Image{nullptr, 0, rank_file::kInFile};
}

void RankFileKeeper::Use(const Image& image, uint32_t tick_source) {
  image_ = image;
  tick_source_ = tick_source;
  if (file_.fd < 0) CountIoError();
  if (image_.placement != rank_file::kInFile) {
    copy_.Use(file_.fd, &order_->layout);
    if (copy_.has_file()) {
      if (image_.placement == rank_file::kInRingFile) NameRankFile(image_, file_.real_path);
      if (!copy_.CopyHeader(image_)) CountIoError();
    }
  } else if (!order_->streams()) {
    const int fd = file_.fd;
    file_.fd = -1;  // first, so that a fork in between does not close a number that may be another file by then
    close(fd);      // the mapping keeps the file
  }
  if (order_->streams()) {
    chunks_.Use(file_.fd, image_);
    drainer_.Use(image_, &order_->layout, &chunks_);
  }
}

void RankFileKeeper::AfterBeat(uint64_t beats) {
  if (image_.placement == rank_file::kInFile) return;
  if (!copy_.has_file()) {
    if (beats % kBeatsPerRetry == kBeatsPerRetry - 1) Retry();
  } else if (beats % kBeatsPerCopy == 0) {
    CopyRings();
  } else if (!(copy_.CopyNames(image_) && copy_.CopyTable(image_, order_->layout.heartbeat))) {
    CountIoError();
  }
}

void RankFileKeeper::CopyChangingHeader() {
  if (copy_.has_file() && !copy_.CopyChangingHeader(image_)) CountIoError();
}

void RankFileKeeper::CopyTableAndHeader(uint32_t area) {
  if (copy_.has_file() && !(copy_.CopyTable(image_, area) && copy_.CopyChangingHeader(image_))) CountIoError();
}

bool RankFileKeeper::CopyRings() {
  if (image_.placement == rank_file::kInFile) return true;
  return TryCopy() || (copy_.is_lost() && TryCopy());
}

bool RankFileKeeper::TryCopy() {
  if (!copy_.has_file()) Retry();
  if (!copy_.has_file()) return false;
  // The first write into a file that is only reserved. The header comes first: copies without a header are useless.
  if (!copy_.has_header() && !copy_.CopyHeader(image_)) {
    CountIoError();
    return false;
  }
  const uint64_t before = ReadTick(tick_source_);
  if (!copy_.CopyAreas(image_, order_->streams() ? &drainer_ : nullptr)) {
    CountIoError();
    return false;
  }
  Store(image_.header().copied_tick, before);
  has_copied_.store(true, std::memory_order_release);
  if (copy_.CopyChangingHeader(image_)) return true;
  CountIoError();
  return false;
}

bool RankFileKeeper::Finish() {
  if (CopyAll()) return true;
  return !copy_.has_file() && !copy_.is_lost() && IsNoPlace(file_.error);
}

/** If somebody has cut the file meanwhile, it gets all that the rings have. */
bool RankFileKeeper::CopyAll() {
  if (!CopyRings()) return false;
  if (copy_.IsWhole(image_)) return true;
  CountIoError();
  copy_.StartAgain();
  return CopyRings() && copy_.IsWhole(image_);
}

uint64_t RankFileKeeper::Drain(uint64_t now) {
  switch (drainer_.DrainOnce(now)) {
    case Drainer::Outcome::kDrained:
      // The chunk may be all that is left of this process, so the file must have its names.
      if (image_.placement != rank_file::kInFile && copy_.has_file() && !copy_.CopyNames(image_)) CountIoError();
      return now;
    case Drainer::Outcome::kFailed:
      CountIoError();
      if (image_.placement == rank_file::kInFile && chunks_.is_lost()) FindChunksAgain();
      break;
    case Drainer::Outcome::kIdle:
      break;
  }
  return drainer_.NextDue(now);
}

/** Tries again: the disk may have room now, or the mount may be back. */
void RankFileKeeper::Retry() {
  if (!MayWait()) return;
  if (copy_.is_lost()) return FindAgain();
  CreateRankFile(folder_, order_->settings, *host_, order_->layout.file_bytes, nullptr, file_);
  copy_.Use(file_.fd, &order_->layout);
  if (copy_.has_file() && image_.placement == rank_file::kInRingFile) NameRankFile(image_, file_.real_path);
  if (!copy_.has_file() || !copy_.CopyHeader(image_)) CountIoError();
  if (order_->streams()) chunks_.Use(file_.fd, image_);
}

/**
 * The job has closed our descriptor. Opens the same file again. If it is gone, a second one would help nobody.
 */
void RankFileKeeper::FindAgain() {
  const bool is_found = copy_.Reopen(file_.path);
  file_.fd = copy_.fd();
  if (!is_found || (!copy_.has_header() && !copy_.CopyHeader(image_))) CountIoError();
  if (order_->streams()) chunks_.GoOnWith(file_.fd);
}

/** The same if only chunks need the descriptor, because rings in the file are written through their mapping. */
void RankFileKeeper::FindChunksAgain() {
  const int fd = OpenAgain(file_.path, file_.identity);
  if (fd < 0) return;  // counted
  file_.fd = fd;
  chunks_.GoOnWith(fd);
}

void RankFileKeeper::CountIoError() {
  if (image_.base != nullptr) __atomic_fetch_add(&image_.header().io_errors, 1, __ATOMIC_RELAXED);
}

}  // namespace nccl_trace
