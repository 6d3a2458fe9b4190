// The exported symbols: one table per ABI version. NCCL takes the newest one it knows and keeps the pointer, so the
// tables are constant data for the life of the process (the library is linked nodelete).

#include "nccl/profiler_v1.h"
#include "nccl/profiler_v2.h"
#include "nccl/profiler_v3.h"
#include "nccl/profiler_v4.h"
#include "nccl/profiler_v7.h"
#include "plugin/abi/callbacks.h"

namespace {

namespace abi = nccl_trace::abi;
using nccl_abi::Logger;
using nccl_abi::Result;

/** v1 to v3 have no arguments here. abi/v1_v2_v3.cc learns them from the first events. */
template <uint8_t version, int known_events>
Result InitWithoutInfo(void** context, int* mask) {
  return abi::Open({0, nullptr, -1, 0, 0, version}, known_events, context, mask, nullptr);
}

template <uint8_t version, int known_events>
Result InitHashFourth(void** context, int* mask, const char* name, uint64_t comm_id, int nodes, int ranks, int rank,
                      Logger logger) {
  return abi::Open({comm_id, name, rank, ranks, nodes, version}, known_events, context, mask, logger);
}

template <uint8_t version, int known_events>
Result InitHashSecond(void** context, uint64_t comm_id, int* mask, const char* name, int nodes, int ranks, int rank,
                      Logger logger) {
  return abi::Open({comm_id, name, rank, ranks, nodes, version}, known_events, context, mask, logger);
}

template <typename Table, typename Init>
constexpr Table TableWith(Init init) {
  return {"nccl-trace", init, abi::StartEvent, abi::StopEvent, abi::RecordEventState, abi::Finalize};
}

}  // namespace

#define NCCL_TRACE_EXPORT extern "C" __attribute__((visibility("default"))) const

NCCL_TRACE_EXPORT nccl_abi::v1::Profiler ncclProfiler_v1 =
    TableWith<nccl_abi::v1::Profiler>(InitWithoutInfo<1, nccl_abi::v1::kMask>);
NCCL_TRACE_EXPORT nccl_abi::v2::Profiler ncclProfiler_v2 =
    TableWith<nccl_abi::v2::Profiler>(InitWithoutInfo<2, nccl_abi::v2::kMask>);
NCCL_TRACE_EXPORT nccl_abi::v3::Profiler ncclProfiler_v3 =
    TableWith<nccl_abi::v3::Profiler>(InitWithoutInfo<3, nccl_abi::v3::kMask>);
NCCL_TRACE_EXPORT nccl_abi::v4::Profiler ncclProfiler_v4 =
    TableWith<nccl_abi::v4::Profiler>(InitHashFourth<4, nccl_abi::v4::kMask>);
NCCL_TRACE_EXPORT nccl_abi::Profiler ncclProfiler_v5 =
    TableWith<nccl_abi::Profiler>(InitHashSecond<5, nccl_abi::kMaskV5>);
NCCL_TRACE_EXPORT nccl_abi::Profiler ncclProfiler_v6 =
    TableWith<nccl_abi::Profiler>(InitHashSecond<6, nccl_abi::kMaskV6>);
NCCL_TRACE_EXPORT nccl_abi::v7::Profiler ncclProfiler_v7 =
    TableWith<nccl_abi::v7::Profiler>(InitHashSecond<7, nccl_abi::v7::kMask>);

#undef NCCL_TRACE_EXPORT
