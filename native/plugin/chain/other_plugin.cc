#include "plugin/chain/other_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "plugin/chain/interfaces.h"
#include "plugin/process/old_libc.h"

namespace nccl_trace::chain {
namespace {

/** As NCCL: the value itself, then as the end of a library's name. */
void* Open(const char* name) {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  void* library = dlopen(name, kFlags);
  const size_t length = strlen(name);
  const bool is_file = strchr(name, '/') != nullptr ||
                       (length > 6 && strncmp(name, "lib", 3) == 0 && strcmp(name + length - 3, ".so") == 0);
  if (library != nullptr || is_file) return library;
  char full[320];
  snprintf(full, sizeof(full), "libnccl-profiler-%.255s.so", name);
  return dlopen(full, kFlags);
}

}  // namespace

const char* OtherPlugin::Load(int running) {
  library = Open(name);
  if (library == nullptr) {
    const char* why = dlerror();
    return why != nullptr ? why : "it cannot be loaded";
  }
  table = nullptr;
  for (version = running; version >= 1; --version) {
    char symbol[] = "ncclProfiler_v0";
    symbol[sizeof(symbol) - 2] = static_cast<char>('0' + version);
    table = static_cast<const AnyTable*>(dlsym(library, symbol));
    if (table != nullptr) break;
  }
  const char* why = nullptr;
  if (table == nullptr) {
    why = "it has no ncclProfiler_v table that this NCCL knows";
  } else if (table->name != nullptr && strcmp(table->name, "nccl-trace") == 0) {
    why = "it is nccl-trace itself";
  } else if (table->init == nullptr || table->startEvent == nullptr || table->stopEvent == nullptr ||
             table->recordEventState == nullptr || table->finalize == nullptr) {
    why = "its table lacks a function";
  }
  if (why != nullptr) Unload();
  return why;
}

void OtherPlugin::Unload() {
  takes.store(false, std::memory_order_relaxed);
  if (library != nullptr) dlclose(library);
  library = nullptr;
}

nccl_abi::Result OtherPlugin::Init(const CommunicatorInfo& info, void** context, nccl_abi::Logger logger) {
  nccl_abi::Result result;
  if (version <= 3) {
    result = reinterpret_cast<nccl_abi::InitWithoutInfo>(table->init)(context, &mask);
  } else if (version == 4) {
    result = reinterpret_cast<nccl_abi::InitHashFourth>(table->init)(context, &mask, info.name, info.id, info.nodes,
                                                                     info.ranks, info.rank, logger);
  } else {
    result = reinterpret_cast<nccl_abi::InitHashSecond>(table->init)(context, info.id, &mask, info.name, info.nodes,
                                                                     info.ranks, info.rank, logger);
  }
  // NCCL's adapters remove what the version does not have, from v5 on and only here.
  if (version >= 5) __atomic_and_fetch(&mask, static_cast<int>(kTypes[version]), __ATOMIC_RELAXED);
  return result;
}

}  // namespace nccl_trace::chain
