// Fills in the file's header and directory, once. For the recorder's thread only.

#pragma once

#include "plugin/process/clock.h"
#include "plugin/process/host_facts.h"
#include "plugin/process/settings.h"
#include "plugin/record/image.h"

namespace nccl_trace {

constexpr uint32_t kCopyIntervalMs = 2'000;
constexpr const char* kRecorderVersion = "0.1.0";

struct HeaderFacts {
  const Settings* settings;
  const HostFacts* host;
  const FileLayout* layout;
  uint64_t tag;
  uint64_t event_mask;
  uint32_t nccl_version;  // 0: unknown
  uint32_t tick_source;
  uint64_t tick_hz;
  ClockSample start;
  const char* ring_path;  // empty: there is none
};

/** Writes header and directory, the checksum last. `life` stays kCreating. */
void WriteHeader(const Image& image, const HeaderFacts& facts);

}  // namespace nccl_trace
