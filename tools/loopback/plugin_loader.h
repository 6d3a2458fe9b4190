// Finds a profiler plugin by NCCL's rules (plugin_open.cc and profiler.cc of NCCL 2.30).

#pragma once

#include <string>

namespace loopback {

/** A loaded plugin. All members are zero if there is none. */
struct LoadedPlugin {
  void* library = nullptr;
  const void* table = nullptr;  // of this version
  int version = 0;
  std::string file;
};

/**
 * Opens the library in NCCL_PROFILER_PLUGIN, or libnccl-profiler.so, and takes its highest table up to `maxVersion`. If
 * that fails, it is no error for NCCL. If the user named a plugin that is missing, there is a warning.
 */
LoadedPlugin LoadPlugin(int maxVersion);

void UnloadPlugin(LoadedPlugin& plugin);

}  // namespace loopback
