// What moves the data of an operation. A profiler sees little of anything but kernels.

#pragma once

namespace loopback {

enum class Engine {
  kKernel,      // through the proxy and the network
  kCopyEngine,  // copies from window to window, without a kernel
  kSymmetric,   // a kernel that reads and writes the windows of all ranks
};

inline const char* EngineName(Engine engine) {
  static const char* const names[] = {"kernel", "copy engine", "symmetric"};
  return names[static_cast<int>(engine)];
}

}  // namespace loopback
