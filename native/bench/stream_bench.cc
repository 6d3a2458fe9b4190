// The cost of draining (stream mode) and copying (flight mode): processes make callbacks at a steady rate, then their
// files are counted.
//
//   stream_bench <plugin.so> <folder> <processes> <seconds> <callbacks per second of each>
//   stream_bench --count <file>
//
// Each process plays the steps of a proxy thread, as in record_bench. Printed: one JSON object per process or file.
//
//   calls          callbacks made
//   records        found, in chunks and rings, each position once; chunk_records: those in chunks
//   slots          of these records
//   missing        positions that are in neither: overwritten before they could be drained
//   stored_bytes   of the chunks on disk
//   recorder_cpu   share of one core that the recorder's thread took
//   written_mb     that this thread writes in a second, into the page cache: 10^6 bytes. -1: unknown
//   longest_wait   of that thread for a core within any half second, in seconds: how busy the machine was. -1: unknown

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "plugin/process/clock.h"
#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

constexpr uint64_t kTickNs = 1'000'000;
constexpr uint64_t kTicksPerWindow = 500;
constexpr uint64_t kLatestNs = 50'000'000;  // a thread that was away for longer makes no burst of it

uint64_t Now() { return nccl_trace::ReadClockNs(CLOCK_MONOTONIC); }

// ---------------------------------------------------------------------------------------------------------------------
// The job

/** Sixteen operations with a step each in flight, five callbacks per step. */
class Steps {
 public:
  Steps(Nccl& nccl, void* context) : nccl_(nccl), context_(context) {
    for (size_t i = 0; i < kOps; ++i) {
      Descriptor d = ProxyOp(0, static_cast<int>(i), 1, i % 2 == 0);
      ops_[i] = nccl.Start(context, d);
    }
  }
  void Run(uint64_t calls) {
    for (uint64_t i = 0; i < calls; ++i, ++made_) One();
  }
  uint64_t made() const { return made_ + kOps; }

 private:
  static constexpr size_t kOps = 16;

  void One() {
    const size_t op = made_ % kOps;
    uint64_t& handle = steps_[op];
    switch (made_ / kOps % 5) {
      case 0: {
        Descriptor d = ProxyStep(ops_[op], static_cast<int>(made_ / kOps / 5));
        handle = nccl_.Start(context_, d);
        return;
      }
      case 1:
        return nccl_.State(handle, nccl_abi::kStepSendGpuWait, uint64_t{0});
      case 2:
        return nccl_.State(handle, nccl_abi::kStepSendPeerWait, uint64_t{0});
      case 3:
        return nccl_.State(handle, nccl_abi::kStepSendWait, uint64_t{524'288});
      default:
        return nccl_.Stop(handle);
    }
  }

  Nccl& nccl_;
  void* context_;
  uint64_t ops_[kOps];
  uint64_t steps_[kOps] = {};
  uint64_t made_ = 0;
};

/** How long the recorder's thread ran, how long it waited for a core and what it wrote, by the kernel's count. */
class RecorderThread {
 public:
  RecorderThread() {
    DIR* tasks = opendir("/proc/self/task");
    while (const dirent* task = tasks == nullptr ? nullptr : readdir(tasks)) {
      const std::string folder = std::string("/proc/self/task/") + task->d_name;
      std::string name;
      std::getline(std::ifstream(folder + "/comm"), name);
      if (name != "nccl-trace") continue;
      path_ = folder + "/schedstat";
      io_path_ = folder + "/io";
    }
    if (tasks != nullptr) closedir(tasks);
    start_ns_ = Now();
    Read(start_cpu_, last_wait_);
    start_written_ = Written();
  }
  void EndWindow() {
    uint64_t cpu = 0;
    uint64_t wait = 0;
    known_ = Read(cpu, wait) && known_;
    longest_wait_ = std::max(longest_wait_, wait - last_wait_);
    last_wait_ = wait;
  }
  double CpuShare() const {
    uint64_t cpu = 0;
    uint64_t wait = 0;
    Read(cpu, wait);
    return static_cast<double>(cpu - start_cpu_) / static_cast<double>(Now() - start_ns_);
  }
  double WrittenMegabytes() const {
    const double now = Written();
    return now < 0 || start_written_ < 0 ? -1 : (now - start_written_) * 1e3 / static_cast<double>(Now() - start_ns_);
  }
  double LongestWait() const { return known_ ? static_cast<double>(longest_wait_) / 1e9 : -1; }

 private:
  bool Read(uint64_t& cpu, uint64_t& wait) const { return static_cast<bool>(std::ifstream(path_) >> cpu >> wait); }

  /** Bytes of write(), which count whether the page was dirty or not. */
  double Written() const {
    std::string key;
    double bytes = 0;
    for (std::ifstream io(io_path_); io >> key >> bytes;) {
      if (key == "wchar:") return bytes;
    }
    return -1;
  }

  std::string path_;
  std::string io_path_;
  double start_written_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t start_cpu_ = 0;
  uint64_t last_wait_ = 0;
  uint64_t longest_wait_ = 0;
  bool known_ = true;
};

// ---------------------------------------------------------------------------------------------------------------------
// The count

struct Counted {
  uint64_t records = 0;
  uint64_t chunk_records = 0;
  uint64_t slots = 0;
  uint64_t missing = 0;
  uint64_t chunks = 0;
  uint64_t stored_bytes = 0;
};

void CountSlot(const rank_file::Slot& slot, uint64_t position, Counted& counted) {
  if (!ChecksOut(slot, position)) {
    ++counted.missing;
    return;
  }
  ++counted.slots;
  counted.records += (slot.words[3] >> 8 & 15) == 0;
}

/** The file may be larger than memory: one chunk at a time. */
Counted Count(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  struct stat file;
  CHECK_EQ(fstat(fd, &file), 0);
  const uint64_t size = static_cast<uint64_t>(file.st_size);
  const auto* bytes = static_cast<const uint8_t*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0));
  CHECK(bytes != MAP_FAILED);
  rank_file::FileHeader header;
  memcpy(&header, bytes, sizeof(header));
  std::vector<rank_file::AreaEntry> areas(header.area_count);
  memcpy(areas.data(), bytes + header.directory_offset, areas.size() * sizeof(areas[0]));

  Counted counted;
  std::vector<uint64_t> next(areas.size());
  for (uint64_t at = header.chunks_begin; at != 0 && at + sizeof(rank_file::ChunkHeader) <= size;) {
    rank_file::ChunkHeader chunk;
    memcpy(&chunk, bytes + at, sizeof(chunk));
    if (!IsChunk(chunk, size - at)) {
      at += rank_file::kChunkAlignment;
      continue;
    }
    CHECK(chunk.first_position >= next.at(chunk.area));
    counted.missing += chunk.first_position - next[chunk.area];
    uint64_t position = chunk.first_position;
    for (const rank_file::Slot& slot : Unpack(chunk, bytes + at + sizeof(chunk))) CountSlot(slot, position++, counted);
    next[chunk.area] = chunk.end_position;
    ++counted.chunks;
    counted.stored_bytes += AlignUp(sizeof(chunk) + chunk.stored_bytes);
    at = AlignUp(at + sizeof(chunk) + chunk.stored_bytes);
  }
  counted.chunk_records = counted.records;
  for (size_t ring = 0; areas[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    uint64_t head;
    memcpy(&head, bytes + areas[ring].live_offset, sizeof(head));
    for (uint64_t at = next[ring]; at < head; ++at) {
      rank_file::Slot slot;
      memcpy(&slot, bytes + areas[ring].slots_offset + (at & (areas[ring].capacity - 1)) * sizeof(slot), sizeof(slot));
      CountSlot(slot, at, counted);
    }
  }
  munmap(const_cast<uint8_t*>(bytes), size);
  close(fd);
  return counted;
}

void Print(const Counted& counted) {
  printf("\"records\":%" PRIu64 ",\"chunk_records\":%" PRIu64 ",\"slots\":%" PRIu64 ",\"missing\":%" PRIu64
         ",\"chunks\":%" PRIu64 ",\"stored_bytes\":%" PRIu64,
         counted.records, counted.chunk_records, counted.slots, counted.missing, counted.chunks, counted.stored_bytes);
}

int Process(const char* library, const std::string& folder, int number, double seconds, uint64_t rate) {
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  setenv("RANK", std::to_string(number).c_str(), 1);
  Nccl nccl(library);
  void* context = nccl.Init();
  CHECK(context != nullptr);
  RecorderThread recorder;
  const uint64_t start = Now();
  const uint64_t end = start + static_cast<uint64_t>(seconds * 1e9);
  Steps steps(nccl, context);
  uint64_t tick = 0;
  for (uint64_t due = start; due < end; due += kTickNs) {
    uint64_t now = Now();
    if (now > due + kLatestNs) due = now;
    while (now < due) {
      usleep(static_cast<useconds_t>((due - now) / 1'000 + 1));
      now = Now();
    }
    steps.Run(rate * kTickNs / 1'000'000'000);
    if (++tick % kTicksPerWindow == 0) recorder.EndWindow();
  }
  const double cpu = recorder.CpuShare();
  const double written = recorder.WrittenMegabytes();
  const double took = static_cast<double>(Now() - start) / 1e9;
  nccl.Finalize(context);
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", number);
  const Counted counted = Count(folder + name);
  printf("{\"seconds\":%.3f,\"calls\":%" PRIu64 ",", took, steps.made());
  Print(counted);
  printf(",\"recorder_cpu\":%.4f,\"written_mb\":%.3f,\"longest_wait\":%.4f}\n", cpu, written, recorder.LongestWait());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "--count") == 0) {
    printf("{");
    Print(Count(argv[2]));
    printf("}\n");
    return 0;
  }
  if (argc != 6) {
    fprintf(stderr, "usage: stream_bench <plugin.so> <folder> <processes> <seconds> <callbacks per second>\n");
    return 2;
  }
  const int processes = atoi(argv[3]);
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      const int code = Process(argv[1], argv[2], i, atof(argv[4]), strtoull(argv[5], nullptr, 10));
      exit(code);
    }
  }
  int code = 0;
  for (int i = 0; i < processes; ++i) {
    int status;
    CHECK(wait(&status) > 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) code = 1;
  }
  return code;
}
