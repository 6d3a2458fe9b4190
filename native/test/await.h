// Waits for things that happen at an unknown time, and reads the header of a live file.

#pragma once

#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "format/rank_file.h"
#include "test/check.h"

namespace nccl_trace_test {

/** Waits without a time limit. */
inline void Await(const char* what, const std::function<bool()>& has_happened) {
  for (int i = 0; i < 12'000; ++i) {
    if (has_happened()) return;
    usleep(10'000);
  }
  Fail(__FILE__, __LINE__, what);
}

/** Zeros while there is no header. */
inline rank_file::FileHeader HeaderOf(const std::string& path) {
  rank_file::FileHeader header = {};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
  return header;
}

/** Finalize waits only 200 ms for the last copy, which a busy machine may miss. */
inline void AwaitClosed(const std::string& path) {
  Await("the close", [&] { return HeaderOf(path).life == rank_file::kClosed; });
}

}  // namespace nccl_trace_test
