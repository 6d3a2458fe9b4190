// A process with one communicator that follows the lines of its standard input:
//
//   puppet <plugin.so>
//
//   coll N        N collectives, sequence numbers counting on; answers "said TOTAL mask 0xMASK"
//   steps N       N proxy steps of one operation
//   communicator  opens another communicator, which stays open
//   mask N        NCCL's RAS replaces the event mask, and does so again after each init
//   (end)         finalize

#include <cstdlib>
#include <iostream>
#include <string>

#include "test/nccl.h"

using namespace nccl_trace_test;

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
