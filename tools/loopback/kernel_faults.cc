#include "loopback/kernel_faults.h"

#include "loopback/parse.h"
#include "loopback/sizes.h"

namespace loopback {

KernelFaults ParseKernelFaults(const std::string& text) {
  KernelFaults faults;
  for (const std::string& word : Split(text, ',')) {
    const std::vector<std::string> parts = Split(word, ':');
    const std::string& name = parts[0];
    const auto number = [&](int least, int most) -> int {
      if (parts.size() != 2) throw UsageError("'" + word + "' wants a number, as in " + name + ":2");
      return ParseInt(parts[1], least, most, name);
    };
    if (name == "missed-start") {
      faults.missedStarts = number(1, 1 << 20);
    } else if (name == "lag") {
      faults.lag = number(1, kMaxProfilerMarks - 1);
    } else if (name == "torn") {
      faults.torn = number(1, 1 << 20);
    } else if (name == "lost") {
      faults.lostAt = number(0, 1 << 30);
    } else if (word == "late") {
      faults.late = true;
    } else {
      throw UsageError("'" + word + "' is no fault of kernel marks: missed-start:N, lag:N, torn:N, late, lost:ITER");
    }
  }
  return faults;
}

}  // namespace loopback
