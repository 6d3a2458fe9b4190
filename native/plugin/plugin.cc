// The exported symbols: one table per ABI version. NCCL takes the newest one it knows and keeps the pointer, so the
// tables stay as they are for the life of the process (the library is linked nodelete). What they are is decided when the
// library is loaded: with NCCL_TRACE_CHAIN they lead to other plugins, too.

#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"
#include "plugin/abi/callbacks.h"
#include "plugin/chain/chain.h"

namespace {

namespace abi = nccl_trace::abi;
namespace chain = nccl_trace::chain;
using nccl_abi::Logger;
using nccl_abi::Result;

using Open = decltype(abi::Open);

/** v1 to v3 have no arguments here. abi/v1_v2_v3.cc learns them from the first events. */
template <uint8_t version, int known_events, Open& open>
Result InitWithoutInfo(void** context, int* mask) {
  return open({0, nullptr, -1, 0, 0, version}, known_events, context, mask, nullptr);
}

template <uint8_t version, int known_events, Open& open>
Result InitHashFourth(void** context, int* mask, const char* name, uint64_t comm_id, int nodes, int ranks, int rank,
                      Logger logger) {
  return open({comm_id, name, rank, ranks, nodes, version}, known_events, context, mask, logger);
}

template <uint8_t version, int known_events, Open& open>
Result InitHashSecond(void** context, uint64_t comm_id, int* mask, const char* name, int nodes, int ranks, int rank,
                      Logger logger) {
  return open({comm_id, name, rank, ranks, nodes, version}, known_events, context, mask, logger);
}

template <typename Table, typename Init>
constexpr Table TableWith(Init init) {
  return {"nccl-trace", init, abi::StartEvent, abi::StopEvent, abi::RecordEventState, abi::Finalize};
}
template <typename Table, typename Init>
constexpr Table ChainedTable(Init init) {
  return {"nccl-trace", init, chain::StartEvent, chain::StopEvent, chain::RecordEventState, chain::Finalize};
}

}  // namespace

#define NCCL_TRACE_TABLE(version, Profiler, Init, known)                                 \
  extern "C" {                                                                           \
  __attribute__((visibility("default"))) Profiler ncclProfiler_v##version =              \
      TableWith<Profiler>(Init<version, known, abi::Open>);                              \
  }                                                                                      \
  __attribute__((constructor)) static void Choose##version() {                           \
    if (!chain::IsWanted()) return;                                                      \
    ncclProfiler_v##version = ChainedTable<Profiler>(Init<version, known, chain::Open>); \
  }

NCCL_TRACE_TABLE(1, nccl_abi::v1::Profiler, InitWithoutInfo, nccl_abi::v1::kMask)
NCCL_TRACE_TABLE(2, nccl_abi::v2::Profiler, InitWithoutInfo, nccl_abi::v2::kMask)
NCCL_TRACE_TABLE(3, nccl_abi::v3::Profiler, InitWithoutInfo, nccl_abi::v3::kMask)
NCCL_TRACE_TABLE(4, nccl_abi::v4::Profiler, InitHashFourth, nccl_abi::v4::kMask)
NCCL_TRACE_TABLE(5, nccl_abi::Profiler, InitHashSecond, nccl_abi::kMaskV5)
NCCL_TRACE_TABLE(6, nccl_abi::Profiler, InitHashSecond, nccl_abi::kMaskV6)
NCCL_TRACE_TABLE(7, nccl_abi::v7::Profiler, InitHashSecond, nccl_abi::v7::kMask)

#undef NCCL_TRACE_TABLE
