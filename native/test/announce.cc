// One init and finalize with the settings of the environment; prints what NCCL would see and log.
//
//   announce <plugin.so> [table]

#include "test/nccl.h"

using namespace nccl_trace_test;

int main(int argc, char** argv) {
  Nccl nccl(argv[1], argc > 2 ? argv[2] : "ncclProfiler_v6");
  void* context = nccl.Init();
  printf("context %s\nmask 0x%x\n", context == nullptr ? "none" : "given", static_cast<unsigned>(nccl.mask()));
  nccl.Finalize(context);
  for (const std::string& line : Lines().warnings) printf("warn %s\n", line.c_str());
  for (const std::string& line : Lines().infos) printf("info %s\n", line.c_str());
  return 0;
}
