// Tables of completed exchanges. The first keeps all of them, the others the quickest of every 16 and of every 256, so
// the last minutes are complete and days are kept in outline.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_TABLES_H_
#define NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_TABLES_H_

#include "plugin/beacon/beacon.h"
#include "plugin/record/file_layout.h"
#include "plugin/record/image.h"

namespace nccl_trace {

class BeaconTables {
 public:
  /** The tables must be zeroed memory. */
  void Use(const Image& image, const FileLayout& layout);

  void Add(const BeaconExchange& exchange);

 private:
  void Write(uint32_t table, const BeaconExchange& exchange);

  Image image_;
  const FileLayout* layout_;
  uint64_t exchanges_;
  uint64_t written_[kBeaconTables];
  BeaconExchange quickest_[kBeaconTables];
};

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_BEACON_BEACON_TABLES_H_
