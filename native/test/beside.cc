// Two profiler plugins in one process, with global or local symbols, loaded in either order: each gets its own calls
// only.
//
//   beside <plugin.so> <folder> <another plugin.so> plugin-first|other-first local|global
//
// The other one is native/loopback/test's, which writes a line per callback into $ECHO_FILE.<RANK>.

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr uint64_t kCalls = 100;

void Load(const char* library, int flags) {
  if (dlopen(library, RTLD_NOW | flags) == nullptr) Fail(__FILE__, __LINE__, dlerror());
}

/** Looks at all versions. Both plugins export the same names. */
void ExpectOwnTables(const char* library, const char* other) {
  void* const ours = dlopen(library, RTLD_NOW);
  void* const theirs = dlopen(other, RTLD_NOW);
  for (int version = 1; version <= 7; ++version) {
    const std::string name = "ncclProfiler_v" + std::to_string(version);
    const void* const table = dlsym(ours, name.c_str());
    CHECK(table != nullptr);
    CHECK(table != dlsym(theirs, name.c_str()));
    // Its functions belong to the same library.
    Dl_info of_table;
    Dl_info of_init;
    CHECK(dladdr(table, &of_table) != 0);
    CHECK(dladdr(reinterpret_cast<void* const*>(table)[1], &of_init) != 0);
    CHECK(of_table.dli_fbase == of_init.dli_fbase);
  }
}

}  // namespace

int main(int, char** argv) {
  const char* const library = argv[1];
  const std::string folder = argv[2];
  const char* const other = argv[3];
  const bool plugin_first = strcmp(argv[4], "plugin-first") == 0;
  const int flags = strcmp(argv[5], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  CHECK_EQ(mkdir(folder.c_str(), 0755), 0);
  const std::string echo = folder + "/echo";
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", "none", 1);
  setenv("NCCL_TRACE_RING_MB", "1", 1);
  setenv("ECHO_FILE", echo.c_str(), 1);
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
  uint64_t lines[2] = {};
  std::ifstream in(echo + ".0");
  for (std::string line; std::getline(in, line);) {
    lines[0] += line.find(" start Group ") != std::string::npos;
    lines[1] += line.find(" stop ") != std::string::npos;
  }
  CHECK_EQ(lines[0], kCalls);
  CHECK_EQ(lines[1], kCalls / 2);
  return Passed();
}
