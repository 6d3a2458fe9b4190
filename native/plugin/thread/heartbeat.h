// Writes once a second that the process is alive and how its clocks run. For the recorder's thread only.

#pragma once

#include "plugin/process/clock.h"
#include "plugin/record/image.h"

namespace nccl_trace {

class Heartbeat {
 public:
  /** Keeps `layout`. */
  void Use(const Image& image, const FileLayout* layout, uint32_t tick_source) {
    image_ = image;
    layout_ = layout;
    tick_source_ = tick_source;
  }

  /** Call it once a second. Returns CLOCK_BOOTTIME, ns. */
  uint64_t Beat();
  /** The last beat, when recording ends. Its clock sample also goes into the densest table. */
  void WriteLast();

 private:
  ClockSample Sample() const;
  void Write(uint32_t area, uint64_t number, const ClockSample& sample);

  Image image_;
  const FileLayout* layout_;
  uint32_t tick_source_;
  uint64_t beats_;
  uint64_t heartbeats_;
  uint64_t samples_[kClockTables];
};

}  // namespace nccl_trace
