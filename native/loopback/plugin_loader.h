// Finding a profiler plugin by NCCL's rules (plugin_open.cc and profiler.cc of NCCL 2.30).

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PLUGIN_LOADER_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PLUGIN_LOADER_H_

#include <string>

namespace loopback {

/** A plugin in memory, or nothing: every member zero. */
struct LoadedPlugin {
  void* library = nullptr;
  const void* table = nullptr;  // of this version
  int version = 0;
  std::string file;
};

/**
 * Opens what NCCL_PROFILER_PLUGIN names, or libnccl-profiler.so, and takes the highest table from `maxVersion` down.
 * Failing is not an error for NCCL; a plugin that was asked for and is not there is told in a warning.
 */
LoadedPlugin LoadPlugin(int maxVersion);

void UnloadPlugin(LoadedPlugin& plugin);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PLUGIN_LOADER_H_
