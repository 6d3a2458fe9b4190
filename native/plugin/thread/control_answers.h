// Does what a control request asks, notices when NCCL's event mask was changed by others, and writes each change into its table. For the
// recorder's thread only.

#pragma once

#include "plugin/persist/rank_file_keeper.h"
#include "plugin/process/clock.h"
#include "plugin/thread/control.h"

namespace nccl_trace {

class ControlAnswers {
 public:
  /** Keeps all pointers. */
  void Use(const Image& image, const RecordingOrder* order, RankFileKeeper* keeper, uint32_t tick_source) {
    image_ = image;
    order_ = order;
    keeper_ = keeper;
    tick_source_ = tick_source;
    looked_ = ReadTick(tick_source);
  }

  /** From NCCL 2.31 its RAS can replace the mask of a running job, and tells no plugin. Each look takes one load. */
  void LookAtMask();

  /** Ignores a request whose check fails, because anybody who may write the rank file may have written anything there. */
  void Answer();

 private:
  void Write(const ControlChange& change);

  Image image_;
  const RecordingOrder* order_;
  RankFileKeeper* keeper_;
  uint32_t tick_source_;
  uint64_t looked_;  // a tick: when the mask was last as told
  uint64_t changes_;
};

}  // namespace nccl_trace
