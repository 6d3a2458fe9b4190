// Makes the rank file and keeps it up to date: copies rings that are elsewhere, drains rings into chunks (stream mode),
// makes the file again when the disk comes back, finds it again when the job has closed our descriptor. For the
// recorder's thread only: every call may hang on a disk.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_KEEPER_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_KEEPER_H_

#include <atomic>

#include "plugin/persist/file_copy.h"
#include "plugin/persist/rank_file_place.h"
#include "plugin/persist/recording_order.h"

namespace nccl_trace {

class RankFileKeeper {
 public:
  /** Before the thread. `order` is kept. False: no memory. */
  bool Begin(const RecordingOrder* order);
  void ForgetAfterFork();

  /**
   * Makes the file. `rings`: the image in a ring file, which is told the path; without base there is none, and `offer`
   * waits for the file.
   */
  void Create(const Image& rings, const ImageOffer* offer, const HostFacts* host);
  /** The file's own pages, or no image. */
  Image Map() const;
  /** From here on the image is decided. */
  void Use(const Image& image, uint32_t tick_source);

  /** After a beat, the `beats`th from 0. Copies what is new, or tries again to make the file. */
  void AfterBeat(uint64_t beats);
  void CopyChangingHeader();
  /** A table and then the changing header, which must not tell of an entry that the table lacks. */
  void CopyTableAndHeader(uint32_t area);
  /** Rings that are elsewhere. False: the file does not have all of it. */
  bool CopyRings();
  /** The last time. True: the file has everything, or none can ever be made. */
  bool Finish();
  /** One chunk, so that requests and beats need not wait for a long backlog. Returns when to come back. */
  uint64_t Drain(uint64_t now);

  void CountIoError();

  /** -1: there is none to read requests from. */
  int copy_fd() const { return copy_.fd(); }
  const RankFile& file() const { return file_; }
  /** The file has got something. From any thread. */
  bool has_copied() const { return has_copied_.load(std::memory_order_acquire); }

 private:
  bool CopyAll();
  bool TryCopy();
  void Retry();
  void FindAgain();
  void FindChunksAgain();

  const RecordingOrder* order_;
  const HostFacts* host_;
  Image image_;
  uint32_t tick_source_;
  RankFile file_;
  char folder_[PATH_MAX];
  FileCopy copy_;
  ChunkFile chunks_;  // stream mode, as is the next one
  Drainer drainer_;
  std::atomic<bool> has_copied_;
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_KEEPER_H_
