#include "loopback/profiler.h"

#include <algorithm>

#include "loopback/nccl_log.h"
#include "loopback/parse.h"

namespace {

int ncclVersion = 0;

}  // namespace

/** NCCL's own. Of the program's functions only this one is exported (exports.list), because a plugin may ask for it. */
extern "C" int ncclGetVersion(int* version) {
  *version = ncclVersion;
  return nccl_abi::kSuccess;
}

namespace loopback {

void Profiler::Load(int abi, int pluginAbi) {
  release_ = &ReleaseKnowing(abi);
  ncclVersion = release_->version;
  hidesBroadcasts_ = release_->allGatherV && EnvNumber("NCCL_ALLGATHERV_ENABLE", 1) != 0;
  if (pluginAbi == 0) return;
  plugin_ = LoadPlugin(std::min(abi, pluginAbi));
  if (plugin_.table == nullptr) return;
  sender_ = &SenderFor(plugin_.version, abi);
  functions_ = sender_->functions(plugin_.table);
  loaded_ = true;
  LogInit("PROFILER/Plugin: Loaded %s (v%d) from %s", name(), version(), plugin_.file.c_str());
}

void Profiler::Init(void** context, const CommInfo& comm) {
  if (!loaded()) return;
  const int error = sender_->init(plugin_.table, context, &mask_, comm);
  if (error != nccl_abi::kSuccess) {
    LogInit("Profiler init failed with error '%d'. Continue without profiler.", error);
    if (release_->strictContexts) loaded_ = false;
  }
  LogInit("Profiler event mask: 0x%x", SampleMask());
}

void Profiler::Finalize(void* context) {
  if (loaded() && (context != nullptr || release_->strictContexts)) functions_.finalize(context);
}

}  // namespace loopback
