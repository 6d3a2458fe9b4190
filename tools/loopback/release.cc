#include "loopback/release.h"

#include "nccl/profiler_v7.h"

namespace loopback {
namespace {

constexpr int kTypesV2 = 0x3F;
constexpr int kTypesV4 = 0xFF;

constexpr Release Until225(const char* name, bool rawSteps) {
  Release r{name, kTypesV2, masks::kUntil225};
  r.opDetails = r.maskPerPlan = r.stopsWithoutHandle = r.strictContexts = true;
  r.rawSteps = rawSteps;
  r.wrongRecvStops = !rawSteps;
  return r;
}

constexpr Release Release226() {
  Release r{"2.26", kTypesV4, masks::kUntil227};
  r.opDetails = r.strictContexts = r.wrongRecvStops = true;
  return r;
}

constexpr Release Release227() {
  Release r{"2.27", kTypesV4, masks::kUntil227};
  r.kernelTimes = r.netUpdates = r.strictContexts = true;
  return r;
}

constexpr Release Since228(const char* name, int types) {
  Release r{name, types, masks::kSince228};
  r.kernelTimes = r.netUpdates = r.orphanSteps = true;
  return r;
}

constexpr Release Since229(const char* name, int types) {
  Release r = Since228(name, types);
  r.allGatherV = true;
  return r;
}

constexpr Release Release231() {
  Release r = Since229("2.31", nccl_abi::v7::kMask);
  r.kernelThread = r.symmetricKernels = true;
  return r;
}

constexpr Release kReleases[] = {
    Until225("2.23", true),
    Until225("2.25", false),
    Release226(),
    Release227(),
    Since228("2.28", nccl_abi::kMaskV5),
    Since229("2.30", nccl_abi::kMaskV6),
    Release231(),
};

}  // namespace

const Release& ReleaseKnowing(int abi) { return kReleases[abi - 1]; }

}  // namespace loopback
