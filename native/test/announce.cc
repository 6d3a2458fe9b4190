// One init and finalize with the settings of the environment. Prints what NCCL sees and logs.
//
//   announce <plugin.so> [table of v4 or newer]

#include "nccl/profiler_v4.h"
#include "test/nccl.h"

using namespace nccl_trace_test;

namespace {

void Announce(void* context, int mask) {
  printf("context %s\nmask 0x%x\n", context == nullptr ? "none" : "given", static_cast<unsigned>(mask));
}

/** v4's init has the same arguments in another order. */
void AnnounceV4(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  const auto* table = static_cast<const nccl_abi::v4::Profiler*>(dlsym(library, "ncclProfiler_v4"));
  void* context = nullptr;
  int mask = 0;
  CHECK_EQ(table->init(&context, &mask, "test", 1, 1, 2, 0, Logger), 0);
  Announce(context, mask);
  CHECK_EQ(table->finalize(context), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string table = argc > 2 ? argv[2] : "ncclProfiler_v6";
  if (table == "ncclProfiler_v4") {
    AnnounceV4(argv[1]);
  } else {
    Nccl nccl(argv[1], table.c_str());
    void* context = nccl.Init();
    Announce(context, nccl.mask());
    nccl.Finalize(context);
  }
  for (const std::string& line : Lines().warnings) printf("warn %s\n", line.c_str());
  for (const std::string& line : Lines().infos) printf("info %s\n", line.c_str());
  return 0;
}
