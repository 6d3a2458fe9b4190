#include "loopback/first_use.h"

#include "loopback/clock.h"
#include "loopback/comm_spec.h"
#include "loopback/fatal.h"

namespace loopback {
namespace {

enum class End : uint64_t { kRing, kTree, kSend, kRecv };

/** Key of one end: a rank in a collective's algorithm, or a rank and its peer in a transfer. Never 0. */
uint64_t KeyOf(const Comm& comm, End end, uint64_t rank, uint64_t peer) {
  const uint64_t key = Mix(Mix(comm.spec.id, static_cast<uint64_t>(end)), rank << 32 | peer);
  return key == 0 ? 1 : key;
}

End EndOf(const Task& task) {
  if (IsP2p(task.func)) return task.func == Func::kSend ? End::kSend : End::kRecv;
  return task.algoChoice == Algo::kTree ? End::kTree : End::kRing;
}

}  // namespace

FirstUse::FirstUse(const Options& options, char* memory)
    : on_(options.connectAtUse), places_(reinterpret_cast<Place*>(memory)) {}

size_t FirstUse::Bytes(const Options& options) { return options.connectAtUse ? kPlaces * sizeof(Place) : 0; }

/** Announces all ends before it waits for any, so that two ranks that need each other both go on. */
void FirstUse::Connect(const std::vector<Task*>& tasks, const std::function<void()>& meanwhile) {
  if (!on_) return;
  std::set<uint64_t> others;
  for (const Task* task : tasks) {
    const Comm& comm = *task->comm;
    const End end = EndOf(*task);
    const bool transfer = IsP2p(task->func);
    if (comm.nRanks == 1 || (transfer && task->peer == comm.rank)) continue;
    if (!connected_.insert(KeyOf(comm, end, comm.rank, transfer ? task->peer : 0)).second) continue;
    ComeAs(KeyOf(comm, end, comm.rank, transfer ? task->peer : 0));
    if (transfer) {
      others.insert(KeyOf(comm, end == End::kSend ? End::kRecv : End::kSend, task->peer, comm.rank));
    } else {
      for (int rank = 0; rank < comm.nRanks; rank++) others.insert(KeyOf(comm, end, rank, 0));
    }
  }
  for (uint64_t other : others) {
    while (!HasCome(other)) {
      meanwhile();
      SleepNs(kMillisecond);
    }
  }
}

void FirstUse::ComeAs(uint64_t key) {
  for (size_t i = 0; i < kPlaces; i++) {
    uint64_t found = 0;
    if (places_[(key + i) % kPlaces].compare_exchange_strong(found, key) || found == key) return;
  }
  Fatal(kExitFailed, "more than %zu connections at first use", kPlaces);
}

bool FirstUse::HasCome(uint64_t key) const {
  for (size_t i = 0; i < kPlaces; i++) {
    const uint64_t found = places_[(key + i) % kPlaces].load(std::memory_order_acquire);
    if (found == key) return true;
    if (found == 0) return false;
  }
  return false;
}

}  // namespace loopback
