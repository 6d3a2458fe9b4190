// Rings in a file of their own, when their process dies, alone or with all others: who saves them, and which files stay as they are.
//
//   saved_rings <plugin.so> <folder> <case> [rounds]

#include <algorithm>
#include <map>

#include "test/counted_ranks.h"

using namespace nccl_trace_test;

namespace {

uint64_t rounds = 1;

// Four processes die, each in another way: the survivor saves their rings. When it ends, nothing is left.
void OneDies() {
  const pid_t survivor = Spawn(0, [](Nccl& nccl, void* context) {
    while (shared->stage == 0) usleep(1'000);
    nccl.Finalize(context);
  });
  const std::vector<std::function<void()>> deaths = {
      [] { raise(SIGKILL); },
      [] {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
      },
      [] {
        signal(SIGABRT, SIG_DFL);
        abort();
      },
      [] { _exit(7); },
  };
  for (size_t i = 0; i < deaths.size(); ++i) {
    const int rank = static_cast<int>(i) + 1;
    const pid_t victim = Spawn(rank, [&](Nccl& nccl, void* context) {
      CallMany(nccl, context, rank, kCalls + i);
      Await("the rank file", [=] { return CopiedTick(rank) != 0; });
      deaths[i]();
    });
    // A zombie counts as gone.
    Await("saved rings", [&] { return Exists(SavedPath(rank)) && NamesIn(rings).size() == 1; });
    CHECK_EQ(waitpid(victim, nullptr, 0), victim);
    ExpectSaved(rank, kCalls + i);
  }
  shared->stage = 1;
  AwaitExit(survivor);
  ExpectNothingLeft();
}

// All ranks of a node die at once. The rank files have copies, which say how old they are. The next recorder of this
// user on this node saves the rest and removes it.
void AllDie() {
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(Spawn(rank, [=](Nccl& nccl, void* context) {
      CallMany(nccl, context, rank, kCalls);
      Forever();
    }));
  }
  for (int rank = 0; rank < 4; ++rank) Await("calls", [&] { return shared->calls[rank] == kCalls; });
  // The next copy may have begun before the last call.
  for (int copies = 0; copies < 2; ++copies) {
    uint64_t last[4];
    for (int rank = 0; rank < 4; ++rank) last[rank] = CopiedTick(rank);
    for (int rank = 0; rank < 4; ++rank) Await("a copy", [&] { return CopiedTick(rank) > last[rank]; });
  }
  for (const pid_t rank : ranks) CHECK_EQ(kill(rank, SIGSTOP), 0);  // so that none saves another's rings
  for (const pid_t rank : ranks) Kill(rank);
  for (int rank = 0; rank < 4; ++rank) {
    const RankFileReader file(RankPath(rank));
    CHECK_EQ(file.header().life, rank_file::kRecording);
    CHECK_EQ(CollsIn(file), kCalls);
    CHECK(!Exists(SavedPath(rank)));
  }
  CHECK_EQ(NamesIn(rings).size(), 4);

  AwaitExit(Spawn(5, [](Nccl& nccl, void* context) {
    Await("all saved", [] { return NamesIn(rings).size() == 1; });
    nccl.Finalize(context);
  }));
  for (int rank = 0; rank < 4; ++rank) ExpectSaved(rank, kCalls);
  ExpectNothingLeft();
}

// A saver dies while it saves: its claim and its half of a file do not stop the next one.
void SaverDies() {
  const pid_t victim = SpawnVictim();
  Kill(victim);
  const std::string name = NamesIn(rings).at(0);
  const std::string stem = rings + "/" + name.substr(0, name.rfind('.'));
  // By a process that is not there: of this pid namespace, but with another start.
  const std::string holder = name.substr(0, name.find('-') + 1) + std::to_string(victim) + "-1-8101000000000000";
  CHECK_EQ(symlink(holder.c_str(), (stem + ".claim").c_str()), 0);
  umask(077);
  FILE* half = fopen(SavedPath(1).c_str(), "w");
  CHECK(half != nullptr);
  CHECK_EQ(ftruncate(fileno(half), 12'345), 0);
  fclose(half);
  AwaitExit(Spawn(2, [](Nccl& nccl, void* context) {
    Await("saved", [] { return NamesIn(rings).size() == 1; });
    nccl.Finalize(context);
  }));
  ExpectSaved(1, kCalls);
  ExpectNothingLeft();
}

// A path is followed only if it leads to a rank file of the same tag, and no rings are dropped because of it. Files that are no ring files stay as they are,
// and a folder that others may enter is not used at all.
void Distrust() {
  const pid_t victim = Spawn(1, [](Nccl& nccl, void* context) {
    CallMany(nccl, context, 1, kCalls);
    Forever();
  });
  Await("calls", [] { return shared->calls[1] == kCalls; });
  Kill(victim);
  const std::string name = NamesIn(rings).at(0);
  // Another file now has the rank file's name, and another one the name of the saved rings.
  FILE* other = fopen((folder + "/other.bin").c_str(), "w");
  fputs("precious", other);
  fclose(other);
  for (const std::string& path : {RankPath(1), folder + "/rank00001." + std::to_string(victim) + ".bin"}) {
    unlink(path.c_str());
    CHECK_EQ(symlink((folder + "/other.bin").c_str(), path.c_str()), 0);
  }
  // A file whose name does not follow the rules is ignored.
  CHECK_EQ(symlink("/etc/passwd", (rings + "/1-2-3-8101000000000000.ring").c_str()), 0);
  FILE* strange = fopen((rings + "/notes.txt").c_str(), "w");
  fclose(strange);
  AwaitExit(Spawn(2, [&](Nccl& nccl, void* context) {
    Await("the ring file is removed", [&] { return !Exists(rings + "/" + name); });
    nccl.Finalize(context);
  }));
  CHECK(Exists(rings + "/notes.txt"));
  CHECK(!Exists(SavedPath(1)));
  CHECK_EQ(std::ifstream(folder + "/other.bin").rdbuf()->in_avail(), 8);
  // Its rings are saved under the next name that nobody has.
  CHECK(Exists(folder + "/rank00001." + std::to_string(victim) + ".2.bin.rings"));
  CHECK_EQ(NamesIn(folder).size(), 5);  // and other.bin, two links, rank 2

  CHECK_EQ(chmod(rings.c_str(), 0777), 0);
  AwaitExit(Spawn(3, [](Nccl& nccl, void* context) {
    CHECK_EQ(Lines().warnings.size(), 1);
    printf("%s\n", Lines().warnings[0].c_str());
    CHECK(Lines().warnings[0].find("cannot be used (Permission denied); rings in the file") != std::string::npos);
    CallMany(nccl, context, 3, kCalls);
    CHECK_EQ(RankFileReader(RankPath(3)).header().placement, rank_file::kInFile);
    nccl.Finalize(context);
  }));
  CHECK_EQ(CollsIn(RankFileReader(RankPath(3))), kCalls);
}

// No rank file could ever be made: a process that ends in order leaves no rings, and rings of dead ones are removed.
void NoPlace() {
  setenv("NCCL_TRACE_DIR", "/proc/nowhere", 1);
  for (int rank = 0; rank < 2; ++rank) {
    AwaitExit(Spawn(rank, [=](Nccl& nccl, void* context) {
      CHECK(IsTooLate() || NamesIn(rings).size() == 1);
      CallMany(nccl, context, rank, kCalls);
      nccl.Finalize(context);
    }));
  }
  for (int rank = 2; rank < 4; ++rank) AwaitExit(Spawn(rank, [](Nccl&, void*) {}));  // no finalize
  CHECK_EQ(NamesIn(base).size(), 0);
  // Killed, one with a folder that cannot be made and one with a folder that may not be written.
  const std::string closed = folder + ".closed";
  CHECK_EQ(mkdir(closed.c_str(), 0500), 0);
  for (int rank = 4; rank < 6; ++rank) {
    if (rank == 5) setenv("NCCL_TRACE_DIR", closed.c_str(), 1);
    const pid_t victim = Spawn(rank, [=](Nccl& nccl, void* context) {
      CallMany(nccl, context, rank, kCalls);
      Forever();
    });
    Await("calls", [=] { return shared->calls[rank] == kCalls; });
    Kill(victim);
  }
  // The next job removes them, wherever it writes.
  setenv("NCCL_TRACE_DIR", folder.c_str(), 1);
  AwaitExit(Spawn(6, [](Nccl& nccl, void* context) {
    Await("theirs are gone", [] { return NamesIn(rings).size() <= 1; });
    nccl.Finalize(context);
  }));
  ExpectNothingLeft();
  rmdir(closed.c_str());
}

double SecondsNow(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// How long a survivor takes to save the rings of a killed rank, and how old the copies are if nobody survives. The
// figures are for people, because they also depend on how busy the machine is.
void HowSoon() {
  const pid_t survivor = Spawn(0, [](Nccl& nccl, void* context) {
    while (shared->stage == 0) usleep(1'000);
    nccl.Finalize(context);
  });
  std::vector<double> saved_after;
  std::vector<double> copy_age;
  for (uint64_t round = 0; round < rounds; ++round) {
    const int rank = static_cast<int>(round) + 1;
    const pid_t victim = Spawn(rank, [=](Nccl& nccl, void* context) {
      for (;;) {
        CallMany(nccl, context, 1, 100);
        usleep(1'000);
      }
    });
    Await("a copy", [=] { return CopiedTick(rank) != 0; });
    usleep(static_cast<useconds_t>(round * 7'919 % 2'500 * 1'000));  // at a random time between two copies
    Kill(victim);
    const double killed = SecondsNow(CLOCK_MONOTONIC);
    const rank_file::FileHeader header = RankFileReader(RankPath(rank)).header();
    const double copied =
        static_cast<double>(header.start_monotonic) * 1e-9 +
        static_cast<double>(header.copied_tick - header.start_tick) / static_cast<double>(header.tick_hz);
    copy_age.push_back(killed - copied);
    Await("saved", [=] { return Exists(SavedPath(rank)) && NamesIn(rings).size() == 1; });
    saved_after.push_back(SecondsNow(CLOCK_MONOTONIC) - killed);
  }
  shared->stage = 1;
  AwaitExit(survivor);
  for (const auto& [what, seconds] : {std::pair{"rings saved after", &saved_after}, {"age of the copy", &copy_age}}) {
    std::sort(seconds->begin(), seconds->end());
    printf("%s: median %.2f s, most %.2f s, of %zu\n", what, (*seconds)[seconds->size() / 2], seconds->back(),
           seconds->size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4) rounds = strtoull(argv[4], nullptr, 10);
  setenv("NCCL_TRACE_RING_MB", "8", 1);
  UseArguments(argv);
  ShareCounts();
  const std::map<std::string, void (*)()> cases = {{"one-dies", OneDies},     {"all-die", AllDie},
                                                   {"saver-dies", SaverDies}, {"distrust", Distrust},
                                                   {"no-place", NoPlace},     {"how-soon", HowSoon}};
  cases.at(argv[3])();
  return Passed();
}
