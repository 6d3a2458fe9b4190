// Makes the rank file and keeps it up to date. Copies rings that are elsewhere, drains rings into chunks (stream mode),
// makes the file again when the disk comes back, opens it again if the job has closed our descriptor. For the recorder's
// thread only: every call may hang on a disk.

#pragma once

#include <atomic>

#include "plugin/persist/file_copy.h"
#include "plugin/persist/rank_file_place.h"
#include "plugin/persist/recording_order.h"

namespace nccl_trace {

class RankFileKeeper {
 public:
  /** Call it before the thread starts. Keeps `order`. False: no memory. */
  bool Begin(const RecordingOrder* order);
  void ForgetAfterFork();

  /** Without a thread of its own: leaves disks alone that may not answer. Call it before Create. */
  void NeverWait() { never_waits_ = true; }
  /**
   * Makes the file. `rings`: the image in a ring file, into which the path is written. Without base there is no ring file,
   * and `offer` waits for this file.
   */
  void Create(const Image& rings, const ImageOffer* offer, const HostFacts* host);
  /** Maps the file's own pages. Without base: they may not be mapped. */
  Image Map() const;
  /** Call it when the image is decided. */
  void Use(const Image& image, uint32_t tick_source);

  /** Call it after each beat. `beats` counts from 0. Copies what is new, or tries again to make the file. */
  void AfterBeat(uint64_t beats);
  void CopyChangingHeader();
  /** Copies a table, then the changing header, which must not count an entry that the table lacks. */
  void CopyTableAndHeader(uint32_t area);
  /** Copies rings that are elsewhere. False: the file does not have all of them. */
  bool CopyRings();
  /** Copies what rings have gained since the last copy. False: it cannot be written. */
  bool CopyNew() {
    if (image_.placement == rank_file::kInFile) return true;
    return copy_.has_file() && (!copy_.HasNew(image_) || CopyRings());
  }
  /** The last copy. True: the file has everything, or no file can ever be made. */
  bool Finish();
  /** Writes one chunk, so that requests and beats need not wait for a long backlog. Returns when to call again. */
  uint64_t Drain(uint64_t now);

  void CountIoError();

  /** The descriptor to read requests from, or -1. */
  int copy_fd() const { return copy_.fd(); }
  /** The absolute path of the run's folder. Empty if it is too long. */
  const char* folder() const { return folder_; }
  const RankFile& file() const { return file_; }
  /** True if something was copied into the file. For any thread. */
  bool has_copied() const { return has_copied_.load(std::memory_order_acquire); }

 private:
  bool MayWait();
  bool CopyAll();
  bool TryCopy();
  void Retry();
  void FindAgain();
  void FindChunksAgain();

  const RecordingOrder* order_;
  const HostFacts* host_;
  Image image_;
  uint32_t tick_source_;
  bool never_waits_;
  RankFile file_;
  char folder_[PATH_MAX];
  FileCopy copy_;
  ChunkFile chunks_;  // stream mode only, as the next one
  Drainer drainer_;
  std::atomic<bool> has_copied_;
};

}  // namespace nccl_trace
