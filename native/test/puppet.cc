// A process with one communicator that follows the lines of its standard input:
//
//   puppet <plugin.so>
//
//   coll N        N collectives, sequence numbers counting on; answers "said TOTAL mask 0xMASK"
//   steps N       N proxy steps of one operation
//   communicator  opens another communicator, which stays open
//   mask N        NCCL's RAS replaces the event mask, and does so again after each init
//   late N        exit() without finalize; then, when all libraries have been closed, a thread of NCCL makes N more collectives
//   (end)         finalize

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "test/nccl.h"

using namespace nccl_trace_test;

namespace {

/**
 * The C library writes what is left in files after the last destructor (of stdout before it). The reader is slow, so until then the process
 * lives, and `late` runs in another thread.
 */
template <typename Late>
[[noreturn]] void ExitWith(Late late) {
  constexpr size_t kBytes = 1 << 22;
  FILE* const file = fdopen(dup(STDOUT_FILENO), "w");
  setvbuf(file, new char[kBytes], _IOFBF, kBytes);
  fwrite(std::string(kBytes - 1, '.').data(), 1, kBytes - 1, file);
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    late();
  });
  exit(0);
}

}  // namespace

int main(int, char** argv) {
  Nccl nccl(argv[1]);
  void* context = nccl.Init();
  for (const std::string& line : Lines().warnings) fprintf(stderr, "%s\n", line.c_str());
  uint64_t said = 0;
  int ras_mask = -1;
  uint64_t step = 0;
  Descriptor d = ProxyOp(0, 1, 2, true);
  const uint64_t op = nccl.Start(context, d);
  for (std::string line; std::getline(std::cin, line);) {
    const uint64_t count = strtoull(line.c_str() + line.find(' ') + 1, nullptr, 0);
    if (line.compare(0, 5, "coll ") == 0) {
      for (uint64_t i = 0; i < count; ++i) nccl.Stop(nccl.Start(context, d = Coll(0, "AllReduce", said++)));
    } else if (line.compare(0, 6, "steps ") == 0) {
      for (uint64_t i = 0; i < count; ++i) nccl.Stop(nccl.Start(context, d = ProxyStep(op, static_cast<int>(step++))));
    } else if (line.compare(0, 5, "late ") == 0) {
      ExitWith([&] {
        for (uint64_t i = 0; i < count; ++i) nccl.Stop(nccl.Start(context, d = Coll(0, "AllReduce", said++)));
      });
    } else if (line.compare(0, 5, "mask ") == 0) {
      nccl.StoreMask(ras_mask = static_cast<int>(count));
    } else {
      nccl.Init(0xBEEF, "another");
      if (ras_mask != -1) nccl.StoreMask(ras_mask);
    }
    printf("said %" PRIu64 " mask 0x%x\n", said, static_cast<unsigned>(nccl.mask()));
    fflush(stdout);
  }
  nccl.Finalize(context);
  return 0;
}
