#include "loopback/release.h"

#include "nccl/profiler_v7.h"

namespace loopback {
namespace {

constexpr int kTypesV2 = 0x3F;
constexpr int kTypesV4 = 0xFF;

constexpr Release Until225(int version, bool rawSteps) {
  Release r{version, kTypesV2, masks::kUntil225};
  r.opDetails = r.maskPerPlan = r.stopsWithoutHandle = r.strictContexts = true;
  r.rawSteps = rawSteps;
  return r;
}

constexpr Release Release226() {
  Release r{22602, kTypesV4, masks::kUntil227};
  r.opDetails = r.strictContexts = true;
  return r;
}

constexpr Release Release227() {
  Release r{22703, kTypesV4, masks::kUntil227};
  r.kernelTimes = r.netUpdates = r.strictContexts = true;
  return r;
}

constexpr Release Since228(int version, int types) {
  Release r{version, types, masks::kSince228};
  r.kernelTimes = r.netUpdates = r.orphanSteps = true;
  return r;
}

constexpr Release Since229(int version, int types) {
  Release r = Since228(version, types);
  r.allGatherV = true;
  return r;
}

constexpr Release Release231() {
  Release r = Since229(23102, nccl_abi::v7::kMask);
  r.kernelThread = r.symmetricKernels = true;
  return r;
}

constexpr Release kReleases[] = {
    Until225(22304, true),
    Until225(22501, false),
    Release226(),
    Release227(),
    Since228(22803, nccl_abi::kMaskV5),
    Since229(23007, nccl_abi::kMaskV6),
    Release231(),
};

}  // namespace

const Release& ReleaseKnowing(int abi) { return kReleases[abi - 1]; }

}  // namespace loopback
