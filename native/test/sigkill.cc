// A process is killed at a random time. Every record of a callback that had returned is in the file, exactly once, and
// the file has no other records.
//
//   sigkill <plugin.so> <folder> <rounds> <seed> flight|stream [ring-file]
//
// Each round forks a child whose threads make callbacks as fast as they can: a progress thread, enough others to fill
// the pool, and some beyond it that share the overflow ring. Every callback has a number, and its first payload word
// says thread and number, so a record tells which callback it came from. After each return the thread counts up in
// memory that it shares with us. We kill it at a random instant and compare.
//
//   said      thread 2:  0 1 2 3 4 5 6 7 | 8          returned 8 times; the ninth was under way
//   in file   thread 2:  0 1 2 3 4 5 6 7   8?         8 may be there; 9 never, 7 always, none twice
//
// A ring that has wrapped must hold the newest records without a hole. In stream mode the overwritten records are in
// chunks, with gaps only where the producers were faster than the recorder's thread.

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "test/nccl.h"
#include "test/rank_file_reader.h"

using namespace nccl_trace_test;

namespace {

bool streams;
std::string rings;  // folder of ring files; empty: rings lie in the rank file

constexpr uint64_t kThreads = 12;  // one proxy, eight in the pool, three beyond it
constexpr uint64_t kPollGroup = 16;
constexpr uint64_t kPace =
    256;  // calls between two rests of a thread, in stream mode: else the recorder's thread starves
constexpr uint64_t kMostRounds = 20;  // times as many as asked for
constexpr uint64_t kAlmost = 64;      // slots: a ring this close to its end may have wrapped behind the head's back

struct alignas(128) Returned {
  std::atomic<uint64_t> calls;
};
struct Shared {
  Returned returned[kThreads];
  std::atomic<uint64_t> init_ms;  // 0: has not returned
};

uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

/** The callback with this number on this thread. The child that makes it and the checks compute it alike. */
struct Call {
  uint32_t kind;
  uint32_t parts;
  uint64_t word1;  // parent or handle
  bool to_steps;   // which of the proxy's rings
  uint64_t type;   // of a start
};

uint64_t Word1(uint64_t thread, uint64_t number) { return thread << 40 | number << 1; }
// Handles of the proxy's own steps ring would go to the steps ring. These handles belong to no ring, so they go to
// the other one.
uint64_t ThreadOf(uint64_t word1) { return word1 >> 40; }
uint64_t NumberOf(uint64_t word1) { return (word1 & ((uint64_t{1} << 40) - 1)) >> 1; }

Call CallOf(uint64_t seed, uint64_t thread, uint64_t number) {
  // The first callback decides which rings a thread gets: choice 0 makes thread 0 the proxy.
  const uint64_t choice = number == 0 ? 0 : Mix(seed ^ thread << 50 ^ (number + 1) * 0x9E3779B97F4A7C15u) % 16;
  const uint64_t self = Word1(thread, number + 1);
  if (thread == 0) {
    if (choice < 2) return {rank_file::kStartProxyOp, 2, self, false, nccl_abi::kProxyOp};
    if (choice < 6) return {rank_file::kStartProxyStep, 1, self, true, nccl_abi::kProxyStep};
    if (choice < 7) return {rank_file::kStartKernelCh, 2, self, false, nccl_abi::kKernelCh};
  } else {
    if (choice < 1) return {rank_file::kStartGroupApi, 1, self, false, nccl_abi::kGroupApi};
    if (choice < 3) return {rank_file::kStartCollApi, 2, self, false, nccl_abi::kCollApi};
    if (choice < 5) return {rank_file::kStartColl, 4, self, false, nccl_abi::kColl};
    if (choice < 6) return {rank_file::kStartP2p, 3, self, false, nccl_abi::kP2p};
    if (choice < 7) return {rank_file::kStartKernelLaunch, 2, self, false, nccl_abi::kKernelLaunch};
  }
  if (choice < 9) return {rank_file::kStop, 1, self, false, 0};
  if (choice < 11) return {rank_file::kState, 1, self, false, 0};
  if (choice < 12) return {rank_file::kState, 2, self, false, 1};  // a value of more than 48 bits
  // A poll: the same state of the same handle, again and again within its group.
  return {rank_file::kFold, 0, Word1(thread, number / kPollGroup * kPollGroup + 1) | 1, false, 0};
}

void Make(const Nccl& nccl, void* context, const Call& call, uint64_t number) {
  const auto& table = nccl.table();
  void* handle = reinterpret_cast<void*>(call.word1);
  nccl_abi::StateArgs args;
  switch (call.kind) {
    case rank_file::kStop:
      table.stopEvent(handle);
      return;
    case rank_file::kState:
      args.proxyStep.transSize = call.parts == 1 ? number & 0xFFFF : uint64_t{1} << 60 | number;
      table.recordEventState(handle, nccl_abi::kStepSendWait, &args);
      return;
    case rank_file::kFold:
      table.recordEventState(handle, nccl_abi::kStepSendPeerWait, nullptr);
      return;
    default:
      break;
  }
  Descriptor d = Describe(call.type, call.word1);
  if (call.type == nccl_abi::kColl) d = Coll(call.word1, "AllReduce", number);
  if (call.type == nccl_abi::kP2p) d = P2p(call.word1, "Send", 1);
  if (call.type == nccl_abi::kCollApi) d = Api(call.type, call.word1, "AllReduce");
  if (call.type == nccl_abi::kProxyOp) d = ProxyOp(call.word1, 1, 2, true);
  table.startEvent(context, &handle, &d);
}

[[noreturn]] void Child(const char* library, Shared* shared, uint64_t seed) {
  Nccl nccl(library);
  const auto begin = std::chrono::steady_clock::now();
  void* context = nccl.Init();
  const auto took = std::chrono::steady_clock::now() - begin;
  shared->init_ms.store(std::max<uint64_t>(1, std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t number = 0;; ++number) {
        Make(nccl, context, CallOf(seed, thread, number), number);
        // Release: a reader who sees the count knows that the callback had returned.
        shared->returned[thread].calls.store(number + 1, std::memory_order_release);
        if (streams && number % kPace == kPace - 1) usleep(1'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

constexpr uint64_t kLast = ~uint64_t{0};

/** A stretch of numbers, up to kLast for all that returned. No position between them is missing, so no number is. */
struct Stretch {
  uint64_t from, to;
};

/** What one ring holds of one thread: the numbers, and the polls per handle. */
struct Found {
  std::set<uint64_t> numbers;
  std::map<uint64_t, uint64_t> polls;
  std::vector<Stretch> stretches = {{0, kLast}};
  bool shared = false;

  bool is_all_there() const { return stretches.size() == 1 && stretches[0].from == 0; }
};

/** The stretches between a ring's gaps. Each gap has been overwritten: nothing of the newest lap is missing. */
std::vector<Stretch> Stretches(const RankFileReader& file, uint32_t ring, const std::vector<Record>& records) {
  for (const Span& gap : file.Gaps(ring)) {
    CHECK(gap.end + file.areas()[ring].capacity <= file.Live(ring).head + kAlmost);
  }
  std::vector<Stretch> stretches;
  uint64_t at = 0;
  bool open = records.empty() || records[0].position == 0;
  if (open) stretches.push_back({0, 0});
  for (const Record& record : records) {
    open = open && record.position == at;
    at = record.position + record.slots.size();
    const uint64_t word1 = record.w(0, 1);
    if ((word1 & 1) != 0) continue;  // a poll
    if (!open) stretches.push_back({NumberOf(word1) - 1, 0});
    stretches.back().to = NumberOf(word1) - 1;
    open = true;
  }
  if (!stretches.empty()) stretches.back().to = kLast;
  return stretches;
}

void Collect(const RankFileReader& file, uint32_t ring, uint64_t seed, std::array<Found, kThreads * 2>& found) {
  const rank_file::AreaEntry& area = file.areas()[ring];
  const bool to_steps = area.area_class == rank_file::kRingSteps;
  const bool is_shared = area.area_class == rank_file::kRingOverflow;
  std::set<std::pair<uint64_t, uint64_t>> runs;  // handle and last tick of a fold that has been counted
  const auto of = [&](uint64_t word1) -> Found& {
    CHECK(ThreadOf(word1) < kThreads);
    Found& f = found[ThreadOf(word1) * 2 + to_steps];
    f.shared = is_shared;
    return f;
  };
  const std::vector<Record> records = file.Records(ring);
  if (!is_shared && !records.empty()) of(records[0].w(0, 1)).stretches = Stretches(file, ring, records);
  for (const Record& record : records) {
    const uint64_t word1 = record.w(0, 1);
    Found& f = of(word1);
    if ((word1 & 1) != 0) {
      CHECK(record.kind == rank_file::kState || record.kind == rank_file::kFold);
      CHECK_EQ(record.w(0, 2) & 0xFFFF, nccl_abi::kStepSendPeerWait);
      if (record.kind == rank_file::kState) ++f.polls[word1];
      if (record.kind == rank_file::kFold && runs.insert({word1, record.w(1, 0)}).second) {
        f.polls[word1] += record.w(1, 1);
      }
      continue;
    }
    const uint64_t number = NumberOf(word1) - 1;
    const Call call = CallOf(seed, ThreadOf(word1), number);
    CHECK_EQ(record.kind, call.kind);
    CHECK_EQ(record.slots.size(), call.parts);
    CHECK_EQ(word1, call.word1);
    CHECK_EQ(to_steps, call.to_steps);
    CHECK(f.numbers.insert(number).second);  // none twice
  }
  for (const OpenFold& fold : file.OpenFolds(ring)) {
    if (runs.count({fold.handle, fold.last_tick}) == 0) of(fold.handle).polls[fold.handle] += fold.count;
  }
}

/**
 * Compares with the calls that were made. The ring has all of them and nothing else, or all since the newest
 * overwritten one.
 */
void Compare(const Found& found, uint64_t seed, uint64_t thread, bool to_steps, uint64_t returned) {
  if (found.shared && !found.is_all_there())
    return;  // threads overwrite each other: whatever is there has been checked
  uint64_t missing = 0;
  for (const Stretch& stretch : found.stretches) {
    const uint64_t end = stretch.to == kLast ? returned : stretch.to;
    for (uint64_t number = stretch.from; number < end; ++number) {
      const Call call = CallOf(seed, thread, number);
      if (call.to_steps != to_steps || call.kind == rank_file::kFold) continue;
      missing += found.numbers.count(number) == 0;
    }
  }
  CHECK_EQ(missing, 0);
  if (!found.numbers.empty()) CHECK(*found.numbers.rbegin() <= returned);
  if (!found.is_all_there()) return;

  std::map<uint64_t, uint64_t> polls;
  for (uint64_t number = 0; number <= returned; ++number) {
    const Call call = CallOf(seed, thread, number);
    if (call.to_steps != to_steps || call.kind != rank_file::kFold) continue;
    polls[call.word1] += 1;
    if (number != returned) continue;  // the last one was under way: it may count or not
    if (found.polls.count(call.word1) == 0) {
      polls.erase(call.word1);
    } else if (found.polls.at(call.word1) + 1 == polls[call.word1]) {
      --polls[call.word1];
    }
  }
  for (const auto& [handle, count] : polls) CHECK_EQ(found.polls.count(handle) ? found.polls.at(handle) : 0, count);
  CHECK_EQ(found.polls.size(), polls.size());
}

/** What the dead left in the folder of ring files; empty: nothing. */
std::string RingFile() {
  if (rings.empty()) return "";
  const std::string inside = rings + "/nccl-trace-" + std::to_string(geteuid());
  std::string found;
  DIR* entries = opendir(inside.c_str());
  while (const dirent* entry = entries != nullptr ? readdir(entries) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    CHECK(found.empty());
    found = inside + "/" + entry->d_name;
  }
  if (entries != nullptr) closedir(entries);
  return found;
}

/**
 * Init waits 1.7 s for the place of the rings. On a very busy machine the rings are then in memory and die with the
 * process, except for what was copied. Such a round has nothing to compare.
 */
constexpr uint64_t kLateMs = 1'600;

uint64_t total_chunks;
uint64_t total_calls;
uint64_t total_late;

void Round(const char* library, const std::string& folder, Shared* shared, uint64_t round, std::mt19937_64& random) {
  const uint64_t seed = random();
  setenv("RANK", std::to_string(round).c_str(), 1);
  setenv("NCCL_TRACE_RING_MB", round % 3 == 0 ? "0.125" : streams ? "4" : "32", 1);
  for (Returned& returned : shared->returned) returned.calls = 0;
  shared->init_ms = 0;

  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) Child(library, shared, seed);
  const bool during_init = round % 8 == 7;
  while (!during_init && shared->returned[0].calls.load() == 0) usleep(200);
  // Often so soon that no ring has wrapped and all of it can be compared.
  const uint64_t longest_us = during_init ? 60'000 : round % 3 == 1 ? 2'000 : 30'000;
  usleep(static_cast<useconds_t>(random() % longest_us));
  CHECK_EQ(kill(child, SIGKILL), 0);
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  uint64_t calls = 0;
  for (const Returned& returned : shared->returned) calls += returned.calls;
  total_calls += calls;
  char name[32];
  snprintf(name, sizeof(name), "/rank%05d.bin", static_cast<int>(round));
  const std::string path = folder + name;
  if (calls == 0) {  // killed before anything was said; there may not even be a header
    unlink(path.c_str());
    if (const std::string ring_file = RingFile(); !ring_file.empty()) unlink(ring_file.c_str());
    return;
  }

  const std::string ring_file = RingFile();
  if (shared->init_ms >= kLateMs) {
    ++total_late;
    unlink(path.c_str());
    if (!ring_file.empty()) unlink(ring_file.c_str());
    return;
  }
  const RankFileReader file(path, ring_file);
  CHECK_EQ(ring_file.empty(), rings.empty());
  CHECK_EQ(file.header().life, rank_file::kRecording);
  std::array<Found, kThreads * 2> found;
  total_chunks += file.chunks().size();
  // A thread of the overflow ring may have been overwritten completely by the others.
  const uint32_t overflow = file.AreasOf(rank_file::kRingOverflow).at(0);
  if (file.Live(overflow).head + kAlmost > file.areas()[overflow].capacity) {
    for (Found& f : found) {
      f.shared = true;
      f.stretches.clear();
    }
  }
  for (uint32_t ring = 0; file.areas()[ring].area_class < rank_file::kTableCommunicators; ++ring) {
    Collect(file, ring, seed, found);
  }
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    for (const bool to_steps : {false, true}) {
      Compare(found[thread * 2 + to_steps], seed, thread, to_steps, shared->returned[thread].calls);
    }
  }
  unlink(path.c_str());
  if (!ring_file.empty()) unlink(ring_file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 6 || argc == 7);
  streams = std::string(argv[5]) == "stream";
  setenv("NCCL_TRACE_MODE", argv[5], 1);
  const std::string folder = argv[2];
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  if (argc == 7) {
    rings = folder + ".rings";
    CHECK_EQ(mkdir(rings.c_str(), 0700), 0);
  }
  setenv("NCCL_TRACE_RING_DIR", argc == 7 ? rings.c_str() : "none", 1);
  setenv("NCCL_TRACE_EVENTS", "all", 1);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  std::mt19937_64 random(strtoull(argv[4], nullptr, 10));
  const uint64_t rounds = strtoull(argv[3], nullptr, 10);
  // On a starved machine further ones, until one could be compared and the recorder's thread came to write a chunk.
  uint64_t round = 0;
  const auto has_seen_all = [&] { return total_late < round && (total_chunks > 0 || !streams); };
  for (; round < rounds || (round < kMostRounds * rounds && !has_seen_all()); ++round) {
    Round(argv[1], folder, static_cast<Shared*>(memory), round, random);
  }
  printf("%" PRIu64 " callbacks before %" PRIu64 " kills, %" PRIu64 " chunks, %" PRIu64 " too late to be in place\n",
         total_calls, round, total_chunks, total_late);
  CHECK(total_late < round);
  CHECK(streams == (total_chunks > 0));
  return Passed();
}
