#include "loopback/plugin_loader.h"

#include <dlfcn.h>
#include <strings.h>

#include <cstdlib>
#include <vector>

#include "loopback/nccl_log.h"

namespace loopback {
namespace {

constexpr size_t kMaxName = 255;  // NCCL's name buffer. Longer names are cut and then not found

bool LooksLikeFile(const std::string& name) {
  const bool isLibrary = name.rfind("lib", 0) == 0 && name.size() > 6 && name.substr(name.size() - 3) == ".so";
  return isLibrary || name.find('/') != std::string::npos;
}

/** First the value itself, then the value as a suffix. */
std::vector<std::string> Candidates(const char* value) {
  if (value == nullptr || *value == 0) return {"libnccl-profiler.so"};
  const std::string name = std::string(value).substr(0, kMaxName);
  if (LooksLikeFile(name)) return {name};
  return {name, ("libnccl-profiler-" + name + ".so").substr(0, kMaxName)};
}

void* OpenFirst(const std::vector<std::string>& names, std::string& file, std::string& errors) {
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      file = name;
      return library;
    }
    errors += (errors.empty() ? "" : "; ") + std::string(dlerror());
  }
  return nullptr;
}

void TakeHighestTable(LoadedPlugin& plugin, int maxVersion) {
  for (int version = maxVersion; version >= 1 && plugin.table == nullptr; version--) {
    const std::string symbol = "ncclProfiler_v" + std::to_string(version);
    plugin.table = dlsym(plugin.library, symbol.c_str());
    plugin.version = version;
  }
}

}  // namespace

LoadedPlugin LoadPlugin(int maxVersion) {
  const char* asked = getenv("NCCL_PROFILER_PLUGIN");
  LoadedPlugin plugin;
  if (asked != nullptr && strcasecmp(asked, "none") == 0) return plugin;

  std::string errors;
  plugin.library = OpenFirst(Candidates(asked), plugin.file, errors);
  if (plugin.library == nullptr) {
    const int32_t level = asked != nullptr && *asked != 0 ? nccl_abi::kLogWarn : nccl_abi::kLogInfo;
    NcclLog(level, nccl_abi::kLogSubsysInit, "plugin_loader.cc", __LINE__, "PROFILER/Plugin: not loaded: %s",
            errors.c_str());
    return LoadedPlugin();
  }
  TakeHighestTable(plugin, maxVersion);
  if (plugin.table == nullptr) {
    NcclLog(nccl_abi::kLogWarn, nccl_abi::kLogSubsysInit, "plugin_loader.cc", __LINE__,
            "PROFILER/Plugin: %s has no table from v1 to v%d", plugin.file.c_str(), maxVersion);
    UnloadPlugin(plugin);
    return plugin;
  }
  return plugin;
}

void UnloadPlugin(LoadedPlugin& plugin) {
  if (plugin.library != nullptr) dlclose(plugin.library);
  plugin = LoadedPlugin();
}

}  // namespace loopback
