#include "plugin/record/leases.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nccl_trace {

using rank_file::kLeaseSlots;

namespace {

/** Only raises the head: another thread may have stored a larger number since our load. */
void Advance(uint64_t& head, uint64_t to) {
  uint64_t now = __atomic_load_n(&head, __ATOMIC_RELAXED);
  while (now < to && !__atomic_compare_exchange_n(&head, &now, to, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

}  // namespace

void Leases::Use(rank_file::Slot* slots, rank_file::AreaLive* live, uint32_t capacity_slots, uint64_t* lost) {
  slots_ = slots;
  live_ = live;
  lost_ = lost;
  entries_ = capacity_slots / kLeaseSlots;
}

uint64_t Leases::Begin(const Ring& ring, uint64_t tick) {
  for (uint64_t tries = 0; tries < entries_; ++tries) {
    const uint64_t lease = next_.fetch_add(1, std::memory_order_relaxed);
    bool held = false;
    // Acquire (partner: the release in End), so that the former holder's last store to the entry comes first.
    if (!held_[lease & (entries_ - 1)].compare_exchange_strong(held, true, std::memory_order_acquire)) continue;

    uint64_t name[2] = {};
    prctl(PR_GET_NAME, reinterpret_cast<char*>(name));
    const uint32_t tid = static_cast<uint32_t>(syscall(SYS_gettid));
    const uint64_t position = lease * kLeaseSlots;
    rank_file::Slot* slots = &slots_[position & (entries_ * kLeaseSlots - 1)];
    const auto meta = [&](uint32_t part) { return rank_file::SlotMeta(rank_file::kLease, part, 2, position + part); };
    PutSlot(slots[0], meta(0), tick, ring.position, Pack32(ring.index, tid));
    PutSlot(slots[1], meta(1), name[0], name[1], 0);
    Advance(live_->head, next_.load(std::memory_order_relaxed) * kLeaseSlots);
    return lease;
  }
  __atomic_fetch_add(lost_, 1, __ATOMIC_RELAXED);
  return kNone;
}

void Leases::End(uint64_t lease, const Ring& ring, uint64_t tick) {
  if (lease == kNone) return;
  const uint64_t position = lease * kLeaseSlots + 2;
  PutSlot(slots_[position & (entries_ * kLeaseSlots - 1)], rank_file::SlotMeta(rank_file::kLeaseEnd, 0, 1, position),
          tick, ring.position, 0);
  held_[lease & (entries_ - 1)].store(false, std::memory_order_release);
}

}  // namespace nccl_trace
