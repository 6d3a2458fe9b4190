// A job that goes on for long, in stream mode with a limit: threads and communicators that come and go, children, ends and
// new beginnings, neighbours that are killed. Nothing grows, and every call is a record or a counted position.
//
//   soak <plugin.so> <folder> <seconds>

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr uint64_t kLimitMb = 16;
constexpr uint64_t kSlack = uint64_t{4} << 20;  // of the file's size, beyond the limit

std::string folder;
std::string rings;
const char* library;
std::atomic<uint64_t> calls{0};

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string RankPath(int rank) {
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", rank);
  return folder + name;
}

size_t EntriesOf(const char* path) {
  DIR* entries = opendir(path);
  if (entries == nullptr) return 0;
  size_t found = 0;
  while (const dirent* entry = readdir(entries)) found += entry->d_name[0] != '.';
  closedir(entries);
  return found;
}

uint64_t ResidentKilobytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, 6, "VmRSS:") == 0) return strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

rank_file::FileHeader HeaderOf(const std::string& path) {
  rank_file::FileHeader header = {};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
  return header;
}

/** Records of one slot each, so that calls, records and positions can be compared. */
void CallMany(Nccl& nccl, void* context, uint64_t pairs) {
  for (uint64_t i = 0; i < pairs; ++i) {
    Descriptor d = Describe(nccl_abi::kGroup);
    nccl.Stop(nccl.Start(context, d));
  }
  calls += 2 * pairs;
}

void AwaitExit(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

/** Another rank of this node, which never ends by itself. */
pid_t Neighbour(const char* self, int rank) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  setenv("RANK", std::to_string(rank).c_str(), 1);
  execl(self, self, library, folder.c_str(), "neighbour", nullptr);
  _exit(1);
}

[[noreturn]] void BeNeighbour() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Nccl nccl(library);
  void* context = nccl.Init();
  for (;;) {
    CallMany(nccl, context, 100);
    usleep(1'000);
  }
}

/** One of everything that happens to a job. */
void Round(Nccl& nccl, void*& context) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      for (int burst = 0; burst < 20; ++burst) {
        CallMany(nccl, context, 100);
        usleep(500);
      }
    });
  }
  for (uint64_t i = 0; i < 20; ++i) {
    void* other = nccl.Init(i, "one of many");
    CallMany(nccl, other, 10);
    nccl.Finalize(other);
  }
  for (std::thread& thread : threads) thread.join();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CallMany(nccl, context, 100);  // counted in the child's memory only
    exit(0);
  }
  AwaitExit(child);
  nccl.Finalize(context);  // the last communicator
  CallMany(nccl, context, 10);
  context = nccl.Init();
}

}  // namespace

int main(int, char** argv) {
  library = argv[1];
  folder = argv[2];
  if (strcmp(argv[3], "neighbour") == 0) BeNeighbour();
  const double seconds = strtod(argv[3], nullptr);
  const std::string base = folder + ".rings";
  rings = base + "/nccl-trace-" + std::to_string(geteuid());
  CHECK_EQ(mkdir(base.c_str(), 0755), 0);
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("NCCL_TRACE_RING_DIR", base.c_str(), 1);
  setenv("NCCL_TRACE_RING_MB", "4", 1);
  setenv("NCCL_TRACE_MAX_MB", std::to_string(kLimitMb).c_str(), 1);
  setenv("NCCL_TRACE_MODE", "stream", 1);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  setenv("RANK", "0", 1);
  const std::string path = RankPath(0);

  Nccl nccl(library);
  void* context = nccl.Init();
  const double begin = SecondsNow();
  double next_kill = begin;
  pid_t neighbour = 0;
  int ranks = 0;
  uint64_t rounds = 0;
  uint64_t first_kilobytes = 0;
  size_t usual_descriptors = ~size_t{0};
  uint64_t most_kilobytes = 0;
  uint64_t most_size = 0;
  uint64_t most_disk = 0;
  do {
    Round(nccl, context);
    ++rounds;
    struct stat file = {};
    if (stat(path.c_str(), &file) == 0) {
      most_size = std::max(most_size, static_cast<uint64_t>(file.st_size));
      most_disk = std::max(most_disk, static_cast<uint64_t>(file.st_blocks) * 512);
    }
    most_kilobytes = std::max(most_kilobytes, ResidentKilobytes());
    if (rounds == 10) first_kilobytes = ResidentKilobytes();
    // The least of several counts, because a descriptor may be open for a moment. The rank file must be there, which
    // a busy machine may make late.
    if (rounds <= 10 && file.st_size > 0) usual_descriptors = std::min(usual_descriptors, EntriesOf("/proc/self/fd"));
    if (SecondsNow() < next_kill) continue;
    next_kill = SecondsNow() + 5;
    if (neighbour != 0) {
      CHECK_EQ(kill(neighbour, SIGKILL), 0);
      CHECK_EQ(waitpid(neighbour, nullptr, 0), neighbour);
    }
    neighbour = Neighbour(argv[0], ++ranks);
  } while (SecondsNow() < begin + seconds || rounds < 20);
  CHECK_EQ(kill(neighbour, SIGKILL), 0);
  CHECK_EQ(waitpid(neighbour, nullptr, 0), neighbour);
  for (int i = 0; i < 12'000 && EntriesOf(rings.c_str()) > 1; ++i) usleep(10'000);  // all are saved
  CHECK_EQ(EntriesOf(rings.c_str()), 1);
  // Whoever saved the last of them may still be closing its files.
  for (int i = 0; i < 12'000 && EntriesOf("/proc/self/fd") > usual_descriptors; ++i) usleep(10'000);
  CHECK(EntriesOf("/proc/self/fd") <= usual_descriptors);
  // Not the close of the round before.
  for (int i = 0; i < 12'000 && HeaderOf(path).life != rank_file::kRecording; ++i) usleep(10'000);
  CHECK_EQ(HeaderOf(path).life, rank_file::kRecording);
  nccl.Finalize(context);
  for (int i = 0; i < 12'000 && HeaderOf(path).life != rank_file::kClosed; ++i) usleep(10'000);
  CHECK_EQ(HeaderOf(path).life, rank_file::kClosed);

  const RankFileReader file(path);
  uint64_t found = 0;
  uint64_t missing = 0;
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    found += file.Records(ring).size();
    for (const Span& gap : file.Gaps(ring)) missing += gap.end - gap.begin;
  }
  printf("%.0f s, %" PRIu64 " rounds, %" PRIu64 " callbacks: %" PRIu64 " records, %" PRIu64 " dropped or overwritten\n",
         SecondsNow() - begin, rounds, calls.load(), found, missing);
  printf("%d neighbours killed; memory %" PRIu64 " kB after 10 rounds, at most %" PRIu64 " kB; %zu descriptors\n",
         ranks, first_kilobytes, most_kilobytes, usual_descriptors);
  printf("the file took at most %" PRIu64 " kB of %" PRIu64 ", by size %" PRIu64 " kB\n", most_disk >> 10,
         kLimitMb << 10, most_size >> 10);
  CHECK_EQ(found + missing, calls);
  CHECK_EQ(file.header().io_errors, 0);
  CHECK(most_disk <= kLimitMb << 20);
  CHECK(most_size <= (kLimitMb << 20) + kSlack);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  if (getenv("EMULATED") == nullptr) CHECK(most_kilobytes <= first_kilobytes + 4'096);
#endif
  return Passed();
}
