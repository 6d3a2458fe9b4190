#include "loopback/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "loopback/fatal.h"
#include "loopback/first_use.h"
#include "loopback/pxn.h"
#include "loopback/windows.h"

namespace loopback {

size_t SharedBytes(const Options& options) {
  return std::max<size_t>(4096, WindowBytes(options) + PxnBytes(options) + FirstUse::Bytes(options));
}

int MakeSharedMemory(size_t bytes) {
  const int fd = memfd_create("nccl-trace-loopback", 0);
  if (fd < 0 || ftruncate(fd, bytes) != 0) {
    Fatal(kExitFailed, "no shared memory of %zu bytes: %s", bytes, strerror(errno));
  }
  return fd;
}

char* MapSharedMemory(int fd, size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED) Fatal(kExitFailed, "cannot map %zu bytes: %s", bytes, strerror(errno));
  return static_cast<char*>(memory);
}

}  // namespace loopback
