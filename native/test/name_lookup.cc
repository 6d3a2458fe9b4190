// How often a name that is never found is looked up. Time is an argument.

#include "plugin/beacon/name_lookup.h"

#include <netdb.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "test/check.h"

using namespace nccl_trace;

namespace {

std::atomic<uint64_t> asked{0};

}  // namespace

// Replaces the C library's function.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  ++asked;
  return EAI_AGAIN;
}

int main() {
  constexpr uint64_t kSecond = 1'000'000'000;
  constexpr uint64_t kHours = 10;
  const auto lookup = std::make_unique<NameLookup>();
  lookup->Use("nowhere.invalid", 4242);
  for (uint64_t second = 0; second < kHours * 3'600; second += 10) {
    CHECK(lookup->Find(second * kSecond) == nullptr);
    usleep(20);  // for the asking thread. If it takes longer, it asks less often
  }
  for (int i = 0; i < 12'000 && asked == 0; ++i) usleep(10'000);
  CHECK(asked > 0);
  printf("asked %" PRIu64 " times in %" PRIu64 " hours\n", asked.load(), kHours);
  CHECK(asked <= kHours * 6 + 10);  // each 10 minutes, and more often in the first
  return nccl_trace_test::Passed();
}
