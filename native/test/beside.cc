// Two profiler plugins in one process, with global or local symbols, loaded in either order: each gets its own calls
// only.
//
//   beside <plugin.so> <folder> <another plugin.so> plugin-first|other-first local|global
//
// The other one is native/bench/stub, which counts its calls.

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr uint64_t kCalls = 100;

void Load(const char* library, int flags) {
  if (dlopen(library, RTLD_NOW | flags) == nullptr) Fail(__FILE__, __LINE__, dlerror());
}

/** Both plugins export the same name. */
void ExpectOwnTables(const char* library, const char* other) {
  const void* const table = dlsym(dlopen(library, RTLD_NOW), "ncclProfiler_v6");
  CHECK(table != nullptr);
  CHECK(table != dlsym(dlopen(other, RTLD_NOW), "ncclProfiler_v6"));
  // Its functions belong to the same library.
  Dl_info of_table;
  Dl_info of_init;
  CHECK(dladdr(table, &of_table) != 0);
  CHECK(dladdr(reinterpret_cast<void* const*>(table)[1], &of_init) != 0);
  CHECK(of_table.dli_fbase == of_init.dli_fbase);
}

/** A counter that the other plugin exports. */
uint64_t CountOf(const char* other, const char* name) {
  const void* const count = dlsym(dlopen(other, RTLD_NOW), name);
  CHECK(count != nullptr);
  return *static_cast<const uint64_t*>(count);
}

}  // namespace

int main(int, char** argv) {
  const char* const library = argv[1];
  const std::string folder = argv[2];
  const char* const other = argv[3];
  const bool plugin_first = strcmp(argv[4], "plugin-first") == 0;
  const int flags = strcmp(argv[5], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 1);
  setenv("NCCL_TRACE_RING_MB", "1", 1);
  setenv("RANK", "0", 1);

  Load(plugin_first ? library : other, flags);
  Load(plugin_first ? other : library, flags);
  ExpectOwnTables(library, other);

  Nccl plugin(library);
  Nccl beside(other);
  void* const context = plugin.Init();
  void* const context_beside = beside.Init();
  for (uint64_t i = 0; i < kCalls; ++i) {
    Descriptor d = Describe(nccl_abi::kGroup);
    const uint64_t handle = plugin.Start(context, d);
    CHECK(handle >> 63 == 1);  // a handle of ours: no counted number and no pointer
    const uint64_t handle_beside = beside.Start(context_beside, d);
    CHECK(handle_beside >> 63 == 0);
    plugin.Stop(handle);
    if (i % 2 == 0) beside.Stop(handle_beside);
  }
  plugin.Finalize(context);
  beside.Finalize(context_beside);

  const RankFileReader file(folder + "/rank00000.bin");
  uint64_t starts = 0;
  uint64_t stops = 0;
  for (const uint32_t ring : file.AreasOf(rank_file::kRingHost)) {
    for (const Record& record : file.Records(ring)) {
      starts += record.kind == rank_file::kStartGroup;
      stops += record.kind == rank_file::kStop;
    }
  }
  CHECK_EQ(starts, kCalls);
  CHECK_EQ(stops, kCalls);
  CHECK_EQ(CountOf(other, "stubStarts"), kCalls);
  CHECK_EQ(CountOf(other, "stubStops"), kCalls / 2);
  return Passed();
}
